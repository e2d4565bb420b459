//! The JSON document of a comparison. Its schema is described in `docs/src/json-schema.md`.

use crate::comparison::statistics::{Quartiles, median, quartiles};
use crate::comparison::{Group, best_groups};
use crate::measure::{EpochMetrics, LossKind, Metric, NoiseMetrics, Reported, Split};
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};
use serde::{Deserialize, Serialize};

/// Name and version of the schema. The version is raised when a field changes its meaning or
/// goes; new fields do not raise it.
pub const SCHEMA: &str = "gelu-comparison/1";

/// A comparison with all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(default)]
    pub loss: LossKind,
    /// Which epoch of a run its results are those of.
    #[serde(default)]
    pub reported: Reported,
    /// Every planned run.
    pub runs: Vec<RunDocument>,
    /// One entry per activation and dropout rate, at its best learning rate.
    pub activations: Vec<ActivationDocument>,
}

/// What was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataDocument {
    /// Name of the data set.
    pub source: String,
    /// Folder it was read from; null for built-in data.
    pub location: Option<String>,
    /// Whether it was generated.
    pub synthetic: bool,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// `waiting`, `running`, `interrupted`, `finished`, `diverged` or `failed`.
    pub status: String,
    /// Why it failed; null otherwise.
    pub reason: Option<String>,
    /// The epoch it diverged in; null otherwise.
    pub diverged_in_epoch: Option<usize>,
    /// The finished epochs.
    pub epochs: Vec<EpochMetrics>,
    /// What it achieves under noise; empty where that was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseMetrics>,
}

/// The runs of one activation at one dropout rate and its best learning rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivationDocument {
    /// Canonical name.
    pub activation: String,
    /// Dropout rate.
    pub dropout: f64,
    /// The learning rate whose runs did best by the recipe's selection, never by the test set.
    pub best_learning_rate: f64,
    /// Runs that finished at this setting.
    pub finished: usize,
    /// Runs that diverged at this setting.
    pub diverged: usize,
    /// What the runs measured after their last epoch.
    pub last_epoch: MeasuresDocument,
    /// What the runs measured after the epoch that was best by the recipe's selection.
    pub best_epoch: MeasuresDocument,
}

/// Each measure over the seeds of a setting; null where the recipe has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// A measure over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpreadDocument {
    /// How many runs it was measured in.
    pub runs: usize,
    /// Their median.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The lower quartile.
    pub lower_quartile: f64,
    /// The upper quartile.
    pub upper_quartile: f64,
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
            },
            device: snapshot.device.clone(),
            loss: snapshot.loss,
            reported: snapshot.reported,
            runs: snapshot.runs.iter().map(run).collect(),
            activations: best_groups(snapshot).iter().map(|g| activation(g, snapshot)).collect(),
        }
    }

    /// As text, ending in a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a document holds plain values");
        text.push('\n');
        text
    }
}

fn run(run: &RunSnapshot) -> RunDocument {
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
        status: run.status.word().to_owned(),
        reason,
        diverged_in_epoch,
        epochs: run.epochs.clone(),
        noise: run.noise.clone(),
    }
}

fn activation(group: &Group<'_>, snapshot: &ComparisonSnapshot) -> ActivationDocument {
    let with = |wanted: fn(&RunStatus) -> bool| {
        group.runs.iter().filter(|run| wanted(&run.status)).count()
    };
    let measures = |values: &dyn Fn(Metric, Split) -> Vec<f64>| {
        let measure = |metric, split| spread(values(metric, split));
        MeasuresDocument {
            train_loss: measure(Metric::Loss, Split::Train),
            train_error: measure(Metric::Error, Split::Train),
            valid_loss: measure(Metric::Loss, Split::Valid),
            valid_error: measure(Metric::Error, Split::Valid),
            test_loss: measure(Metric::Loss, Split::Test),
            test_error: measure(Metric::Error, Split::Test),
        }
    };
    ActivationDocument {
        activation: group.activation.to_owned(),
        dropout: group.dropout,
        best_learning_rate: group.learning_rate,
        finished: with(|status| *status == RunStatus::Finished),
        diverged: with(|status| matches!(status, RunStatus::Diverged { .. })),
        last_epoch: measures(&|metric, split| group.last_values(metric, split)),
        best_epoch: measures(&|metric, split| group.best_values(snapshot.selection, metric, split)),
    }
}

fn spread(values: Vec<f64>) -> Option<SpreadDocument> {
    let Quartiles { lower, upper } = quartiles(&values)?;
    Some(SpreadDocument {
        runs: values.len(),
        median: median(values.iter().copied())?,
        lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
        highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        lower_quartile: lower,
        upper_quartile: upper,
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
            let read: Document = serde_json::from_str(&document.to_json()).unwrap();
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
        assert_eq!([valid.lowest, valid.median, valid.highest], values);
        assert_eq!(gelu.last_epoch.test_error.map(|s| s.runs), Some(3));
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
