//! The JSON document of a comparison. Its schema is described in `docs/src/json-schema.md`.

use super::LookDocument;
use super::criterion_document::{CriterionDocument, looks};
use super::difference_document::DifferenceDocument;
use crate::comparison::statistics::{Quartiles, median, quartiles};
use crate::comparison::{Group, best_groups, differences, noisy_test_error, reported_epoch};
use crate::measure::{EpochMetrics, LossKind, Metric, NoiseMetrics, Reported, Selection, Split};
use crate::runs::{ComparisonSnapshot, RunKey, RunSnapshot, RunStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema. The version is raised when a field changes its meaning or
/// goes; new fields do not raise it.
pub const SCHEMA: &str = "gelu-comparison/3";

/// A comparison with all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the recipe.
    pub experiment: String,
    /// One line for headings.
    pub title: String,
    /// What was trained on.
    pub data: DataDocument,
    /// Name of the device.
    pub device: String,
    /// What the loss is.
    pub loss: LossKind,
    /// What learning rates, and with `reported` = `best-epoch` the epoch, are chosen by.
    pub selection: Selection,
    /// Which epoch of a run its results are those of.
    pub reported: Reported,
    /// What the comparison is decided by.
    pub criterion: CriterionDocument,
    /// When it is looked at: planned looks, then those that were added.
    pub looks: Vec<LookDocument>,
    /// What makes it smaller than the built-in recipe of its name, or leaves out a part of the data
    /// set, in words; empty where nothing does.
    #[serde(default)]
    pub cut_down: Vec<String>,
    /// Every planned run, and those that were trained beside the plan.
    pub runs: Vec<RunDocument>,
    /// One entry per activation and dropout rate, at its best learning rate.
    pub activations: Vec<ActivationDocument>,
    /// Every activation beside the baseline, at every dropout rate.
    pub differences: Vec<DifferenceDocument>,
}

/// What was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DataDocument {
    /// Name of the data set.
    pub source: String,
    /// Folder it was read from; null for built-in data.
    pub location: Option<String>,
    /// Whether it was generated.
    pub synthetic: bool,
    /// How many examples the test set has.
    pub test_examples: usize,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    /// Canonical name.
    pub activation: String,
    /// Its seed.
    pub seed: u64,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Dropout rate.
    pub dropout: f64,
    /// What it is for.
    #[serde(default)]
    pub stage: Stage,
    /// Whether the plan has it; one that was trained beside it changes no verdict and no choice.
    pub planned: bool,
    /// `waiting`, `running`, `interrupted`, `finished`, `diverged` or `failed`.
    pub status: String,
    /// Why it failed; null otherwise.
    pub reason: Option<String>,
    /// The epoch it diverged in; null otherwise.
    pub diverged_in_epoch: Option<usize>,
    /// Backend and instructions that its epochs were computed with, as `flex with avx512`. Two of them:
    /// training went on elsewhere, and cannot be repeated bit for bit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arithmetics: Vec<String>,
    /// The epoch that its results are those of: of those finished so far, the last, or the best by
    /// the selection; null before there is one.
    #[serde(default)]
    pub reported_epoch: Option<usize>,
    /// The finished epochs.
    pub epochs: Vec<EpochMetrics>,
    /// What it achieves under noise; empty where that was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseMetrics>,
}

/// The runs of one activation at one dropout rate and its best learning rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActivationDocument {
    /// Canonical name.
    pub activation: String,
    /// Dropout rate.
    pub dropout: f64,
    /// The learning rate whose runs did best by the recipe's selection, never by the test set.
    pub best_learning_rate: f64,
    /// Which end of the grid of learning rates that is; null inside it, or where there is one rate.
    pub edge: Option<Edge>,
    /// Runs that finished at this setting.
    pub finished: usize,
    /// Runs that diverged at this setting.
    pub diverged: usize,
    /// What the runs measured after their last epoch.
    pub last_epoch: MeasuresDocument,
    /// What the runs measured after the epoch that was best by the recipe's selection.
    pub best_epoch: MeasuresDocument,
}

/// An end of the grid of learning rates: a rate beyond it may be better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The smallest that was tried.
    Smallest,
    /// The largest that was tried.
    Largest,
}

/// Each measure over the seeds of a setting; null where the recipe has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuresDocument {
    /// Training loss.
    pub train_loss: Option<SpreadDocument>,
    /// Training error.
    pub train_error: Option<SpreadDocument>,
    /// Validation loss.
    pub valid_loss: Option<SpreadDocument>,
    /// Validation error.
    pub valid_error: Option<SpreadDocument>,
    /// Test loss.
    pub test_loss: Option<SpreadDocument>,
    /// Test error.
    pub test_error: Option<SpreadDocument>,
    /// Test error under noise, the mean over `criterion.amplitudes`; of the epoch that is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noisy_test_error: Option<SpreadDocument>,
}

