//! The JSON document of a comparison. Its schema is described in `docs/src/json-schema.md`.

use super::LookDocument;
use super::criterion_document::{CriterionDocument, looks};
use super::difference_document::DifferenceDocument;
use super::layers::sentences;
use crate::comparison::statistics::{Quartiles, median, quartiles};
use crate::comparison::{Group, best_groups, differences, noisy_test_error, reported_epoch};
use crate::measure::{EpochMetrics, Measure, NoiseMetrics, Reported};
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};
use crate::setting::{Axis, Role, Setting, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Name and version of the schema. The version is raised when a field changes its meaning or
/// goes; new fields do not raise it.
pub const SCHEMA: &str = "gelu-comparison/3";

/// A comparison with all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the experiment.
    pub experiment: String,
    /// One line for headings.
    pub title: String,
    /// What was trained on.
    pub data: DataDocument,
    /// Name of the device; empty where none was named.
    pub device: String,
    /// What else the experiment says.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub extra: Map<String, Json>,
    /// Name of the measure that what is tuned, and with `reported` = `best-epoch` the epoch, is chosen by.
    pub selection: String,
    /// Which epoch of a run its results are those of.
    pub reported: Reported,
    /// What the comparison is decided by.
    pub criterion: CriterionDocument,
    /// When it is looked at: planned looks, then those that were added.
    pub looks: Vec<LookDocument>,
    /// What makes it smaller than it is meant to be, or leaves out a part of the data set, in words; empty
    /// where nothing does.
    pub cut_down: Vec<String>,
    /// Every planned run, and those that were trained beside the plan.
    pub runs: Vec<RunDocument>,
    /// One entry an arm and context, at its best tuned setting: under the name of what is compared, as
    /// `activations`, or `arms`.
    #[serde(flatten)]
    pub arms: Arms,
    /// Every arm beside the baseline, in every context.
    pub differences: Vec<DifferenceDocument>,
    /// What the layers do, in sentences, where runs were probed.
    #[serde(skip)]
    pub layers: Vec<String>,
    /// What runs differ by.
    #[serde(skip)]
    pub axes: Vec<Axis>,
    /// What is measured.
    #[serde(skip)]
    pub measures: Vec<Measure>,
}

/// The arms under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Arms {
    /// What they are called together.
    pub name: String,
    /// In the order asked for.
    pub list: Vec<ArmDocument>,
}

impl Serialize for Arms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.list)?;
        map.end()
    }
}

impl JsonSchema for Arms {
    fn schema_name() -> Cow<'static, str> {
        "Arms".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<ArmDocument>>();
        json_schema!({ "type": "object", "properties": { "activations": list, "arms": list } })
    }
}

/// What was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunDocument {
    /// An entry an axis: `"activation": "gelu", "learning_rate": 0.001`.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub setting: Setting,
    /// Its seed.
    pub seed: u64,
    /// What it is for.
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arithmetics: Vec<String>,
    /// The epoch that its results are those of: of those finished so far, the last, or the best by
    /// the selection; null before there is one.
    pub reported_epoch: Option<usize>,
    /// The finished epochs.
    pub epochs: Vec<EpochMetrics>,
    /// What it achieves under noise; empty where that was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseMetrics>,
    /// How messages call it.
    #[serde(skip)]
    pub name: String,
}

/// The runs of one arm in one context, at its best tuned setting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmDocument {
    /// What is compared, an entry an axis.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub arm: Setting,
    /// What it holds at, an entry an axis.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub context: Setting,
    /// What the runs that did best by the selection were tuned to, never by the test set; an entry an
    /// axis: `"best_learning_rate": 0.001`.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub best: Setting,
    /// Which end of the grid that is; null inside it, where there is one value, and where several axes are
    /// tuned.
    pub edge: Option<Edge>,
    /// Runs that finished at this setting.
    pub finished: usize,
    /// Runs that diverged at this setting.
    pub diverged: usize,
    /// What the runs measured after their last epoch.
    pub last_epoch: MeasuresDocument,
    /// What the runs measured after the epoch that was best by the selection.
    pub best_epoch: MeasuresDocument,
    /// The arm's label.
    #[serde(skip)]
    pub label: String,
    /// Whether it is the baseline.
    #[serde(skip)]
    pub is_baseline: bool,
}

