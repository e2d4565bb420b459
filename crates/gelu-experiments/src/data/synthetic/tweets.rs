//! Tagged word sequences in the format of the tweets, and vectors for their words.
//!
//! Tags follow each other by a fixed grammar: after each tag, four others are likely. Most words have one tag; every
//! fifth is shared by two tags, and only its neighbours determine which. The vectors of a tag scatter around a
//! centre. Some words are written in capitals, and some have no vector.

use super::super::tweets::{TAGS, TWEET_END, UNKNOWN};
use super::{FIRST_TEST, FIRST_VALIDATION, generator};
use rand::{Rng, RngExt};

/// The name of these data.
pub const NAME: &str = "tagged-words";
/// Numbers per vector, as in the paper.
pub const WIDTH: usize = 50;
const WORDS_OF_A_TAG: usize = 20;
const LIKELY_NEXT: usize = 4;
const SEED: u64 = 0x77ee7;
const CENTRES: u64 = 1 << 42;
const SCATTER: u64 = 1 << 43;

/// Words with the index of their tag in [`TAGS`].
pub type TaggedWords = Vec<(String, u8)>;

/// Generated tweets and vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Corpus {
    /// The training tweets.
    pub train: Vec<TaggedWords>,
    /// The validation tweets.
    pub validation: Vec<TaggedWords>,
    /// The test tweets.
    pub test: Vec<TaggedWords>,
    /// Words in lower case and their vectors of [`WIDTH`] numbers.
    pub vectors: Vec<(String, Vec<f32>)>,
}

/// Returns the first tweets of each split, and the vectors.
pub fn generate(train: usize, validation: usize, test: usize) -> Corpus {
    let part = |first: u64, count: usize| -> Vec<TaggedWords> {
        (first..first + count as u64).map(|index| tweet(&mut generator(SEED, index))).collect()
    };
    Corpus {
        train: part(0, train),
        validation: part(FIRST_VALIDATION, validation),
        test: part(FIRST_TEST, test),
        vectors: vectors(),
    }
}

fn tweet(rng: &mut impl Rng) -> TaggedWords {
    let mut tag = rng.random_range(0..TAGS.len());
    let length = rng.random_range(4..20);
    let mut words = Vec::with_capacity(length);
    for _ in 0..length {
        words.push((written(tag, rng), tag as u8));
        tag = match rng.random_bool(0.85) {
            true => next(tag, rng.random_range(0..LIKELY_NEXT)),
            false => rng.random_range(0..TAGS.len()),
        };
    }
    words
}

/// Returns one of the likely tags after a tag.
fn next(tag: usize, choice: usize) -> usize {
    (tag * 7 + choice * 6 + 1) % TAGS.len()
}

/// Returns a random word of a tag, possibly with a variation such as capitals.
fn written(tag: usize, rng: &mut impl Rng) -> String {
    let word = word(tag, rng.random_range(0..WORDS_OF_A_TAG));
    match rng.random_range(0..100) {
        0..3 => format!("{word}new{}", rng.random_range(0..1000)),
        3..10 => word.to_uppercase(),
        _ => word,
    }
}

/// Returns word `number` of a tag; every fifth word is also a word of the other tag of its pair.
fn word(tag: usize, number: usize) -> String {
    match number % 5 {
        0 => format!("both{}x{number}", tag / 2),
        _ => format!("word{tag}x{number}"),
    }
}

fn vectors() -> Vec<(String, Vec<f32>)> {
    let normal = |rng: &mut dyn FnMut() -> f64| (0..12).map(|_| rng()).sum::<f64>() - 6.0;
    let centre = |tag: usize| -> Vec<f64> {
        let mut rng = generator(SEED, CENTRES + tag as u64);
        (0..WIDTH).map(|_| 0.35 * normal(&mut || rng.random())).collect()
    };
    let mut noise = generator(SEED, SCATTER);
    let mut scattered = |centre: &[f64]| -> Vec<f32> {
        centre.iter().map(|c| (c + 0.6 * normal(&mut || noise.random())) as f32).collect()
    };
    let nowhere = [0.0; WIDTH];
    let mut vectors = vec![
        (TWEET_END.to_owned(), scattered(&nowhere)),
        (UNKNOWN.to_owned(), scattered(&nowhere)),
    ];
    for tag in 0..TAGS.len() {
        for number in 0..WORDS_OF_A_TAG {
            let shared = number % 5 == 0;
            let partner = (tag ^ 1).min(TAGS.len() - 1);
            if shared && partner < tag {
                continue;
            }
            let pair = if shared { [tag, partner] } else { [tag, tag] };
            let [a, b] = pair.map(centre);
            let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0).collect();
            vectors.push((word(tag, number), scattered(&middle)));
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_tag_occurs_and_some_words_have_no_vector_or_two_tags() {
        let corpus = generate(300, 1, 1);
        let words: Vec<&(String, u8)> = corpus.train.iter().flatten().collect();
        assert_eq!(words.iter().map(|(_, tag)| tag).collect::<BTreeSet<_>>().len(), TAGS.len());
        let known: BTreeSet<&str> = corpus.vectors.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(known.len(), corpus.vectors.len(), "no word has two vectors");
        let unknown = words.iter().filter(|(w, _)| !known.contains(w.to_lowercase().as_str()));
        let share = unknown.count() as f64 / words.len() as f64;
        assert!((0.01..0.06).contains(&share), "{share} of the words are unknown");
        let tags = |word: &str| {
            words.iter().filter(|(w, _)| w == word).map(|(_, t)| *t).collect::<BTreeSet<_>>()
        };
        assert_eq!(tags("both3x5"), BTreeSet::from([6, 7]));
    }

    #[test]
    fn a_larger_corpus_begins_with_the_smaller_one() {
        let (small, large) = (generate(3, 2, 1), generate(9, 5, 4));
        assert_eq!(small.train[..], large.train[..3]);
        assert_eq!(small.validation[..], large.validation[..2]);
        assert_eq!(small.vectors, large.vectors);
    }
}
