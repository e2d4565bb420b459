//! The JSON document of a comparison. `docs/src/reference/json-schema.md` describes its schema.

mod arm;
mod criterion;
mod measures;
mod run;

pub(super) use arm::edge;
pub use arm::{ArmDocument, Edge};
pub use criterion::CriterionDocument;
pub use measures::{MeasuresDocument, SpreadDocument};
pub use run::RunDocument;

use crate::comparison::{Difference, differences};
use crate::extension::extensions;
use crate::measure::{Measure, Reported};
use crate::runs::Snapshot;
use crate::setting::Axis;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The name and version of the schema. The version is raised when a field is removed or changes its meaning; new
/// fields do not raise it.
pub(crate) const SCHEMA: &str = "gelu-comparison/5";

/// A comparison with all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// The name and version of the schema.
    pub schema: String,
    /// The name of the experiment.
    pub experiment: String,
    /// A heading of one line.
    pub title: String,
    /// The data for training.
    pub data: DataDocument,
    /// The name of the device; may be empty.
    pub device: String,
    /// Further fields of the experiment.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub extra: Map<String, Json>,
    /// The name of the measure that selects the tuned values, and the epoch if `reported` is `best-epoch`.
    pub selection: String,
    /// The epoch that provides a run's results.
    pub reported: Reported,
    /// The criterion that decides the comparison.
    pub criterion: CriterionDocument,
    /// The ways in which the comparison is smaller than intended, or leaves out a part of the data set, in words; may
    /// be empty.
    pub cut_down: Vec<String>,
    /// Every planned run, and the runs outside the plan.
    pub runs: Vec<RunDocument>,
    /// One entry per arm and context, at the arm's best tuned setting.
    pub arms: Vec<ArmDocument>,
    /// The comparison of every arm with the baseline, in every context.
    pub differences: Vec<Difference>,
    /// Sentences from extensions.
    #[serde(skip)]
    pub sentences: Vec<String>,
    /// The axes along which runs differ.
    #[serde(skip)]
    pub axes: Vec<Axis>,
    /// The measures of the experiment.
    #[serde(skip)]
    pub measures: Vec<Measure>,
}

/// The data for training.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DataDocument {
    /// The name of the data set.
    pub source: String,
    /// The folder from which the data was read; null for built-in data.
    pub location: Option<String>,
    /// Whether the data was generated.
    pub synthetic: bool,
    /// The number of test examples.
    pub test_examples: usize,
}

impl Document {
    /// Creates the document of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            experiment: snapshot.design.name.clone(),
            title: snapshot.design.title.clone(),
            data: DataDocument {
                source: snapshot.data.clone(),
                location: snapshot.data_location.clone(),
                synthetic: snapshot.synthetic,
                test_examples: snapshot.test_examples,
            },
            device: snapshot.device.clone(),
            extra: snapshot.design.extra.clone(),
            selection: snapshot.design.selection.clone(),
            reported: snapshot.design.reported,
            criterion: CriterionDocument::of(snapshot),
            cut_down: snapshot.design.cut_down.clone(),
            runs: snapshot.runs.iter().map(|run| RunDocument::of(snapshot, run)).collect(),
            arms: ArmDocument::all(snapshot),
            differences: differences(snapshot)
                .into_iter()
                .map(|d| d.in_columns(&snapshot.design.axes))
                .collect(),
            sentences: extensions().iter().flat_map(|by| by.sentences(snapshot)).collect(),
            axes: snapshot.design.axes.clone(),
            measures: snapshot.design.measures.clone(),
        }
    }

    /// Returns the JSON Schema of such documents, made from these types.
    pub fn json_schema() -> String {
        let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Self))
            .expect("a schema holds plain values");
        text.push('\n');
        text
    }

    /// Returns the document as text, ending in a newline.
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

    /// An axis may have any name that other columns have, except for those that a recipe rejects.
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
        // A measure with an axis' name is called the current one.
        let measured = |name: &str| {
            snapshot.columns().contains(&name.strip_prefix("current_").unwrap_or(name))
        };
        let of_axes = |name: &str| {
            snapshot
                .design
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
        // Other names must not need one.
        assert!(crate::setting::COLUMNS.is_sorted());
        assert_eq!(Axis::new("width", crate::setting::Role::Each, [1.0]).column(), "width");
    }

    /// `UPDATE_SCHEMA=1 cargo test --release --lib json_schema` regenerates the file.
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