/// An end of the grid of what is tuned: a value beyond it may be better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The smallest that was tried.
    Smallest,
    /// The largest that was tried.
    Largest,
}

/// Each measure over the seeds of a setting, by its column; null where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuresDocument(pub Vec<(String, Option<SpreadDocument>)>);

impl MeasuresDocument {
    /// That of a column.
    pub fn get(&self, column: &str) -> Option<SpreadDocument> {
        self.0.iter().find(|(name, _)| name == column)?.1
    }
}

impl Serialize for MeasuresDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, spread)| (name, spread)))
    }
}

impl JsonSchema for MeasuresDocument {
    fn schema_name() -> Cow<'static, str> {
        "MeasuresDocument".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let spread = generator.subschema_for::<Option<SpreadDocument>>();
        json_schema!({
            "description": "Each measure over the seeds of a setting, by its column; null where there is none.",
            "type": "object",
            "additionalProperties": spread
        })
    }
}

/// A measure over the complete runs of a setting. A diverged run counts as the worst, so that a
/// figure which is that of diverged runs is null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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

impl ArmDocument {
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
            extra: snapshot.extra.clone(),
            selection: snapshot.selection.clone(),
            reported: snapshot.reported,
            criterion: CriterionDocument::of(snapshot),
            looks: looks(snapshot),
            cut_down: snapshot.cut_down.clone(),
            runs: snapshot.runs.iter().map(|of| run(snapshot, of)).collect(),
            arms: Arms { name: arms_name(&snapshot.axes), list: arms(snapshot) },
            differences: DifferenceDocument::all(snapshot, &differences(snapshot)),
            layers: sentences(snapshot),
            axes: snapshot.axes.clone(),
            measures: snapshot.measures.clone(),
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
        setting: run.key.setting.in_columns(&snapshot.axes),
        seed: run.key.seed,
        stage: run.key.stage,
        planned: run.planned,
        status: run.status.word().to_owned(),
        reason,
        diverged_in_epoch,
        arithmetics: run.arithmetics(),
        reported_epoch: reported_epoch(snapshot, run).map(|epoch| epoch.epoch),
        epochs: run.epochs.clone(),
        noise: run.noise.clone(),
        name: run.name.clone(),
    }
}

/// What all arms are called together: `activations`, where the one axis that is compared has a word.
fn arms_name(axes: &[Axis]) -> String {
    let compared: Vec<&Axis> = Role::Compared.of(axes).collect();
    match compared.as_slice() {
        [Axis { words: Some(words), .. }] => words.plural.to_owned(),
        _ => "arms".to_owned(),
    }
}

fn arms(snapshot: &ComparisonSnapshot) -> Vec<ArmDocument> {
    let tried = snapshot.tried();
    best_groups(snapshot).iter().map(|group| arm(group, snapshot, &tried)).collect()
}

fn arm(group: &Group<'_>, snapshot: &ComparisonSnapshot, tried: &[Setting]) -> ArmDocument {
    let with = |wanted: fn(&RunStatus) -> bool| {
        group.runs.iter().filter(|run| wanted(&run.status)).count()
    };
    let complete = group.complete();
    let noisy: Vec<f64> =
        complete.runs.iter().filter_map(|run| noisy_test_error(snapshot, run)).collect();
    let measures = |reported| {
        let of = |measure: &Measure| {
            let values = group.values(snapshot, reported, measure);
            (measure.column.clone(), spread(&values))
        };
        // One under noise is no epoch's.
        let noise = snapshot.primary().column;
        let under_noise = !snapshot.criterion.amplitudes.is_empty();
        let by_epoch = |m: &&Measure| !(under_noise && m.column == noise);
        let mut all: Vec<_> = snapshot.measures.iter().filter(by_epoch).map(of).collect();
        let noisy = spread(&noisy).filter(|_| under_noise && reported == snapshot.reported);
        all.extend(noisy.map(|noisy| (noise, Some(noisy))));
        MeasuresDocument(all)
    };
    let [last_epoch, best_epoch] = [Reported::LastEpoch, Reported::BestEpoch].map(measures);
    let best = group.tuned.in_columns(&snapshot.axes);
    ArmDocument {
        arm: group.arm.in_columns(&snapshot.axes),
        context: group.context.in_columns(&snapshot.axes),
        best: Setting::new(
            best.iter().map(|(name, value)| (format!("best_{name}"), value.clone())),
        ),
        edge: edge(&group.tuned, tried),
        finished: with(|status| *status == RunStatus::Finished),
        diverged: with(|status| matches!(status, RunStatus::Diverged { .. })),
        last_epoch,
        best_epoch,
        label: snapshot.label(&group.arm),
        is_baseline: group.arm == snapshot.criterion.baseline,
    }
}

