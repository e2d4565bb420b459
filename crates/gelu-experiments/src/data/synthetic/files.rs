//! Writes generated sets in the files of real ones.

use super::super::cifar::{self, Cifar};
use super::super::{DataSetInfo, corpus, digits, mnist, spoken_digits, timit, tweets};
use super::{begin, pictures, tweets as words};
use crate::{Error, Result};
use gelu_compare::suggestion::unknown;
use std::path::Path;

/// The largest number of examples in a split: twenty times as many as in any of the real sets.
const MOST: usize = 1_000_000;
/// The sets that can be generated.
const GENERATED: [&str; 8] =
    ["digits", "mnist", "cifar10", "cifar100", "tweets", "timit", "spoken-digits", "shakespeare"];
/// Number of voices in generated spoken digits.
const VOICES: usize = 3;

/// Writes a generated set in the files of the data set `name`, marked as synthetic, and returns a description of it.
/// `train` and `test` count images or tweets, speakers of `timit`, and recordings of each digit by each voice. A
/// validation split, if the set has one, is as large as the test split.
///
/// # Errors
///
/// If there is no such set, a split would be empty or too large, the folder contains anything else, or a file cannot
/// be written.
pub fn write(
    name: &str,
    folder: &Path,
    train: Option<usize>,
    test: Option<usize>,
) -> Result<String> {
    if train == Some(0) || test == Some(0) {
        return Err(Error::Usage(
            "a data set needs at least one training and one test example".to_owned(),
        ));
    }
    if let Some(many) = train.max(test).filter(|&count| count > MOST) {
        return Err(Error::Usage(format!(
            "{many} examples are too many to generate in memory; there can be at most {MOST}"
        )));
    }
    let sizes = |default: (usize, usize)| (train.unwrap_or(default.0), test.unwrap_or(default.1));
    let (train, test, what) = match name {
        "digits" | "mnist" => {
            let (train, test) = sizes((digits::TRAIN, digits::TEST));
            begin(folder, &format!("digits, {train} and {test}"))?;
            mnist::write(folder, &digits::generate(train, test))?;
            (train, test, "digits")
        }
        "cifar10" | "cifar100" => {
            let cifar = if name == "cifar10" { Cifar::Ten } else { Cifar::Hundred };
            let (train, test) = sizes((2_000, 500));
            cifar::write_synthetic(cifar, folder, &pictures::generate(cifar, train, test))?;
            (train, test, "pictures")
        }
        "tweets" => {
            let (train, test) = sizes((400, 100));
            tweets::write_synthetic(folder, &words::generate(train, test, test))?;
            (train, test, "tweets")
        }
        "timit" => {
            let (train, test) = sizes((12, 3));
            let speakers = timit::Speakers { train, validation: test, test };
            timit::write_synthetic(folder, speakers)?;
            (train, test, "speakers")
        }
        "spoken-digits" => {
            if test.is_some_and(|test| test != spoken_digits::TEST.len()) {
                return Err(Error::Usage(format!(
                    "the test recordings of spoken-digits are always {} of each digit and voice",
                    spoken_digits::TEST.len()
                )));
            }
            let (train, test) = sizes((10, spoken_digits::TEST.len()));
            let count = u32::try_from(train).ok();
            let count = count.and_then(|count| count.checked_add(spoken_digits::VALIDATION.end));
            let count = count.ok_or_else(|| {
                Error::Usage(format!("{train} recordings of a digit are too many to number"))
            })?;
            spoken_digits::write_synthetic(folder, VOICES, count)?;
            (train, test, "recordings of each digit by each of three voices")
        }
        "shakespeare" => {
            let (train, test) = sizes((180_000, 10_000));
            // The validation and the test split are a twentieth of the text each.
            corpus::write_synthetic(folder, (train / 9 * 10).max(test.saturating_mul(20)))?;
            (train, test, "characters, or more,")
        }
        _ => {
            return Err(Error::Usage(match DataSetInfo::named(name) {
                Ok(_) => format!("{name} cannot be generated; there are: {}", GENERATED.join(", ")),
                Err(_) => unknown("data set", name, &GENERATED),
            }));
        }
    };
    Ok(format!(
        "{train} training and {test} test {what} are in {}, marked synthetic",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Availability, catalogue, load};

    #[test]
    fn every_data_set_can_be_generated_and_read() {
        for info in catalogue().iter().filter(|info| info.availability() != Availability::BuiltIn) {
            let parent = tempfile::tempdir().unwrap();
            let folder = parent.path().join(info.name);
            let (train, test) = match info.name {
                "timit" => (Some(1), Some(1)),
                "spoken-digits" => (Some(1), None),
                "shakespeare" => (Some(900), Some(50)),
                _ => (Some(20), Some(6)),
            };
            write(info.name, &folder, train, test).unwrap();
            let set = load(&info.name.into(), Some(&folder)).unwrap();
            assert!(set.source().synthetic, "{}", info.name);
            assert_eq!(set.source().name, info.name);
        }
    }

    #[test]
    fn unknown_and_empty_sets_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = write("imagenet", folder.path(), None, None).unwrap_err().to_string();
        assert!(error.contains("there are: digits, mnist, cifar10"), "{error}");
        let error = write("tweets", folder.path(), Some(0), None).unwrap_err().to_string();
        assert!(error.contains("at least one"), "{error}");
        for (train, test) in [(Some(usize::MAX), None), (None, Some(MOST + 1))] {
            let error = write("digits", folder.path(), train, test).unwrap_err().to_string();
            assert!(error.contains("at most 1000000"), "{error}");
        }
        let error = write("spoken-digits", folder.path(), None, Some(7)).unwrap_err().to_string();
        assert!(error.contains("always 5"), "{error}");
    }
}