/// A measure over the complete runs of a setting. A diverged run counts as the worst, so that a
/// figure which is that of diverged runs is null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpreadDocument {
    /// How many runs: finished and diverged.
    pub runs: usize,
    /// Their median.
    pub median: Option<f64>,
    /// The lowest.
    pub lowest: Option<f64>,
    /// The highest.
    pub highest: Option<f64>,
    /// The lower quartile.
    pub lower_quartile: Option<f64>,
    /// The upper quartile.
    pub upper_quartile: Option<f64>,
}

impl RunDocument {
    /// What tells it from the other runs.
    pub fn key(&self) -> RunKey {
        RunKey {
            activation: self.activation.clone(),
            learning_rate: self.learning_rate,
            dropout: self.dropout,
            seed: self.seed,
            stage: self.stage,
        }
    }
}

impl ActivationDocument {
    /// What is reported: the measures of the last epoch, or of the best.
    pub fn reported(&self, reported: Reported) -> &MeasuresDocument {
        match reported {
            Reported::LastEpoch => &self.last_epoch,
            Reported::BestEpoch => &self.best_epoch,
        }
    }
}

impl Document {
    /// The document of a snapshot.
    pub fn of(snapshot: &ComparisonSnapshot) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            experiment: snapshot.experiment.clone(),
            title: snapshot.title.clone(),
            data: DataDocument {
                source: snapshot.data.clone(),
                location: snapshot.data_location.clone(),
                synthetic: snapshot.synthetic,
                test_examples: snapshot.test_examples,
            },
            device: snapshot.device.clone(),
            loss: snapshot.loss,
            selection: snapshot.selection,
            reported: snapshot.reported,
            criterion: CriterionDocument::of(snapshot),
            looks: looks(snapshot),
            cut_down: snapshot.cut_down.clone(),
            runs: snapshot.runs.iter().map(|of| run(snapshot, of)).collect(),
            activations: best_groups(snapshot).iter().map(|g| activation(g, snapshot)).collect(),
            differences: DifferenceDocument::all(snapshot, &differences(snapshot)),
        }
    }

    /// The JSON Schema of such documents, made from these types.
    pub fn json_schema() -> String {
        let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Self))
            .expect("a schema holds plain values");
        text.push('\n');
        text
    }

    /// As text, ending in a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a document holds plain values");
        text.push('\n');
        text
    }
}

fn run(snapshot: &ComparisonSnapshot, run: &RunSnapshot) -> RunDocument {
    let (reason, diverged_in_epoch) = match &run.status {
        RunStatus::Failed { reason } => (Some(reason.clone()), None),
        RunStatus::Diverged { epoch } => (None, Some(*epoch)),
        _ => (None, None),
    };
    RunDocument {
        activation: run.key.activation.clone(),
        seed: run.key.seed,
        learning_rate: run.key.learning_rate,
        dropout: run.key.dropout,
        stage: run.key.stage,
        planned: run.planned,
        status: run.status.word().to_owned(),
        reason,
        diverged_in_epoch,
        arithmetics: run.arithmetics(),
        reported_epoch: reported_epoch(snapshot, run).map(|epoch| epoch.epoch),
        epochs: run.epochs.clone(),
        noise: run.noise.clone(),
    }
}

fn activation(group: &Group<'_>, snapshot: &ComparisonSnapshot) -> ActivationDocument {
    let with = |wanted: fn(&RunStatus) -> bool| {
        group.runs.iter().filter(|run| wanted(&run.status)).count()
    };
    let complete = group.complete();
    let noisy: Vec<f64> =
        complete.runs.iter().filter_map(|run| noisy_test_error(snapshot, run)).collect();
    let measures = |reported| {
        let measure = |metric, split| spread(&group.values(snapshot, reported, metric, split));
        MeasuresDocument {
            train_loss: measure(Metric::Loss, Split::Train),
            train_error: measure(Metric::Error, Split::Train),
            valid_loss: measure(Metric::Loss, Split::Valid),
            valid_error: measure(Metric::Error, Split::Valid),
            test_loss: measure(Metric::Loss, Split::Test),
            test_error: measure(Metric::Error, Split::Test),
            noisy_test_error: (reported == snapshot.reported).then(|| spread(&noisy)).flatten(),
        }
    };
    let [last_epoch, best_epoch] = [Reported::LastEpoch, Reported::BestEpoch].map(measures);
    ActivationDocument {
        activation: group.activation.to_owned(),
        dropout: group.dropout,
        best_learning_rate: group.learning_rate,
        edge: edge(group.learning_rate, &snapshot.rates_tried()),
        finished: with(|status| *status == RunStatus::Finished),
        diverged: with(|status| matches!(status, RunStatus::Diverged { .. })),
        last_epoch,
        best_epoch,
    }
}

