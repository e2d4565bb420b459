use super::super::Windows;
use super::super::files::read_bytes;
use super::super::text::{from_utf8, shown};
use super::super::windows::{shared, slice};
use super::Tweet;
use crate::{Error, Result};
use gelu_compare::error::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The entry for the positions before and after a tweet.
pub const TWEET_END: &str = "</s>";
/// The entry for words without a vector.
pub const UNKNOWN: &str = "UUUNKKK";

/// Number of words in an example: the one to tag, and one on either side.
const WINDOW: usize = 3;
/// The largest number of values in a word vector.
const LARGEST_WIDTH: usize = 4096;

/// How the vector of a word was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorsFile {
    /// By the word as it is written.
    Exact,
    /// By the word in lower case.
    LowerCase,
    /// Not found; the vector is that of [`UNKNOWN`].
    Unknown,
}

/// Vectors of words.
///
/// # Shapes
///
/// - table: `[words, width]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordVectors {
    #[serde(serialize_with = "slice", deserialize_with = "shared")]
    table: Arc<[f32]>,
    width: usize,
    rows: BTreeMap<String, u32>,
    tweet_end: u32,
    unknown: u32,
}

impl WordVectors {
    /// Reads a file of vectors.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or unpacked, or [`parse`](Self::parse) fails.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &read_bytes(path)?)
    }

    /// Parses a file of vectors; error messages name `path`. If a word occurs twice, the later vector counts, as in
    /// the paper's code.
    ///
    /// # Errors
    ///
    /// If the content is not UTF-8, a line is not a word, a tab and finite numbers, the lines differ in length, or
    /// [`TWEET_END`] or [`UNKNOWN`] is missing.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut table = Vec::new();
        let mut width = 0;
        let mut rows: BTreeMap<String, u32> = BTreeMap::new();
        for (index, line) in from_utf8(path, bytes)?.lines().enumerate() {
            let refuse = |problem: String| {
                let advice = "a line is a word, a tab and its numbers, parted by spaces";
                Err(Error::data(path, Place::Line(index + 1), problem, advice))
            };
            let Some((word, numbers)) = line.split_once('\t') else {
                return refuse(format!("{} has no tab", shown(line)));
            };
            let start = table.len();
            for number in numbers.split_ascii_whitespace() {
                match number.parse::<f32>() {
                    Ok(value) if value.is_finite() => table.push(value),
                    _ => return refuse(format!("{} is no finite number", shown(number))),
                }
            }
            let found = table.len() - start;
            if index == 0 {
                width = found;
            }
            if found != width || !(1..=LARGEST_WIDTH).contains(&found) {
                return refuse(format!(
                    "the vector of {} has {found} numbers, {}",
                    shown(word),
                    match index {
                        0 => format!("not 1 to {LARGEST_WIDTH}"),
                        _ => format!("the first line's {width}"),
                    }
                ));
            }
            let row = u32::try_from(start / width).expect("a file of 1 GiB has fewer rows");
            rows.insert(word.to_owned(), row);
        }
        let row_of = |word: &str| {
            rows.get(word).copied().ok_or_else(|| {
                let problem = format!("there is no vector of `{word}`");
                let advice = format!(
                    "add one: `{UNKNOWN}` is for unknown words, `{TWEET_END}` for tweet ends"
                );
                Error::data(path, Place::File, problem, advice)
            })
        };
        let (tweet_end, unknown) = (row_of(TWEET_END)?, row_of(UNKNOWN)?);
        Ok(Self { table: table.into(), width, rows, tweet_end, unknown })
    }

    /// Returns the number of words with a vector.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no vectors; always `false`.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of values per vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the row of a word in the table, and how it was found.
    pub fn row(&self, word: &str) -> (u32, VectorsFile) {
        if let Some(&row) = self.rows.get(word) {
            return (row, VectorsFile::Exact);
        }
        match self.rows.get(&word.to_lowercase()) {
            Some(&row) => (row, VectorsFile::LowerCase),
            None => (self.unknown, VectorsFile::Unknown),
        }
    }

    /// Returns the words of tweets as examples, one group per tweet.
    ///
    /// # Errors
    ///
    /// If there are more vectors than a tensor can index.
    pub fn windows(&self, tweets: &[Tweet<'_>]) -> Result<Windows> {
        let mut windows = Windows::new(self.table.clone(), self.width, WINDOW)?;
        for tweet in tweets {
            let mut padded = vec![self.tweet_end];
            padded.extend(tweet.words.iter().map(|word| self.row(word).0));
            padded.push(self.tweet_end);
            let rows: Vec<u32> = padded.windows(WINDOW).flatten().copied().collect();
            windows.push_group(&rows, &tweet.tags);
        }
        Ok(windows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_tweets;
    use super::*;

    const VECTORS: &str = "</s>\t0 0\nUUUNKKK\t9 9\ni\t1 1\nI\t2 2\nwon't\t3 -3e-1\n";

    fn vectors() -> WordVectors {
        WordVectors::parse(Path::new("v"), VECTORS.as_bytes()).unwrap()
    }

    fn vector_problem(text: &str) -> String {
        WordVectors::parse(Path::new("v"), text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_window_is_left_centre_and_right_word_within_the_tweet() {
        let tweets = parse_tweets(Path::new("t"), b"i\tO\nWON'T\tV\n\n\nzzz\t!\nI\tO").unwrap();
        assert_eq!(tweets.len(), 2);
        let windows = vectors().windows(&tweets).unwrap();
        assert_eq!(windows.labels(), [1, 7, 10, 1]);
        assert_eq!((windows.group(0), windows.group(1)), (0..2, 2..4));
        assert_eq!(windows.inputs(0..1), [0.0, 0.0, 1.0, 1.0, 3.0, -0.3]);
        assert_eq!(windows.inputs(1..2), [1.0, 1.0, 3.0, -0.3, 0.0, 0.0]);
        assert_eq!(windows.inputs(3..4), [9.0, 9.0, 2.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn words_are_looked_up_as_written_then_in_lower_case() {
        let found: Vec<VectorsFile> =
            ["I", "Won't", "nope"].map(|word| vectors().row(word).1).into();
        assert_eq!(found, [VectorsFile::Exact, VectorsFile::LowerCase, VectorsFile::Unknown]);
        assert_eq!((vectors().len(), vectors().width()), (5, 2));
    }

    #[test]
    fn damaged_vectors_are_named_with_their_line() {
        assert!(vector_problem("30559 50\n").contains("line 1: `30559 50` has no tab"));
        let short = VECTORS.replace("2 2", "2");
        assert!(
            vector_problem(&short)
                .contains("line 4: the vector of `I` has 1 numbers, the first line's 2")
        );
        assert!(vector_problem(&VECTORS.replace("1 1", "1 x")).contains("`x` is no finite number"));
        assert!(vector_problem(&VECTORS.replace("1 1", "1 inf")).contains("`inf` is no finite"));
        assert!(
            vector_problem(&VECTORS.replace("UUUNKKK", "UNK")).contains("no vector of `UUUNKKK`")
        );
        assert!(vector_problem("</s>\t\n").contains("has 0 numbers, not 1 to 4096"));
    }
}
