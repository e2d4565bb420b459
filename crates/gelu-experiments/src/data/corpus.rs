//! A text as characters, for language models.

use super::files::read_bytes;
use super::{DataSource, synthetic, text};
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of the text's file in a folder.
pub const FILE: &str = "input.txt";
/// The fewest characters of a text, so that every split has a few windows of any reasonable context.
const FEWEST: usize = 1_000;

/// A text as the numbers of its characters, in three consecutive splits: the first 90% for training; of the rest, the
/// first half for validation and the second half for test.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSet {
    /// The training split.
    pub train: Vec<u32>,
    /// The validation split.
    pub validation: Vec<u32>,
    /// The test split.
    pub test: Vec<u32>,
    /// The characters that occur in the text, ascending; a character's number is its index here.
    pub vocabulary: Vec<char>,
    /// The source of the text.
    pub source: DataSource,
}

impl TextSet {
    /// Splits a text.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the text has fewer than 1,000 characters, or more than an `i32` can count.
    pub fn new(name: &str, path: Option<PathBuf>, synthetic: bool, text: &str) -> Result<Self> {
        let vocabulary: Vec<char> = text.chars().collect::<BTreeSet<char>>().into_iter().collect();
        let number = |c: char| vocabulary.binary_search(&c).expect("it occurs in the text") as u32;
        let mut train: Vec<u32> = text.chars().map(number).collect();
        let all = train.len();
        if all < FEWEST {
            return Err(Error::Usage(format!(
                "the text {name} has {all} characters; to be split into a part to train on, one to choose by \
                 and one to report on it needs at least {FEWEST}"
            )));
        }
        let mut validation = train.split_off(all * 9 / 10);
        let test = validation.split_off(validation.len() / 2);
        if i32::try_from(all).is_err() {
            return Err(Error::Usage(format!(
                "the text {name} has {all} characters, which are more than a tensor can index"
            )));
        }
        let source = DataSource::new(name, path, synthetic, [text.as_bytes()]);
        Ok(Self { train, validation, test, vocabulary, source })
    }

    /// Returns the characters with these numbers.
    ///
    /// # Panics
    ///
    /// If a number is not that of a character.
    pub fn spelled(&self, numbers: &[u32]) -> String {
        numbers.iter().map(|&number| self.vocabulary[number as usize]).collect()
    }

    /// Returns the mean number of UTF-8 bytes per character of the test split. A loss in nats per character is
    /// `loss/(ln 2 · bytes)` bits per byte.
    pub fn bytes_a_character(&self) -> f64 {
        let bytes = |&number: &u32| self.vocabulary[number as usize].len_utf8();
        self.test.iter().map(bytes).sum::<usize>() as f64 / self.test.len() as f64
    }
}

/// Returns the file of a text: `place`, or `input.txt` if `place` is a folder.
fn file(place: &Path) -> PathBuf {
    match place.is_dir() {
        true => place.join(FILE),
        false => place.to_path_buf(),
    }
}

/// Returns whether there is a text in `folder`.
pub fn is_present(folder: &Path) -> bool {
    file(folder).is_file()
}

/// Reads the text in a folder, or any text file; the text of a file is named after the file.
///
/// # Errors
///
/// If the text cannot be read, is not UTF-8, or is too short.
pub fn read(name: &str, place: &Path) -> Result<TextSet> {
    let path = file(place);
    let bytes = read_bytes(&path)?;
    let content = text::from_utf8(&path, &bytes)?;
    let name = match place.is_dir() {
        true => name.to_owned(),
        false => path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into()),
    };
    let marked = place.is_dir() && synthetic::is_marked(place);
    TextSet::new(&name, Some(place.to_path_buf()), marked, content)
        .map_err(|error| Error::data(&path, Place::File, error.to_string(), "name another text"))
}

/// Writes a generated text of at least `characters` characters, marked as synthetic.
///
/// # Errors
///
/// If the folder contains anything else, or cannot be written to.
pub fn write_synthetic(folder: &Path, characters: usize) -> Result<()> {
    synthetic::begin(folder, &format!("{}, {characters}", synthetic::prose::NAME))?;
    gelu_compare::files::write_atomically(
        &folder.join(FILE),
        synthetic::prose::generate(characters),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_spell_the_text() {
        let text: String = (0..1_003).map(|i| ['é', 'b', '\n', '語'][i % 7 % 4]).collect();
        let set = TextSet::new("x", None, false, &text).unwrap();
        assert_eq!(set.vocabulary, ['\n', 'b', 'é', '語']);
        assert_eq!([&set.train, &set.validation, &set.test].map(Vec::len), [902, 50, 51]);
        let parts = [&set.train, &set.validation, &set.test].map(|part| set.spelled(part));
        assert_eq!(parts.concat(), text);
        let bytes = parts[2].len() as f64 / 51.0;
        assert_eq!(set.bytes_a_character(), bytes);
    }

    #[test]
    fn a_file_is_called_by_its_name_and_a_folder_by_its_set() {
        let folder = tempfile::tempdir().unwrap();
        write_synthetic(folder.path(), 3_000).unwrap();
        let of_folder = read("shakespeare", folder.path()).unwrap();
        assert!(of_folder.source.synthetic && of_folder.source.name == "shakespeare");
        let own = folder.path().join("my.txt");
        std::fs::copy(folder.path().join(FILE), &own).unwrap();
        let of_file = read("shakespeare", &own).unwrap();
        assert!(!of_file.source.synthetic && of_file.source.name == "my.txt");
        assert_eq!(of_file.source.fingerprint, of_folder.source.fingerprint);
    }

    #[test]
    fn what_is_no_text_or_too_short_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, "short").unwrap();
        let error = read("shakespeare", folder.path()).unwrap_err().to_string();
        assert!(error.contains("input.txt") && error.contains("has 5 characters"), "{error}");
        std::fs::write(&path, [b'a', b'\n', 0xff]).unwrap();
        let error = read("shakespeare", folder.path()).unwrap_err().to_string();
        assert!(error.contains("line 2: byte 0xff"), "{error}");
        let error = read("shakespeare", &folder.path().join("no.txt")).unwrap_err().to_string();
        assert!(error.contains("no.txt"), "{error}");
        let real = folder.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::fs::write(real.join(FILE), "To be, or not to be").unwrap();
        assert!(write_synthetic(&real, 3_000).is_err());
    }
}
