//! The parts of a comparison that concern networks: the outcome of each test example, confusion tables, metrics under
//! noise, and measures of the layers.
//!
//! [`Networks`] adds them to the reports, tables and dashboard of gelu-compare.

mod check;
mod confusion;
mod confusion_tables;
mod groups;
mod layers;
mod new_examples;
mod noise;
mod outcome_file;
mod outcomes;
mod robustness;

pub use check::check_outcomes;
pub use confusion::Confusion;
pub use groups::TestGroups;
pub use layers::{ArmLayers, LayerDifference, LayerMeasure, layer_differences, layers};
pub use new_examples::{NewExamples, NoNewExamples, new_examples};
pub use noise::{NoiseMetrics, noise_of, set_noise};
pub(crate) use outcome_file::OUTCOMES;
pub use outcome_file::{outcomes_of, outcomes_to_bytes, parse_outcomes, set_outcomes};
pub use outcomes::{OutcomeKind, Outcomes};

use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::extension::{
    DashboardBars, Extension, ExtraFile, Section, SectionTable, WiderInterval,
};
use gelu_compare::files::read_bytes;
use gelu_compare::measure::{EpochMetrics, Measure, Split};
use gelu_compare::report::{HeatMap, NamedFigure};
use gelu_compare::runs::{RunFolder, RunSnapshot, Snapshot};
use gelu_compare::setting::Setting;
use serde_json::{Map, Value as Json};
use std::any::Any;
use std::sync::Arc;

/// The key in a comparison's documents for the noise amplitudes that its metric is a mean over.
pub const AMPLITUDES: &str = "amplitudes";

/// The data of a run that [`Networks`] reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadRun {
    /// The metrics under noise, by amplitude; empty if they are not measured (yet).
    pub noise: Vec<NoiseMetrics>,
    /// The outcome of each test example, once the run is finished; `None` if the run did not save them.
    pub outcomes: Option<Outcomes>,
    /// The confusion table of the test examples, once the run is finished; `None` if the run did not save one.
    pub confusion: Option<Confusion>,
}

/// The extension of gelu-compare for comparisons of networks.
#[derive(Debug)]
pub struct Networks;