/// Where in an ascending grid of one axis a value stands.
pub(super) fn edge(value: &Setting, grid: &[Setting]) -> Option<Edge> {
    let numbers = grid.iter().all(|setting| {
        setting.iter().count() == 1 && setting.iter().all(|(_, v)| v.as_number().is_some())
    });
    match grid {
        _ if !numbers => None,
        [_] => None,
        [first, ..] if first == value => Some(Edge::Smallest),
        [.., last] if last == value => Some(Edge::Largest),
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
    use crate::report::snapshot_example::{example, setting, without_epochs};

    #[test]
    fn medians_are_over_the_seeds_of_the_best_learning_rate() {
        let snapshot = example();
        let document = Document::of(&snapshot);
        let gelu = &document.arms.list[0];
        assert_eq!(
            (gelu.arm.text("activation").as_str(), gelu.context.number("dropout")),
            ("gelu", 0.0)
        );
        assert_eq!((gelu.best.number("best_learning_rate"), gelu.finished), (1e-3, 3));
        let valid = gelu.last_epoch.get("valid_loss").unwrap();
        assert_eq!(valid.runs, 3);
        let of_seed = |seed: u64| {
            let mine = |r: &&RunSnapshot| {
                r.key.setting == setting("gelu", 1e-3, 0.0) && r.key.seed == seed
            };
            let run = snapshot.runs.iter().find(mine).unwrap();
            run.epochs.last().unwrap().get("valid_loss").unwrap()
        };
        let mut values = [of_seed(1), of_seed(2), of_seed(3)];
        values.sort_by(f64::total_cmp);
        assert_eq!([valid.lowest, valid.median, valid.highest], values.map(Some));
        assert_eq!(gelu.last_epoch.get("test_error").map(|s| s.runs), Some(3));
    }

    #[test]
    fn documents_name_axes_and_measures_as_files_do() {
        let json: Json = serde_json::from_str(&Document::of(&example()).to_json()).unwrap();
        let run = &json["runs"][0];
        assert_eq!((&run["activation"], &run["learning_rate"]), (&"gelu".into(), &1e-3.into()));
        assert_eq!(run["epochs"][0]["epoch"], 1);
        assert!(run["epochs"][0]["valid_loss"].is_number());
        assert_eq!(json["activations"][0]["best_learning_rate"], 1e-3);
        assert_eq!(json["differences"][1]["dropout"], 0.5);
        assert_eq!(json["criterion"]["baseline"], "gelu");
    }

    #[test]
    fn every_run_says_which_epoch_counts() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.epochs[2].set("valid_loss", 0.001);
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
        let grid = [1e-5, 1e-4, 1e-3].map(|rate| Setting::new([("lr", rate)]));
        let edges = [0, 1, 2].map(|place| edge(&grid[place], &grid));
        assert_eq!(edges, [Some(Edge::Smallest), None, Some(Edge::Largest)]);
        assert_eq!(edge(&grid[2], &grid[2..]), None);
        let document = Document::of(&example());
        assert!(document.arms.list.iter().all(|entry| entry.edge == Some(Edge::Largest)));
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
        let document: Json = serde_json::from_str(example).unwrap();
        assert_eq!(document["schema"], SCHEMA);
    }
}
