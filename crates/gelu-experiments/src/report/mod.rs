//! What a comparison found, for people and programs: figures, tables, JSON, CSV. Snapshots in,
//! bytes out.

mod activations;
mod captions;
mod criterion_document;
mod csv;
mod curves;
mod difference;
mod difference_document;
mod document;
#[cfg(test)]
pub(crate) mod example;
mod forest;
mod html;
mod robustness;
mod runs_csv;
pub mod table;

pub use criterion_document::CriterionDocument;
pub use csv::csv;
pub use difference_document::DifferenceDocument;
pub use document::{
    ActivationDocument, DataDocument, Document, Edge, MeasuresDocument, RunDocument, SCHEMA,
    SpreadDocument,
};
pub use forest::forest;
pub use gelu_compare::report::{
    Curve, Figure, ForecastDocument, Forest, ForestPanel, ForestRow, FoundDocument,
    IntervalDocument, LookDocument, Mark, Panel, forest_svg, png, strip, svg,
};
pub use html::html;
pub use runs_csv::runs_csv;

use crate::Error;
use crate::files::write_atomically;
use crate::recipe::Recipe;
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
/// `runs.csv`, `report.html` and, once a run is complete, the figures as SVG and PNG, the forest plot
/// first. Each file is
/// replaced as a whole, and each is made by itself: one that fails takes no other with it. The page
/// says from the `recipe` how to repeat it.
pub fn write(snapshot: &ComparisonSnapshot, recipe: &Recipe, folder: &Path) -> Written {
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
    put("runs.csv".to_owned(), Ok(runs_csv(snapshot)));
    put("table.md".to_owned(), Ok(table::markdown(&document).into_bytes()));
    let forest = forest(snapshot).map(|drawn| (forest::NAME.to_owned(), forest_svg(&drawn)));
    let figures = figures(snapshot).into_iter().map(|(name, figure)| (name, svg(&figure)));
    let pictures: Vec<(String, String)> = forest.into_iter().chain(figures).collect();
    let page = html(snapshot, &document, &pictures, recipe);
    put("report.html".to_owned(), Ok(page.into_bytes()));
    for (name, picture) in pictures {
        put(format!("{name}.png"), png(&picture));
        put(format!("{name}.svg"), Ok(picture.into_bytes()));
    }
    written
}

/// Every figure of a comparison, with the name of its file: the activations themselves, that of its
/// recipe, the difference from the baseline, and one of robustness where noise was measured.
pub fn figures(snapshot: &ComparisonSnapshot) -> Vec<(String, Figure)> {
    let all = [
        (activations::NAME.to_owned(), activations::figure(snapshot)),
        (curves::name(snapshot), curves::figure(snapshot)),
        (difference::NAME.to_owned(), difference::figure(snapshot)),
        (robustness::NAME.to_owned(), robustness::figure(snapshot)),
    ];
    all.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 13] = [
        "results.json",
        "results.csv",
        "runs.csv",
        "table.md",
        "report.html",
        "forest.png",
        "forest.svg",
        "figure-1.png",
        "figure-1.svg",
        "figure-2.png",
        "figure-2.svg",
        "difference.png",
        "difference.svg",
    ];

    fn recipe() -> Recipe {
        Recipe::named("digits").unwrap()
    }

    fn names(written: &Written) -> Vec<&str> {
        written.files.iter().filter_map(|path| path.file_name()?.to_str()).collect()
    }

    #[test]
    fn all_files_are_written_and_the_pictures_are_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let written = write(&example::example(), &recipe(), folder.path());
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
        let written = write(&snapshot, &recipe(), folder.path());
        let expected = FILES.iter().filter(|name| !["results.csv", "figure-1.png"].contains(name));
        assert_eq!(names(&written), expected.copied().collect::<Vec<_>>());
        let failures: Vec<String> = written.failures.iter().map(ToString::to_string).collect();
        assert_eq!(failures.len(), 2);
        assert!(failures[0].contains("results.csv") && failures[1].contains("figure-1.png"));
    }
}