/// Where in an ascending grid a rate stands.
fn edge(rate: f64, grid: &[f64]) -> Option<Edge> {
    match grid {
        [_] => None,
        [first, ..] if *first == rate => Some(Edge::Smallest),
        [.., last] if *last == rate => Some(Edge::Largest),
        _ => None,
    }
}

fn spread(values: &[f64]) -> Option<SpreadDocument> {
    let Quartiles { lower, upper } = quartiles(values)?;
    let measured = |value: f64| value.is_finite().then_some(value);
    Some(SpreadDocument {
        runs: values.len(),
        median: measured(median(values.iter().copied())?),
        lowest: measured(values.iter().copied().fold(f64::INFINITY, f64::min)),
        highest: measured(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        lower_quartile: measured(lower),
        upper_quartile: measured(upper),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{example, without_epochs};

    #[test]
    fn document_survives_being_written_and_read() {
        for snapshot in [example(), without_epochs()] {
            let document = Document::of(&snapshot);
            let mut read: Document = serde_json::from_str(&document.to_json()).unwrap();
            // The example's measures survive exactly; what is computed of them to the last digit.
            for (read, written) in read.differences.iter().zip(&document.differences) {
                for (read, written) in
                    [(read.found.mean, written.found.mean), (read.found.p, written.found.p)]
                {
                    assert_eq!(read.is_some(), written.is_some());
                    assert!(read.zip(written).is_none_or(|(r, w)| (r - w).abs() < 1e-15));
                }
            }
            assert_eq!(read.differences.len(), document.differences.len());
            read.differences.clone_from(&document.differences);
            read.activations.clone_from(&document.activations);
            assert_eq!(read, document);
        }
    }

    #[test]
    fn medians_are_over_the_seeds_of_the_best_learning_rate() {
        let document = Document::of(&example());
        let gelu = &document.activations[0];
        assert_eq!((gelu.activation.as_str(), gelu.dropout), ("gelu", 0.0));
        assert_eq!((gelu.best_learning_rate, gelu.finished), (1e-3, 3));
        let valid = gelu.last_epoch.valid_loss.unwrap();
        assert_eq!(valid.runs, 3);
        let of_seed = |seed: u64| {
            let mine = |r: &&RunDocument| {
                (r.activation.as_str(), r.dropout, r.learning_rate, r.seed)
                    == ("gelu", 0.0, 1e-3, seed)
            };
            document.runs.iter().find(mine).unwrap().epochs.last().unwrap().valid_loss.unwrap()
        };
        let mut values = [of_seed(1), of_seed(2), of_seed(3)];
        values.sort_by(f64::total_cmp);
        assert_eq!([valid.lowest, valid.median, valid.highest], values.map(Some));
        assert_eq!(gelu.last_epoch.test_error.map(|s| s.runs), Some(3));
    }

    #[test]
    fn every_run_says_which_epoch_counts() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.epochs[2].valid_loss = Some(0.001);
        }
        let reported =
            |snapshot: &ComparisonSnapshot| Document::of(snapshot).runs[0].reported_epoch;
        assert_eq!(reported(&snapshot), Some(12));
        snapshot.reported = Reported::BestEpoch;
        assert_eq!(reported(&snapshot), Some(3));
        assert_eq!(reported(&without_epochs()), None);
    }

    #[test]
    fn a_figure_of_diverged_runs_is_null() {
        let lost = f64::INFINITY;
        let spread = spread(&[0.1, lost, lost]).unwrap();
        assert_eq!((spread.runs, spread.lowest), (3, Some(0.1)));
        assert_eq!([spread.median, spread.highest, spread.upper_quartile], [None; 3]);
    }

    #[test]
    fn a_rate_at_the_end_of_its_grid_is_said_to_be() {
        let grid = [1e-5, 1e-4, 1e-3];
        let edges = grid.map(|rate| edge(rate, &grid));
        assert_eq!(edges, [Some(Edge::Smallest), None, Some(Edge::Largest)]);
        assert_eq!(edge(1e-3, &[1e-3]), None);
        let document = Document::of(&example());
        assert!(document.activations.iter().all(|entry| entry.edge == Some(Edge::Largest)));
    }

    /// `UPDATE_SCHEMA=1 cargo test --release --lib json_schema` writes it anew.
    #[test]
    fn the_books_json_schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/results.schema.json");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(path, Document::json_schema()).unwrap();
        }
        let there = std::fs::read_to_string(path).unwrap();
        assert!(there == Document::json_schema(), "the types have changed; write it anew");
    }

    #[test]
    fn the_example_in_the_book_is_a_document() {
        let page = include_str!("../../../../docs/src/json-schema.md");
        let (_, rest) = page.split_once("```json\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let document: Document = serde_json::from_str(example).unwrap();
        assert_eq!(document.schema, SCHEMA);
    }
}
