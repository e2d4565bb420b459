//! What a comparison found, for people and programs: figures, tables, JSON, CSV. Snapshots in,
//! bytes out.

mod activations;
mod csv;
mod difference;
mod difference_document;
mod document;
mod draw;
#[cfg(test)]
pub(crate) mod example;
mod figure;
mod png;
mod robustness;
pub mod table;

pub use csv::csv;
pub use difference_document::DifferenceDocument;
pub use document::{
    ActivationDocument, DataDocument, Document, Edge, MeasuresDocument, RunDocument, SCHEMA,
    SpreadDocument,
};
pub use draw::svg;
pub use figure::{Curve, Figure, Panel};
pub use png::png;

use crate::Error;
use crate::files::write_atomically;
use crate::runs::ComparisonSnapshot;
use std::path::{Path, PathBuf};

/// What became of a report.
#[derive(Debug, Default)]
pub struct Written {
    /// The files that are there now.
    pub files: Vec<PathBuf>,
    /// What could not be made, and why.
    pub failures: Vec<Error>,
}

/// Writes everything there is to report into `folder`: `results.json`, `results.csv`, `table.md`
/// and, once a run is complete, the figures as SVG and PNG. Each file is replaced as a whole, and
/// each is made by itself: one that fails takes no other with it.
pub fn write(snapshot: &ComparisonSnapshot, folder: &Path) -> Written {
    let mut written = Written::default();
    let mut put = |name: String, content: Result<Vec<u8>, Error>| {
        let path = folder.join(name);
        match content.and_then(|content| write_atomically(&path, content)) {
            Ok(()) => written.files.push(path),
            Err(error) => written.failures.push(error),
        }
    };
    let document = Document::of(snapshot);
    put("results.json".to_owned(), Ok(document.to_json().into_bytes()));
    put("results.csv".to_owned(), Ok(csv(snapshot)));
    put("table.md".to_owned(), Ok(table::markdown(&document).into_bytes()));
    for (name, figure) in Figure::all(snapshot) {
        let picture = svg(&figure);
        put(format!("{name}.png"), png(&picture));
        put(format!("{name}.svg"), Ok(picture.into_bytes()));
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 9] = [
        "results.json",
        "results.csv",
        "table.md",
        "figure-1.png",
        "figure-1.svg",
        "figure-2.png",
        "figure-2.svg",
        "difference.png",
        "difference.svg",
    ];

    fn names(written: &Written) -> Vec<&str> {
        written.files.iter().filter_map(|path| path.file_name()?.to_str()).collect()
    }

    #[test]
    fn all_files_are_written_and_the_pictures_are_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let written = write(&example::example(), folder.path());
        assert_eq!(names(&written), FILES);
        assert!(written.failures.is_empty());
        for path in &written.files {
            let content = std::fs::read(path).unwrap();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("png") => assert_eq!(&content[1..4], b"PNG"),
                Some("svg") => assert!(content.starts_with(b"<svg")),
                _ => assert!(!content.is_empty()),
            }
        }
        let curves = std::fs::read_to_string(folder.path().join("figure-2.svg")).unwrap();
        assert!(curves.contains("dropout 0.5"));
    }

    #[test]
    fn a_part_that_fails_is_named_and_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        // Where a folder stands, no file can be put.
        std::fs::create_dir(folder.path().join("results.csv")).unwrap();
        std::fs::create_dir(folder.path().join("figure-1.png")).unwrap();
        let mut snapshot = example::example();
        snapshot.title = "a bell \u{7} in the title".to_owned();
        let written = write(&snapshot, folder.path());
        let expected = FILES.iter().filter(|name| !["results.csv", "figure-1.png"].contains(name));
        assert_eq!(names(&written), expected.copied().collect::<Vec<_>>());
        let failures: Vec<String> = written.failures.iter().map(ToString::to_string).collect();
        assert_eq!(failures.len(), 2);
        assert!(failures[0].contains("results.csv") && failures[1].contains("figure-1.png"));
    }
}
