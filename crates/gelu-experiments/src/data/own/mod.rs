//! The user's own data: images in MNIST's files or in one folder per class, rows of a table, or a folder of tables.
//!
//! Recipes name them by the kind of their files, `idx`, `pictures`, `csv` or `tables`, and by their location. The
//! files determine the number of classes and the size of an input.

mod asked;
pub(crate) mod checks;
pub mod table;

pub use asked::DataRequest;

use super::prepared::{Key, prepared};
use super::{DataKind, DataSet, DataSetInfo, mnist, pictures};
use crate::{Error, Result};
use checks::{file_for_folder, name_of};
use gelu_compare::error::Place;
use std::path::Path;

/// The kinds of the user's own data.
pub(super) const KINDS: [DataSetInfo; 4] = [
    DataSetInfo {
        name: "idx",
        what: "images in the four files of MNIST, of any size and number of classes",
        origin: "your own",
        how: "say where with `idx = DIR` in a recipe, or --data DIR",
        synthetic: false,
        kind: DataKind::Pictures,
        examples: "images",
    },
    DataSetInfo {
        name: "pictures",
        what: "PNG and JPEG files, a folder a class",
        origin: "your own",
        how: "say where with --images DIR, or `pictures = DIR` in a recipe",
        synthetic: false,
        kind: DataKind::Pictures,
        examples: "images",
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

/// Returns the kinds of the user's own data.
pub fn kinds() -> &'static [DataSetInfo] {
    &KINDS
}

/// Reads the user's own data; `None` if the name is not one of their kinds.
pub(super) fn read(asked: &DataRequest, place: Option<&Path>) -> Option<Result<DataSet>> {
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
    // Cached data of the same files may have another name, and have no location.
    set.source.name = name_of(place);
    set.source.location = Some(place.to_path_buf());
    set.set_aside = folders.set_aside;
    set.notes = folders.notes;
    set.names = folders.classes;
    Ok(set.into())
}
