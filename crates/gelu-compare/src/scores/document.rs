use super::{Columns, Question, TableVerdict};
use crate::measure::{Direction, NoWorse};
use crate::report::{Forest, ForestEntry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of the JSON schema of these documents.
const SCHEMA: &str = "gelu-verdict/2";

/// The verdicts of a table of scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoresDocument {
    /// `gelu-verdict/2`.
    pub schema: String,
    /// The name of the table's file.
    pub file: String,
    /// The column whose values are compared; empty for a table with one column per arm.
    pub compare: String,
    /// The metric's column.
    pub metric: String,
    /// The direction of better values of the metric.
    pub better: Direction,
    /// δ, in the metric's unit; 0 if none was declared and nothing is called the same.
    pub negligible: f64,
    /// The metric that must not get worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// Number of lines that were left out because their runs have not finished.
    pub left_out: usize,
    /// All comparisons of an arm with the baseline.
    pub differences: Vec<TableVerdict>,
}

impl ScoresDocument {
    /// Creates the document of the verdicts `judged`.
    pub fn new(
        file: &str,
        columns: &Columns,
        question: &Question,
        left_out: usize,
        judged: &[TableVerdict],
    ) -> Self {
        let higher = question.wording.higher_is_better();
        let guard = columns.guard.as_ref().zip(question.guard.as_ref());
        Self {
            schema: SCHEMA.to_owned(),
            file: file.to_owned(),
            compare: columns.compare.clone(),
            metric: columns.metric.clone(),
            better: if higher { Direction::Higher } else { Direction::Lower },
            negligible: question.negligible,
            no_worse: guard
                .map(|(metric, (_, margin))| NoWorse { metric: metric.clone(), margin: *margin }),
            left_out,
            differences: judged.to_vec(),
        }
    }

    /// Returns the document as text that ends in a newline.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a document holds plain values");
        crate::names::printable_lines(&(text + "\n"))
    }
}

/// Returns the context of a verdict, as `width 16, depth 2`; empty if there is only one combination of values.
pub(crate) fn context(columns: &Columns, judged: &TableVerdict) -> String {
    let pair = |name: &String| Some(format!("{name} {}", judged.each.get(name)?));
    let pairs: Vec<String> = columns.each.iter().filter_map(pair).collect();
    pairs.join(", ")
}

/// Returns the forest plot of a judged table; `None` if there is nothing to draw.
pub(crate) fn forest(
    file: &str,
    columns: &Columns,
    question: &Question,
    judged: &[TableVerdict],
) -> Option<Forest> {
    let mut arms: Vec<&str> = Vec::new();
    let mut compared = Vec::new();
    for one in judged {
        if !arms.contains(&one.arm.as_str()) {
            arms.push(&one.arm);
        }
        // The first colour is the baseline's.
        let position = 1 + arms.iter().position(|arm| *arm == one.arm).unwrap_or(0);
        compared.push(ForestEntry {
            panel: context(columns, one),
            position,
            finding: &one.finding,
        });
    }
    // In the file, rows of one panel need not be adjacent.
    compared.sort_by_key(|one| {
        let panel = &one.panel;
        judged.iter().position(|judged| context(columns, judged) == *panel)
    });
    Forest::of(format!("{}: verdicts", columns.metric), file, &compared, &question.wording)
}
