//! What a program knows of its runs beyond their metrics, and adds to what is shown of a comparison.

use crate::measure::{EpochMetrics, Measure};
use crate::report::{HeatMap, Named};
use crate::runs::{ComparisonSnapshot, RunFolder, RunSnapshot};
use crate::setting::Setting;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// An extension of comparisons: further files of a run, and what is read from them. Each method has a default, which adds
/// nothing.
pub trait Extension: Debug + Send + Sync {
    /// Returns the files that a run has besides those of every run. A packed comparison contains them, and a change of
    /// one is a change of the run.
    fn files(&self) -> &'static [ExtraFile] {
        &[]
    }

    /// Reads what the folder of a run has for this extension. Problems of files go to `warnings`. `reported` is the epoch
    /// that the run's results are those of; it is `None` before there is one.
    fn read(
        &self,
        _folder: &RunFolder,
        _reported: Option<&EpochMetrics>,
        _is_finished: bool,
        _warnings: &mut Vec<String>,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// Returns the value of a metric that belongs to a whole run ([`Measure::of_run`]), of a finished run.
    fn value(
        &self,
        _snapshot: &ComparisonSnapshot,
        _run: &RunSnapshot,
        _measure: &Measure,
    ) -> Option<f64> {
        None
    }

    /// Returns an interval for the mean difference of `pairs` of runs, as costs, that holds for more than new seeds, with
    /// probability 1 − `alpha`; as an error, the sentence that says why there is none. `None` where none is due.
    fn interval(
        &self,
        _snapshot: &ComparisonSnapshot,
        _pairs: &[[&RunSnapshot; 2]],
        _alpha: f64,
    ) -> Option<Result<WiderInterval, String>> {
        None
    }

    /// Returns what the JSON document says of a run besides its metrics.
    fn run_document(&self, _run: &RunSnapshot) -> Map<String, Json> {
        Map::new()
    }

    /// Whether a column of `metrics.csv` is a detail, which lines of text show last.
    fn is_detail(&self, _column: &str) -> bool {
        false
    }

    /// Returns sentences for the table of results, below its notes.
    fn sentences(&self, _snapshot: &ComparisonSnapshot) -> Vec<String> {
        Vec::new()
    }

    /// Returns sections for the HTML report.
    fn sections(&self, _snapshot: &ComparisonSnapshot) -> Vec<Section> {
        Vec::new()
    }

    /// Returns further files of a report with their names, tables for example.
    fn tables(&self, _snapshot: &ComparisonSnapshot) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    /// Returns figures that come before the curves of metrics.
    fn figures(&self, _snapshot: &ComparisonSnapshot) -> Vec<Named> {
        Vec::new()
    }

    /// Returns heat maps with the names of their files.
    fn heat_maps(&self, _snapshot: &ComparisonSnapshot) -> Vec<(String, HeatMap)> {
        Vec::new()
    }

    /// Returns the tables that the dashboard shows in place of the curves, of runs in one context.
    fn bars(
        &self,
        _snapshot: &ComparisonSnapshot,
        _context: Option<&Setting>,
    ) -> Option<DashboardBars> {
        None
    }
}

/// A file that a run has for an extension.
#[derive(Clone, Copy, Debug)]
pub struct ExtraFile {
    /// Its name in the run's folder.
    pub name: &'static str,
    /// Whether it is a CSV table, of which a packed comparison has one for all runs.
    pub is_table: bool,
    /// Rounds its content to that many significant digits, where no score is read from it.
    pub round: Option<fn(Vec<u8>, u8) -> Vec<u8>>,
}

/// Where a difference lies for more than new seeds: for new test examples, for example.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, JsonSchema)]
pub struct WiderInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// What else is new: `new pictures`.
    pub of: String,
    /// What is said where the interval over seeds excludes 0 and this one does not.
    #[serde(skip)]
    pub doubt: String,
}

