//! What a comparison found, for people and programs: figures, tables, JSON, CSV. Snapshots in,
//! bytes out.

mod activations;
mod csv;
mod document;
mod draw;
#[cfg(test)]
pub(crate) mod example;
mod figure;
mod png;
mod robustness;
pub mod table;

pub use csv::csv;
pub use document::{
    ActivationDocument, DataDocument, Document, MeasuresDocument, RunDocument, SCHEMA,
    SpreadDocument,
};
pub use draw::svg;
pub use figure::{Curve, Figure, Panel};
pub use png::png;

use crate::Result;
use crate::files::write_atomically;
use crate::runs::ComparisonSnapshot;
use std::path::{Path, PathBuf};

/// Writes everything there is to report into `folder`: `results.json`, `results.csv`, `table.md`
/// and, once an epoch is finished, the figures as SVG and PNG. Each file is replaced as a whole.
///
/// # Errors
///
/// When a file cannot be written; those before it are new, those after it as they were.
pub fn write(snapshot: &ComparisonSnapshot, folder: &Path) -> Result<Vec<PathBuf>> {
    let document = Document::of(snapshot);
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("results.json".to_owned(), document.to_json().into_bytes()),
        ("results.csv".to_owned(), csv(snapshot)),
        ("table.md".to_owned(), table::markdown(&document).into_bytes()),
    ];
    for (name, figure) in Figure::all(snapshot) {
        let picture = svg(&figure);
        files.push((format!("{name}.png"), png(&picture)?));
        files.push((format!("{name}.svg"), picture.into_bytes()));
    }
    files
        .into_iter()
        .map(|(name, content)| {
            let path = folder.join(name);
            write_atomically(&path, content).map(|()| path)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written_and_the_pictures_are_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let written = write(&example::example(), folder.path()).unwrap();
        let names: Vec<_> = written.iter().map(|path| path.file_name().unwrap()).collect();
        let tables = ["results.json", "results.csv", "table.md"];
        let figures = ["figure-1.png", "figure-1.svg", "figure-2.png", "figure-2.svg"];
        assert_eq!(names, [&tables[..], &figures].concat());
        for png in [&written[3], &written[5]] {
            assert_eq!(&std::fs::read(png).unwrap()[1..4], b"PNG");
        }
        assert!(std::fs::read_to_string(&written[6]).unwrap().contains("dropout 0.5"));
    }
}
