//! Extensions: further files that a program saves with its runs, and what it adds to reports of a comparison.

use crate::measure::{EpochMetrics, Measure};
use crate::report::{HeatMap, NamedFigure};
use crate::runs::{RunFolder, RunSnapshot, Snapshot};
use crate::setting::Setting;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// An extension of comparisons. It names further files of a run, reads them, and adds to reports. The default of each
/// method adds nothing.
pub trait Extension: Debug + Send + Sync {
    /// Returns the files that a run has in addition to the standard ones. A packed comparison contains them, and a
    /// changed file means a changed run.
    fn files(&self) -> &'static [ExtraFile] {
        &[]
    }

    /// Reads this extension's data from the folder of a run, and adds problems with the files to `warnings`.
    /// `reported` is the epoch that provides the run's results, `None` before there is one.
    fn read(
        &self,
        _folder: &RunFolder,
        _reported: Option<&EpochMetrics>,
        _is_finished: bool,
        _warnings: &mut Vec<String>,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// Returns a finished run's value of a metric that belongs to the whole run ([`Measure::of_run`]).
    fn value(&self, _snapshot: &Snapshot, _run: &RunSnapshot, _measure: &Measure) -> Option<f64> {
        None
    }

    /// Returns an interval for the mean difference between the runs of each of the `pairs`, as costs. It covers more
    /// than new seeds, with probability 1 − `alpha`. Returns `None` if no interval is due, and as an error the
    /// sentence that explains why an interval that is due is missing.
    fn interval(
        &self,
        _snapshot: &Snapshot,
        _pairs: &[[&RunSnapshot; 2]],
        _alpha: f64,
    ) -> Option<Result<WiderInterval, String>> {
        None
    }

    /// Returns fields for a run in the JSON document, in addition to its metrics.
    fn run_document(&self, _run: &RunSnapshot) -> Map<String, Json> {
        Map::new()
    }

    /// Returns whether a column of `metrics.csv` is a detail. Lines of text show details last.
    fn is_detail(&self, _column: &str) -> bool {
        false
    }

    /// Returns sentences to print below the notes of the table of results.
    fn sentences(&self, _snapshot: &Snapshot) -> Vec<String> {
        Vec::new()
    }

    /// Returns sections for the HTML report.
    fn sections(&self, _snapshot: &Snapshot) -> Vec<Section> {
        Vec::new()
    }

    /// Returns further files of a report, such as tables, with their names.
    fn tables(&self, _snapshot: &Snapshot) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    /// Returns figures to show before the curves of metrics.
    fn figures(&self, _snapshot: &Snapshot) -> Vec<NamedFigure> {
        Vec::new()
    }

    /// Returns heat maps with the names of their files.
    fn heat_maps(&self, _snapshot: &Snapshot) -> Vec<(String, HeatMap)> {
        Vec::new()
    }

    /// Returns the tables of bars that the dashboard can show instead of the curves, for the runs in one context.
    fn bars(&self, _snapshot: &Snapshot, _context: Option<&Setting>) -> Option<DashboardBars> {
        None
    }
}

/// A file that a run has because of an extension.
#[derive(Clone, Copy, Debug)]
pub struct ExtraFile {
    /// The file's name in the run's folder.
    pub name: &'static str,
    /// Whether the file is a CSV table. A packed comparison has one such table for all runs.
    pub is_table: bool,
    /// Rounds the file's content to the given number of significant digits. `None` if the content must stay
    /// exact.
    pub round: Option<Round>,
}

/// A function from the bytes of a file and a number of significant digits to the rounded bytes.
pub type Round = fn(Vec<u8>, u8) -> Vec<u8>;

/// An interval for a difference over more than new seeds, such as new test examples.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, JsonSchema)]
pub struct WiderInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The words for what is new in addition to the seeds: `new pictures`.
    pub of: String,
    /// The sentence to print if the interval over seeds excludes 0 and this one does not.
    #[serde(skip)]
    pub doubt: String,
}

/// A section of the HTML report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// The target of links to the section: `layers`.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// Paragraphs, one sentence each.
    pub sentences: Vec<String>,
    /// An explanation of how to read the tables.
    pub note: String,
    /// The tables. The page opens each one when the reader clicks its title.
    pub tables: Vec<SectionTable>,
}

