use super::{
    Document, csv, figures, forest, forest_svg, heat_svg, html, png, runs_csv, svg, table,
    verdicts_forest,
};
use crate::Error;
use crate::extension::extensions;
use crate::files::write_atomically;
use crate::runs::{Recipe, Snapshot};
use std::path::{Path, PathBuf};

/// The result of writing a report.
#[derive(Debug, Default)]
pub struct ReportFiles {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The errors of files that could not be made.
    pub failures: Vec<Error>,
}

/// Writes everything there is to report into `folder`: `results.json`, `results.csv`, `table.md`
/// `runs.csv`, `report.html`, the tables of the program's extensions, and, once a run is complete, the figures as SVG and
/// PNG, the forest plot first, then those of the extensions. Each file is replaced as a whole, and each is made by itself:
/// one that fails takes no other with it. The report says from the `experiment` how to repeat it.
pub fn write<R: Recipe>(snapshot: &Snapshot, experiment: &R, folder: &Path) -> ReportFiles {
    let mut written = ReportFiles::default();
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
