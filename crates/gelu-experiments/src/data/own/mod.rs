//! Data of one's own: pictures in MNIST's files or in a folder a class, rows of a table.
//!
//! They are named by what their files are, `idx`, `pictures` or `csv`, and by their place. How many classes
//! there are, and how large an input is, the files say.

pub mod pictures;
pub mod table;

use super::catalogue::{DataKind, DataSetInfo};
use super::prepared::{Key, prepared};
use super::{DataSet, mnist};
use crate::error::Place;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A class is a byte.
pub(super) const MOST_CLASSES: usize = 256;
/// Of the orders in which examples are shuffled, so that any stretch of them holds all classes.
const ORDER_SEED: u64 = 10;

/// What sets of one's own can be made of.
pub(super) const KINDS: [DataSetInfo; 3] = [
    DataSetInfo {
        name: "idx",
        what: "pictures in the four files of MNIST, of any size and number of classes",
        origin: "your own",
        how: "say where with `idx = DIR` in a recipe, or --data DIR",
        synthetic: false,
        kind: DataKind::Pictures,
        examples: "pictures",
    },
    DataSetInfo {
        name: "pictures",
        what: "PNG and JPEG files, a folder a class",
        origin: "your own",
        how: "say where with `pictures = DIR` in a recipe, or --data DIR",
        synthetic: false,
        kind: DataKind::Pictures,
        examples: "pictures",
    },
    DataSetInfo {
        name: "csv",
        what: "rows of a table, one column of which is the class",
        origin: "your own",
        how: "say where with `csv = FILE` in a recipe, or --data FILE",
        synthetic: false,
        kind: DataKind::Windows,
        examples: "rows",
    },
];

/// What sets of one's own can be made of.
pub fn kinds() -> &'static [DataSetInfo] {
    &KINDS
}

/// A data set that is asked for: its name, and what has to be known of one's own beside its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// A name of the catalogue, or `idx`, `pictures`, `csv`.
    pub set: String,
    /// Of a table, the column of the classes.
    pub target: Option<String>,
    /// Of a table, the column that says `train`, `valid` or `test`.
    pub split: Option<String>,
    /// Of a table, columns that are no inputs.
    pub ignore: Vec<String>,
    /// Of pictures in folders, the side of the square that each is scaled to.
    pub size: Option<usize>,
}

impl From<&str> for Asked {
    fn from(set: &str) -> Self {
        Self { set: set.to_owned(), ..Self::default() }
    }
}

/// Reads a set of one's own; `None` where the name is that of no kind of them.
pub(super) fn read(asked: &Asked, place: Option<&Path>) -> Option<Result<DataSet>> {
    let info = KINDS.iter().find(|info| info.name == asked.set)?;
    let Some(place) = place else {
        return Some(Err(Error::Usage(format!(
            "{} stands for data of your own, which have no customary place: {}",
            info.name, info.how
        ))));
    };
    if !place.exists() {
        let advice = "if it was moved, --data names the new place";
        return Some(Err(Error::data(place, Place::File, "there is nothing", advice)));
    }
    Some(match info.name {
        "idx" => mnist::read_own(place).map(DataSet::from),
        "pictures" => folder_of_pictures(asked.size, place),
        _ => table::read(asked, place).map(DataSet::from),
    })
}

fn folder_of_pictures(size: Option<usize>, place: &Path) -> Result<DataSet> {
    let folders = pictures::Folders::find(place)?;
    let size_of_key = size.unwrap_or(0) as u64;
    let key = Key::new("pictures", pictures::VERSION)
        .with(&size_of_key.to_le_bytes())
        .with_files(place)?;
    let mut set = prepared(&key, || folders.read(size))?;
    // What was prepared from the same files may have been called otherwise.
    set.source.name = name_of(place);
    Ok(set.into())
}

/// What data at a place are called: by the name of their folder or file.
pub(super) fn name_of(place: &Path) -> String {
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_path_buf());
    place.file_name().map_or_else(|| "data".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Refuses what is no plain file: opening a pipe would wait for whoever writes to it.
pub(super) fn check_file(path: &Path) -> Result<()> {
    let found = std::fs::metadata(path).map_err(Error::io("read", path))?;
    match found.is_file() {
        true => Ok(()),
        false => Err(Error::data(path, Place::File, "is no file", "name a file")),
    }
}

/// One class cannot be told from another.
pub(super) fn check_classes(place: &Path, classes: usize) -> Result<()> {
    let problem = match classes {
        0 => "there is no class".to_owned(),
        1 => "all examples are of one class".to_owned(),
        2..=MOST_CLASSES => return Ok(()),
        many => {
            format!("there are {many} classes, and at most {MOST_CLASSES} can be told apart here")
        }
    };
    Err(Error::data(place, Place::File, problem, "a classifier needs two classes or more"))
}