/// A section of the HTML report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// What links to it name: `layers`.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// Paragraphs, one sentence each.
    pub sentences: Vec<String>,
    /// How its tables are read.
    pub note: String,
    /// Its tables, each behind a line that opens it.
    pub tables: Vec<SectionTable>,
}

/// A table of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionTable {
    /// The line that opens it.
    pub title: String,
    /// Whether it is open to begin with.
    pub is_open: bool,
    /// The cells of the header.
    pub header: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// Tables of bars for the dashboard, one shown after the other by a key.
#[derive(Clone, Debug, PartialEq)]
pub struct DashboardBars {
    /// What the key is for, in a word: `layers`.
    pub name: &'static str,
    /// The same in the help: `what the layers do, where probed`.
    pub help: &'static str,
    /// What is shown where there is nothing to show.
    pub nothing: &'static str,
    /// What a row is: `layer`.
    pub row: &'static str,
    /// The tables.
    pub tables: Vec<BarTable>,
}

/// A table with a bar in each cell; a column is a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct BarTable {
    /// Above it.
    pub heading: String,
    /// Place among the colours and name of each column.
    pub columns: Vec<(usize, String)>,
    /// The rows, from 1, with a cell per column.
    pub rows: Vec<Vec<BarCell>>,
}

/// A cell of a [`BarTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct BarCell {
    /// The value as it is shown.
    pub value: String,
    /// The length of its bar, from 0 to 1.
    pub share: f64,
}

/// What extensions have read of a run.
#[derive(Clone, Debug, Default)]
pub struct Extras(Vec<Arc<dyn Any + Send + Sync>>);

impl Extras {
    /// Returns what was read as a `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|read| read.downcast_ref())
    }

    /// The same with a further value.
    #[must_use]
    pub fn with(mut self, read: impl Any + Send + Sync) -> Self {
        self.0.push(Arc::new(read));
        self
    }

    /// Reads what the extensions of this program know of a run; arguments as those of [`Extension::read`].
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

/// Equal are those that were read at once.
impl PartialEq for Extras {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

static EXTENSIONS: OnceLock<&'static [&'static dyn Extension]> = OnceLock::new();

/// Gives this program its extensions. Call it before anything is read; a second call changes nothing.
pub fn extend(extensions: &'static [&'static dyn Extension]) {
    let _ = EXTENSIONS.set(extensions);
}

/// Returns the extensions of this program.
pub(crate) fn extensions() -> &'static [&'static dyn Extension] {
    EXTENSIONS.get().copied().unwrap_or_default()
}

/// Returns the further files of a run.
pub(crate) fn extra_files() -> impl Iterator<Item = &'static ExtraFile> {
    extensions().iter().flat_map(|extension| extension.files())
}

/// An extension for tests: what it knows of a run stands in the run's [`Extras`].
#[cfg(test)]
pub(crate) mod example {
    use super::*;

    /// Adds what runs have as extras: a number as the value of metrics of whole runs, a result as the interval of every
    /// pair, and a table of bars as it is.
    #[derive(Debug)]
    pub(crate) struct Known;

    /// Gives this process the extension.
    pub(crate) fn install() {
        extend(&[&Known]);
    }

    impl Extension for Known {
        fn value(&self, _: &ComparisonSnapshot, run: &RunSnapshot, _: &Measure) -> Option<f64> {
            run.extras.get().copied()
        }

        fn interval(
            &self,
            _: &ComparisonSnapshot,
            pairs: &[[&RunSnapshot; 2]],
            _: f64,
        ) -> Option<Result<WiderInterval, String>> {
            pairs.first()?[0].extras.get().cloned()
        }

        fn is_detail(&self, column: &str) -> bool {
            column.starts_with("detail_")
        }

        fn bars(
            &self,
            snapshot: &ComparisonSnapshot,
            _: Option<&Setting>,
        ) -> Option<DashboardBars> {
            snapshot.runs.first()?.extras.get().cloned()
        }
    }
}
