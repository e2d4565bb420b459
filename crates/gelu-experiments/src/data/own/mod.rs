//! Data of one's own: pictures in MNIST's files or in a folder a class, rows of a table, a folder of tables.
//!
//! They are named by what their files are, `idx`, `pictures`, `csv` or `tables`, and by their place. How many classes
//! there are, and how large an input is, the files say.

mod asked;
pub(crate) mod checks;
pub mod table;

pub use asked::Asked;

use super::catalogue::file_for_folder;
use super::prepared::{Key, prepared};
use super::{DataKind, DataSet, DataSetInfo, mnist, pictures};
use crate::{Error, Result};
use checks::name_of;
use gelu_compare::error::Place;
use std::path::Path;

/// What sets of one's own can be made of.
pub(super) const KINDS: [DataSetInfo; 4] = [
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
        how: "say where with --images DIR, or `pictures = DIR` in a recipe",
        synthetic: false,
        kind: DataKind::Pictures,
        examples: "pictures",
    },
    DataSetInfo {
        name: "csv",
        what: "rows of a table, one column of which is predicted",
        origin: "your own",
        how: "say where with --csv FILE --target COLUMN, or `csv = FILE` in a recipe",
        synthetic: false,
        kind: DataKind::Tables,
        examples: "rows",
    },
    DataSetInfo {
        name: "tables",
        what: "a folder of tables, each learned by itself",
        origin: "your own",
        how: "say where with --data DIR, or `tables = DIR` in a recipe",
        synthetic: false,
        kind: DataKind::Tables,
        examples: "rows",
    },
];

/// What sets of one's own can be made of.
pub fn kinds() -> &'static [DataSetInfo] {
    &KINDS
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
        "idx" if place.is_file() => Err(file_for_folder(info.name, place)),
        "idx" => mnist::read_own(place).map(DataSet::from),
        "pictures" if place.is_file() => Err(file_for_folder(info.name, place)),
        "pictures" => folder_of_pictures(asked.size, place),
        "tables" => table::read_folder(asked, place).map(DataSet::from),
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
    // What was prepared from the same files may have been called otherwise, and has no place.
    set.source.name = name_of(place);
    set.source.location = Some(place.to_path_buf());
    set.set_aside = folders.set_aside;
    set.notes = folders.notes;
    set.names = folders.classes;
    Ok(set.into())
}
