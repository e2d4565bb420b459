//! The JSON document of a comparison. Its schema is described in `docs/src/reference/json-schema.md`.

mod arm;
mod criterion;
mod difference;
mod measures;
mod run;

pub(super) use arm::edge;
pub use arm::{ArmDocument, Edge};
pub use criterion::CriterionDocument;
pub use difference::DifferenceDocument;
pub use measures::{MeasuresDocument, SpreadDocument};
pub use run::RunDocument;

use crate::comparison::differences;
use crate::extension::extensions;
use crate::measure::{Measure, Reported};
use crate::runs::ComparisonSnapshot;
use crate::setting::Axis;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Name and version of the schema. The version is raised when a field changes its meaning or
/// goes; new fields do not raise it.
pub const SCHEMA: &str = "gelu-comparison/5";

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
    /// What makes it smaller than it is meant to be, or leaves out a part of the data set, in words; empty
    /// where nothing does.
    pub cut_down: Vec<String>,
    /// Every planned run, and those that were trained beside the plan.
    pub runs: Vec<RunDocument>,
    /// One entry per arm and context, at its best tuned setting.
    pub arms: Vec<ArmDocument>,
    /// Every arm beside the baseline, in every context.
    pub differences: Vec<DifferenceDocument>,
    /// What extensions say of it, in sentences.
    #[serde(skip)]
    pub sentences: Vec<String>,
    /// What runs differ by.
    #[serde(skip)]
    pub axes: Vec<Axis>,
    /// What is measured.
    #[serde(skip)]
    pub measures: Vec<Measure>,
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
            cut_down: snapshot.cut_down.clone(),
            runs: snapshot.runs.iter().map(|run| RunDocument::of(snapshot, run)).collect(),
            arms: ArmDocument::all(snapshot),
            differences: DifferenceDocument::all(snapshot, &differences(snapshot)),
            sentences: extensions().iter().flat_map(|by| by.sentences(snapshot)).collect(),
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
        let text = serde_json::to_string_pretty(self).expect("a document holds plain values");
        crate::names::printable_lines(&(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;
    use serde_json::Value as Json;

    #[test]
    fn documents_name_axes_and_measures_as_files_do() {
        let json: Json = serde_json::from_str(&Document::of(&example()).to_json()).unwrap();
        let run = &json["runs"][0];
        assert_eq!((&run["activation"], &run["learning_rate"]), (&"gelu".into(), &1e-3.into()));
        assert_eq!(run["epochs"][0]["epoch"], 1);
        assert!(run["epochs"][0]["valid_loss"].is_number());
        assert_eq!(json["arms"][0]["best_learning_rate"], 1e-3);
        assert_eq!(json["differences"][1]["dropout"], 0.5);
        assert_eq!(json["criterion"]["baseline"], "gelu");
    }

    /// An axis may be called like anything else that files hold, but for what a study refuses.
    #[test]
    fn axes_have_columns_of_their_own() {
        let snapshot = example();
        let json: Json = serde_json::from_str(&Document::of(&snapshot).to_json()).unwrap();
        let entries = |list: &str| json[list][0].as_object().unwrap().keys().cloned();
        let mut names: Vec<String> =
            ["runs", "arms", "differences"].into_iter().flat_map(entries).collect();
        for file in [crate::report::csv(&snapshot), crate::report::runs_csv(&snapshot)] {
            let text = String::from_utf8(file).unwrap();
            names.extend(text.lines().next().unwrap().split(',').map(str::to_owned));
        }
        // What is measured under an axis' name is called the current one.
        let measured = |name: &str| {
            snapshot.columns().contains(&name.strip_prefix("current_").unwrap_or(name))
        };
        let of_axes = |name: &str| {
            snapshot
                .axes
                .iter()
                .any(|a| [a.column(), &format!("best_{}", a.column())].contains(&name))
        };
        let refused = ["seed", "stage", "epoch", "status", "folder"];
        names.retain(|name| !of_axes(name) && !measured(name) && !refused.contains(&name.as_str()));
        assert!(names.len() > 40, "{names:?}");
        for name in names {
            let axis = Axis::new(name.as_str(), crate::setting::Role::Each, [1.0]);
            assert_eq!(axis.column(), format!("axis_{name}"), "it needs a column of its own");
        }
        // And no more than these.
        assert!(crate::setting::COLUMNS.is_sorted());
        assert_eq!(Axis::new("width", crate::setting::Role::Each, [1.0]).column(), "width");
    }

    /// `UPDATE_SCHEMA=1 cargo test --release --lib json_schema` writes it anew.
    #[test]
    fn the_books_json_schema_is_that_of_the_types() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/results.schema.json");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(path, Document::json_schema()).unwrap();
        }
        let there = std::fs::read_to_string(path).unwrap();
        assert!(there == Document::json_schema(), "the types have changed; write it anew");
    }

    #[test]
    fn the_example_in_the_book_is_a_document() {
        let page = include_str!("../../../../../docs/src/reference/json-schema.md");
        let (_, rest) = page.split_once("```json\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let document: Json = serde_json::from_str(example).unwrap();
        assert_eq!(document["schema"], SCHEMA);
    }
}