impl Extension for Networks {
    fn files(&self) -> &'static [ExtraFile] {
        const FILES: [ExtraFile; 3] = [
            ExtraFile { name: noise::NOISE, is_table: true, round: None },
            ExtraFile { name: OUTCOMES, is_table: false, round: Some(outcome_file::rounded) },
            ExtraFile { name: Confusion::FILE, is_table: false, round: None },
        ];
        &FILES
    }

    fn read(
        &self,
        folder: &RunFolder,
        reported: Option<&EpochMetrics>,
        is_finished: bool,
        warnings: &mut Vec<String>,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        let mut read = ReadRun {
            noise: noted(noise_of(folder), warnings).unwrap_or_default(),
            ..ReadRun::default()
        };
        if is_finished {
            read.outcomes =
                noted(checked_outcomes(folder, reported, &read.noise), warnings).flatten();
            read.confusion = noted(confusion_of(folder), warnings).flatten();
        }
        (read != ReadRun::default()).then(|| Arc::new(read) as Arc<dyn Any + Send + Sync>)
    }

    /// Returns the mean test error over the declared amplitudes. `None` if none are declared or one was not measured,
    /// because a mean over other amplitudes would be another metric.
    fn value(&self, snapshot: &Snapshot, run: &RunSnapshot, _measure: &Measure) -> Option<f64> {
        let noise = &run.extras.get::<ReadRun>()?.noise;
        let at = |amplitude: &f64| noise.iter().find(|point| point.amplitude == *amplitude);
        let errors = amplitudes(snapshot);
        let errors: Vec<f64> = errors.iter().map(|a| at(a)?.test_error).collect::<Option<_>>()?;
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// Returns the interval for new test examples.
    fn interval(
        &self,
        snapshot: &Snapshot,
        pairs: &[[&RunSnapshot; 2]],
        alpha: f64,
    ) -> Option<std::result::Result<WiderInterval, String>> {
        let (primary, amplitudes) = (&snapshot.criterion.primary, amplitudes(snapshot));
        let none = |reason: &str| {
            Some(Err(format!("There is no interval for new test examples: {reason}.")))
        };
        let saved = pairs.iter().map(|[a, b]| {
            let saved = [saved_outcomes(a)?, saved_outcomes(b)?];
            saved.iter().all(|outcomes| outcomes.are_of(primary, &amplitudes)).then_some(saved)
        });
        let Some(saved) = saved.collect::<Option<Vec<[&Outcomes; 2]>>>() else {
            // Outcomes exist only for a metric of a test set with a known number of examples.
            let is_due =
                snapshot.primary().split == Some(Split::Test) && snapshot.test_examples > 0;
            return is_due.then(|| none("runs have not saved what they made of each")).flatten();
        };
        let name = &snapshot.design.examples;
        let these = match snapshot.test_examples {
            0 => format!("these {name}"),
            count => format!("these {} {name}", in_thousands(count)),
        };
        match new_examples(&saved, alpha) {
            Ok(NewExamples { low, high, .. }) => Some(Ok(WiderInterval {
                low,
                high,
                of: format!("new {name}"),
                doubt: format!("on {these}; with a new test set the difference could be zero"),
            })),
            Err(reason) => none(&reason.to_string()),
        }
    }

    fn run_document(&self, run: &RunSnapshot) -> Map<String, Json> {
        let noise = run.extras.get::<ReadRun>().map_or(&[][..], |read| &read.noise);
        let noise = noise.iter().map(|point| serde_json::json!(point)).collect::<Vec<_>>();
        let noise = (!noise.is_empty()).then(|| ("noise".to_owned(), Json::Array(noise)));
        noise.into_iter().collect()
    }

    fn is_detail(&self, column: &str) -> bool {
        LayerMeasure::of_column(column).is_some()
    }

    fn sentences(&self, snapshot: &Snapshot) -> Vec<String> {
        layers::sentences(snapshot)
    }

    fn sections(&self, snapshot: &Snapshot) -> Vec<Section> {
        let layers = layers::cells(snapshot).map(|(header, rows)| Section {
            id: "layers",
            title: "What the layers do".to_owned(),
            sentences: layers::sentences(snapshot),
            note: "Layers are listed from input to output and measured on the same examples after every epoch. Each cell has \
                   the median over the runs after the last epoch. The brackets hold the difference from the baseline, paired by \
                   seed, as a 95% interval. These intervals are not adjusted for their number, and no verdict depends on them. \
                   All values are in layers.csv."
                .to_owned(),
            tables: vec![SectionTable {
                title: "Layer by layer".to_owned(),
                is_open: false,
                header,
                rows,
            }],
        });
        layers.into_iter().chain(confusion_tables::section(snapshot)).collect()
    }

    fn tables(&self, snapshot: &Snapshot) -> Vec<(String, Vec<u8>)> {
        layers::csv(snapshot).map(|table| ("layers.csv".to_owned(), table)).into_iter().collect()
    }

    fn figures(&self, snapshot: &Snapshot) -> Vec<NamedFigure> {
        robustness::figure(snapshot).into_iter().collect()
    }

    fn heat_maps(&self, snapshot: &Snapshot) -> Vec<(String, HeatMap)> {
        layers::heat_maps(snapshot)
    }

    fn bars(&self, snapshot: &Snapshot, context: Option<&Setting>) -> Option<DashboardBars> {
        Some(layers::bars(snapshot, context))
    }
}

fn saved_outcomes(run: &RunSnapshot) -> Option<&Outcomes> {
    run.extras.get::<ReadRun>()?.outcomes.as_ref()
}

/// Returns the noise amplitudes that the deciding metric is a mean over.
fn amplitudes(snapshot: &Snapshot) -> Vec<f64> {
    let listed = snapshot.design.extra.get(AMPLITUDES).and_then(Json::as_array);
    listed.into_iter().flatten().filter_map(Json::as_f64).collect()
}

/// Returns the outcomes of a finished run, after checking that they belong to its recorded measures.
fn checked_outcomes(
    folder: &RunFolder,
    reported: Option<&EpochMetrics>,
    noise: &[NoiseMetrics],
) -> Result<Option<Outcomes>> {
    let (Some(outcomes), Some(reported)) = (outcomes_of(folder)?, reported) else {
        return Ok(None);
    };
    check_outcomes(&outcomes, reported, noise)
        .map(|()| Some(outcomes))
        .map_err(|problem| outcome_file::refusal(&folder.file(OUTCOMES), problem))
}

/// Returns the confusion table of the test examples of a run; `None` if the run did not save one.
///
/// # Errors
///
/// If the file exists but is damaged.
pub fn confusion_of(run: &RunFolder) -> Result<Option<Confusion>> {
    let path = run.file(Confusion::FILE);
    let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
    let refuse = |problem| Error::data(&path, Place::File, problem, "");
    Confusion::from_csv(&bytes).map(Some).map_err(refuse)
}

/// Returns the value, or adds the error to the warnings.
fn noted<T>(result: Result<T>, warnings: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| warnings.push(error.to_string())).ok()
}

/// Formats a number with separators: `7,152`.
fn in_thousands(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests;
