//! Reads a folder of tables, each separately.

use super::sheet::Sheet;
use super::{
    DataRequest, DataSource, Error, Place, Result, Table, TableSet, VERSION, from_utf8, name_of,
};
use crate::data::files::{entries, read_bytes};
use std::path::Path;

/// The file name endings of tables.
const ENDINGS: [&str; 6] = [".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz"];
/// Usual names of the column to predict, in small letters.
const TARGETS: [&str; 8] =
    ["target", "class", "label", "y", "classes", "labels", "outcome", "response"];

/// Reads every table of a folder: files that end in .csv, .tsv or .tab, or in one of these and .gz. The column to
/// predict is the one that `targets` names for the file; otherwise one called target, class, label or the like;
/// otherwise the last. Files that cannot be read are left out, with a reason in [`TableSet::refused`].
///
/// # Errors
///
/// If the folder cannot be read, or has no readable table.
pub fn read_folder(asked: &DataRequest, folder: &Path) -> Result<TableSet> {
    let refuse =
        |problem: &str, advice: String| Err(Error::data(folder, Place::File, problem, advice));
    if !folder.is_dir() {
        let advice = "name the folder that holds the tables; one table is read by `gelu compare --csv FILE --target COLUMN`";
        return refuse("is no folder", advice.to_owned());
    }
    let is_table =
        |name: &String| ENDINGS.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    let files: Vec<String> = entries(folder, false)?.into_iter().filter(is_table).collect();
    if files.is_empty() {
        return refuse(
            "holds no file that ends in .csv, .tsv or .tab",
            "put the tables there".to_owned(),
        );
    }
    let (mut tables, mut refused) = (Vec::new(), Vec::new());
    let mut content: Vec<Vec<u8>> = vec![VERSION.to_le_bytes().to_vec()];
    for file in files {
        let path = folder.join(&file);
        let bytes = read_bytes(&path)?;
        match one(asked, &path, &bytes) {
            Ok(table) => {
                content.extend([file.into_bytes(), bytes]);
                tables.push(table);
            }
            Err(error) => refused.push(error.to_string()),
        }
    }
    let mut names: Vec<&str> = tables.iter().map(|table: &Table| table.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return refuse(&format!("holds two tables called {}", pair[0]), "rename one".to_owned());
    }
    if tables.is_empty() {
        return refuse("holds no table that can be read", refused.swap_remove(0));
    }
    let source = DataSource::new(&name_of(folder), Some(folder.to_path_buf()), false, content);
    Ok(TableSet { tables, refused, source })
}

fn one(asked: &DataRequest, path: &Path, bytes: &[u8]) -> Result<Table> {
    let sheet = Sheet::parse(path, from_utf8(path, bytes)?, asked.header)?;
    let file = name_of(path);
    let stem = file.split('.').next().unwrap_or_default();
    let named = |(table, _): &(&String, &String)| **table == file || table.as_str() == stem;
    let target = match asked.targets.iter().find(named) {
        Some((_, target)) => target.clone(),
        None => {
            let is_called = |name: &&String| TARGETS.contains(&name.to_ascii_lowercase().as_str());
            let mut called = sheet.names.iter().filter(is_called);
            match (called.next(), called.next()) {
                (Some(one), None) => one.clone(),
                _ => sheet.names.last().cloned().unwrap_or_default(),
            }
        }
    };
    // Only the names in this file count, so that a column can be ignored in one table and be an input of another.
    let of_file = |names: &[String]| {
        names.iter().filter(|name| sheet.names.contains(name)).cloned().collect()
    };
    let (ignore, keep) = (of_file(&asked.ignore), of_file(&asked.keep));
    let split = asked.split.clone().filter(|name| sheet.names.contains(name));
    Table::parse(
        &DataRequest { target: Some(target), split, ignore, keep, numbers: None, ..asked.clone() },
        path,
        bytes,
    )
}
