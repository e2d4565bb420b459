//! Checks for all kinds of the user's own data.

use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::Path;

/// The largest number of classes; a class is a byte.
pub(in crate::data) const MOST_CLASSES: usize = 256;

/// Seed of the order in which examples are shuffled, so that any range of them has all classes.
pub(in crate::data) const ORDER_SEED: u64 = 10;

/// Returns the name of the data at `place`: the name of their folder or file.
pub(crate) fn name_of(place: &Path) -> String {
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_path_buf());
    place.file_name().map_or_else(|| "data".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Checks that `path` is a plain file. Opening a pipe would wait for a writer.
pub(in crate::data) fn check_file(path: &Path) -> Result<()> {
    let found = std::fs::metadata(path).map_err(Error::io("read", path))?;
    match found.is_file() {
        true => Ok(()),
        false => Err(Error::data(path, Place::File, "is not a file", "name a file")),
    }
}

/// Checks that there are at least two classes and not too many.
pub(in crate::data) fn check_classes(place: &Path, classes: usize) -> Result<()> {
    let (problem, advice) = match classes {
        0 => ("there is no class".to_owned(), "a classifier needs two classes or more"),
        1 => ("all examples are of one class".to_owned(), "a classifier needs two classes or more"),
        2..=MOST_CLASSES => return Ok(()),
        many => (
            format!("there are {many} classes, and this program reads at most {MOST_CLASSES}"),
            "put classes together; a quantity is no class",
        ),
    };
    Err(Error::data(place, Place::File, problem, advice))
}

/// Returns the error for a file where the data set is a folder of files, with advice.
pub(crate) fn file_for_folder(name: &str, place: &Path) -> Error {
    let file = place.display();
    let extension = place.extension().and_then(|text| text.to_str()).unwrap_or_default();
    let advice = match extension.to_ascii_lowercase().as_str() {
        "csv" | "tsv" | "tab" | "parquet" | "xlsx" | "npz" => format!(
            "a table of your own is compared on by `gelu compare --csv {file} --target COLUMN`; \
             `gelu data info csv --data {file} --target COLUMN` says how it is read"
        ),
        "txt" | "md" => {
            format!("a text of your own is read by `gelu compare char-gpt --data {file}`")
        }
        _ => "name the folder that holds its files".to_owned(),
    };
    let problem = match name {
        "digits" => "is a file, and the built-in digits are read from none".to_owned(),
        "pictures" => "is a file, and images are read from folders, one for each class".to_owned(),
        "idx" => {
            "is a file, and idx stands for a folder with four files as MNIST has them".to_owned()
        }
        _ => format!("is a file, and {name} is a folder of files"),
    };
    Error::data(place, Place::File, problem, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_classes_are_not_called_too_few() {
        let said = |classes| check_classes(Path::new("t"), classes).unwrap_err().to_string();
        assert!(said(300).contains("300 classes") && !said(300).contains("two classes"));
        assert!(said(1).contains("two classes or more"));
        assert!(check_classes(Path::new("t"), MOST_CLASSES).is_ok());
    }
}