/// A table of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionTable {
    /// The line to click.
    pub title: String,
    /// Whether the table is open at first.
    pub is_open: bool,
    /// The cells of the header.
    pub header: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// Tables of bars for the dashboard. A key switches between them.
#[derive(Clone, Debug, PartialEq)]
pub struct DashboardBars {
    /// A word for what the key shows: `layers`.
    pub name: &'static str,
    /// The key's entry in the help: `what the layers do, where probed`.
    pub help: &'static str,
    /// The text to show if there are no bars.
    pub nothing: &'static str,
    /// A word for what a row is: `layer`.
    pub row: &'static str,
    /// The tables.
    pub tables: Vec<BarTable>,
}

/// A table with a bar in each cell. A column is a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct BarTable {
    /// The line above the table.
    pub heading: String,
    /// The colour (an index into the palette) and the name of each column.
    pub columns: Vec<(usize, String)>,
    /// The rows, numbered from 1, with one cell per column.
    pub rows: Vec<Vec<BarCell>>,
}

/// A cell of a [`BarTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct BarCell {
    /// The value as text.
    pub value: String,
    /// The length of the bar, from 0 to 1.
    pub share: f64,
}

/// The data that extensions have read from a run's folder.
#[derive(Clone, Debug, Default)]
pub struct Extras(Vec<Arc<dyn Any + Send + Sync>>);

impl Extras {
    /// Returns the data of type `T`, if an extension has read such data.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|read| read.downcast_ref())
    }

    /// Returns these extras with one more value.
    #[must_use]
    pub fn with(mut self, read: impl Any + Send + Sync) -> Self {
        self.0.push(Arc::new(read));
        self
    }

    /// Reads the data of this program's extensions from a run's folder. The arguments are those of
    /// [`Extension::read`].
    pub(crate) fn read(
        folder: &RunFolder,
        reported: Option<&EpochMetrics>,
        is_finished: bool,
        warnings: &mut Vec<String>,
    ) -> Self {
        let read =
            |extension: &&dyn Extension| extension.read(folder, reported, is_finished, warnings);
        Self(extensions().iter().filter_map(read).collect())
    }
}

/// Extras are equal if they share their data in memory.
impl PartialEq for Extras {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

static EXTENSIONS: OnceLock<&'static [&'static dyn Extension]> = OnceLock::new();

/// Sets this program's extensions. Call it before anything is read; a second call changes nothing.
pub fn extend(extensions: &'static [&'static dyn Extension]) {
    let _ = EXTENSIONS.set(extensions);
}

/// Returns the extensions of this program.
pub(crate) fn extensions() -> &'static [&'static dyn Extension] {
    EXTENSIONS.get().copied().unwrap_or_default()
}

/// Returns the files that a run has because of extensions.
pub(crate) fn extra_files() -> impl Iterator<Item = &'static ExtraFile> {
    extensions().iter().flat_map(|extension| extension.files())
}

/// An extension for tests. It finds its data of a run in the run's [`Extras`].
#[cfg(test)]
pub(crate) mod example {
    use super::*;

    /// Adds the run's extras: a number as the value of metrics of whole runs, a result as the interval of every pair,
    /// and a table of bars for the dashboard.
    #[derive(Debug)]
    pub(crate) struct Known;

    /// Installs the extension in this process.
    pub(crate) fn install() {
        extend(&[&Known]);
    }

    impl Extension for Known {
        fn value(&self, _: &Snapshot, run: &RunSnapshot, _: &Measure) -> Option<f64> {
            run.extras.get().copied()
        }

        fn interval(
            &self,
            _: &Snapshot,
            pairs: &[[&RunSnapshot; 2]],
            _: f64,
        ) -> Option<Result<WiderInterval, String>> {
            pairs.first()?[0].extras.get().cloned()
        }

        fn is_detail(&self, column: &str) -> bool {
            column.starts_with("detail_")
        }

        fn bars(&self, snapshot: &Snapshot, _: Option<&Setting>) -> Option<DashboardBars> {
            snapshot.runs.first()?.extras.get().cloned()
        }
    }
}
