use super::{
    Document, Figure, csv, curves, difference, forest, forest_svg, heat_svg, html, png, runs_csv,
    svg, table, verdicts_forest,
};
use crate::Error;
use crate::extension::extensions;
use crate::files::write_atomically;
use crate::runs::{ComparisonSnapshot, Experiment};
use std::path::{Path, PathBuf};

/// The result of writing a report.
#[derive(Debug, Default)]
pub struct Written {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The errors of files that could not be made.
    pub failures: Vec<Error>,
}

/// A figure with the name of its file.
pub type Named = (String, Figure);

/// Writes a report into `folder`: `results.json`, `results.csv`, `runs.csv`, `table.md`, `report.html` and the tables
/// of the program's extensions. Once a run is complete, also writes the figures as SVG and PNG: the forest plot, the
/// figures, and the heat maps of extensions. Each file is replaced as a whole. If one file fails, the others are
/// still written. The HTML report shows how to repeat `experiment`.
pub fn write<E: Experiment>(
    snapshot: &ComparisonSnapshot,
    experiment: &E,
    folder: &Path,
) -> Written {
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
    for (name, table) in extensions().iter().flat_map(|by| by.tables(snapshot)) {
        put(name, Ok(table));
    }
    put("table.md".to_owned(), Ok(table::markdown(&document).into_bytes()));
    let forest =
        forest(snapshot).map(|drawn| (verdicts_forest::NAME.to_owned(), forest_svg(&drawn)));
    let figures = figures(snapshot).into_iter().map(|(name, figure)| (name, svg(&figure)));
    let heat_maps = extensions().iter().flat_map(|by| by.heat_maps(snapshot));
    let heat_maps = heat_maps.map(|(name, map)| (name, heat_svg(&map)));
    let pictures: Vec<(String, String)> =
        forest.into_iter().chain(figures).chain(heat_maps).collect();
    let page = html(snapshot, &document, &pictures, experiment);
    put("report.html".to_owned(), Ok(page.into_bytes()));
    for (name, picture) in pictures {
        put(format!("{name}.png"), png(&picture));
        put(format!("{name}.svg"), Ok(picture.into_bytes()));
    }
    written
}

/// Returns every figure of a comparison, with the name of its file: those of the program's extensions, the metrics by
/// epoch, and the difference from the baseline.
pub fn figures(snapshot: &ComparisonSnapshot) -> Vec<Named> {
    let all = [
        (curves::name(snapshot), curves::figure(snapshot)),
        (difference::NAME.to_owned(), difference::figure(snapshot)),
    ];
    let all = all.into_iter().filter_map(|(name, figure)| Some((name, figure?)));
    extensions().iter().flat_map(|by| by.figures(snapshot)).chain(all).collect()
}
