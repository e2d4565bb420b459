//! Sentences of invented words for language models.
//!
//! There are five hundred words made of syllables; after each word, eight others are likely. So a network can learn
//! from patterns within a word, between words and in the punctuation, and the text is too varied to memorise.

use super::generator;
use rand::{Rng, RngExt};

/// The name of these data.
pub const NAME: &str = "prose";
const SEED: u64 = 0x9905e;
const WORDS: usize = 500;
const LIKELY_NEXT: usize = 8;
const DICTIONARY: u64 = 1 << 42;

/// Returns whole sentences with at least `characters` characters in total.
pub fn generate(characters: usize) -> String {
    let dictionary: Vec<String> =
        (0..WORDS as u64).map(|i| word(&mut generator(SEED, DICTIONARY + i))).collect();
    let mut text = String::with_capacity(characters + 100);
    for index in 0.. {
        if text.len() >= characters {
            break;
        }
        sentence(&dictionary, &mut generator(SEED, index), &mut text);
    }
    text
}

fn sentence(dictionary: &[String], rng: &mut impl Rng, text: &mut String) {
    let mut word = rng.random_range(0..WORDS);
    let length = rng.random_range(3..14);
    for place in 0..length {
        let written = &dictionary[word];
        match place {
            0 => {
                text.push_str(&written[..1].to_uppercase());
                text.push_str(&written[1..]);
            }
            _ => text.push_str(written),
        }
        text.push_str(match (place + 1 == length, rng.random_range(0..8)) {
            (true, 0) => "?\n",
            (true, _) => ".\n",
            (false, 0) => ", ",
            (false, _) => " ",
        });
        // 7 has no common factor with the number of words, so every word has its own followers.
        word = (word * 7 + 11 * rng.random_range(0..LIKELY_NEXT)) % WORDS;
    }
}

fn word(rng: &mut impl Rng) -> String {
    let (before, vowels) = (b"bcdfghklmnprstvw", b"aeiou");
    let mut word = String::new();
    for _ in 0..rng.random_range(1..4) {
        word.push(char::from(before[rng.random_range(0..before.len())]));
        word.push(char::from(vowels[rng.random_range(0..vowels.len())]));
        if rng.random_bool(0.3) {
            word.push(char::from(before[rng.random_range(0..before.len())]));
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_begins_a_longer_one() {
        let (short, long) = (generate(2_000), generate(5_000));
        assert!(long.starts_with(&short) && short.len() < 2_200 && short.is_ascii());
        assert!(short.lines().all(|line| line.ends_with(['.', '?'])), "{short}");
    }

    #[test]
    fn a_word_has_as_many_followers_as_are_likely() {
        let text = generate(40_000);
        let words: Vec<String> = text
            .split_whitespace()
            .map(|word| word.trim_matches([',', '.', '?']).to_lowercase())
            .collect();
        let mut followers: std::collections::BTreeMap<&str, Vec<&str>> = Default::default();
        for pair in words.windows(2) {
            followers.entry(&pair[0]).or_default().push(&pair[1]);
        }
        assert!(followers.len() > 400, "{} words", followers.len());
        let commonest = followers.values().max_by_key(|all| all.len()).unwrap();
        assert!(commonest.len() * 10 < words.len(), "no word is everywhere");
    }
}
