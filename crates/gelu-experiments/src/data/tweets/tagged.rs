use super::super::text::{from_utf8, shown};
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::Path;

/// The tags of Gimpel et al. 2011, Table 1, in the order in which the paper's code numbers them.
///
/// `N` common noun, `O` pronoun, `S` nominal + possessive, `^` proper noun, `Z` proper noun +
/// possessive, `L` nominal + verbal, `M` proper noun + verbal, `V` verb, `A` adjective, `R` adverb,
/// `!` interjection, `D` determiner, `P` pre- or postposition, `&` coordinating conjunction, `T`
/// verb particle, `X` existential *there*, `Y` the same + verbal, `#` hashtag, `@` mention, `~`
/// discourse marker, `U` address, `E` emoticon, `$` numeral, `,` punctuation, `G` anything else.
pub const TAGS: [&str; 25] = [
    "N", "O", "S", "^", "Z", "L", "M", "V", "A", "R", "!", "D", "P", "&", "T", "X", "Y", "#", "@",
    "~", "U", "E", "$", ",", "G",
];

/// A tweet: its words, and for each word the index of its tag in [`TAGS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tweet<'a> {
    /// The words as they are written.
    pub words: Vec<&'a str>,
    /// One tag per word.
    pub tags: Vec<u8>,
}

/// Parses a file of tagged tweets; error messages name `path`.
///
/// # Errors
///
/// If the content is not UTF-8 or has no tweet, or a line is neither blank nor a word, a tab and one of the [`TAGS`].
pub fn parse_tweets<'a>(path: &Path, bytes: &'a [u8]) -> Result<Vec<Tweet<'a>>> {
    let mut tweets = Vec::new();
    let mut tweet = Tweet::default();
    for (index, line) in from_utf8(path, bytes)?.lines().enumerate() {
        let refuse = |problem| {
            let advice = "a line is a word, a tab and a tag; a blank line ends a tweet";
            Err(Error::data(path, Place::Line(index + 1), problem, advice))
        };
        if line.is_empty() {
            tweets.extend(std::iter::once(std::mem::take(&mut tweet)).filter(has_words));
            continue;
        }
        let Some((word, tag)) = line.split_once('\t') else {
            return refuse(format!("{} has no tab", shown(line)));
        };
        if word.is_empty() {
            return refuse(format!("there is no word before the tag {}", shown(tag)));
        }
        let Some(tag_index) = TAGS.iter().position(|known| *known == tag) else {
            let known = TAGS.join(" ");
            return refuse(format!("{} is none of the tags {known}", shown(tag)));
        };
        tweet.words.push(word);
        tweet.tags.push(tag_index as u8);
    }
    tweets.extend(Some(tweet).filter(has_words));
    match tweets.is_empty() {
        true => Err(Error::data(path, Place::File, "holds no tweet", "copy it again")),
        false => Ok(tweets),
    }
}

fn has_words(tweet: &Tweet<'_>) -> bool {
    !tweet.words.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tweet_problem(bytes: &[u8]) -> String {
        parse_tweets(Path::new("t"), bytes).unwrap_err().to_string()
    }

    #[test]
    fn damaged_tweets_are_named_with_their_line() {
        assert!(tweet_problem(b"i\tO\nyou O\n").contains("line 2: `you O` has no tab"));
        assert!(tweet_problem(b"i\tQ\n").contains("line 1: `Q` is none of the tags N O S ^"));
        assert!(tweet_problem(b"i\tO\tV\n").contains("`O\\tV` is none of the tags"));
        assert!(tweet_problem(b"\tO\n").contains("no word before the tag `O`"));
        assert!(tweet_problem(b"a\tN\n\n\xc3\x28\tN").contains("line 3: byte 0xc3"));
        assert!(tweet_problem(b"\n\n").contains("holds no tweet"));
        assert_eq!(parse_tweets(Path::new("t"), b"a\tN\r\n\r\nb\tN").unwrap().len(), 2);
    }
}
