use super::{Columns, Judged};
use crate::comparison::Wording;
use crate::measure::{Direction, Measure};
use crate::report::{Compared, Forest, FoundDocument, LookDocument};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of a judged table.
const SCHEMA: &str = "gelu-verdict/1";

/// The verdicts of a table of scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoresDocument {
    /// `gelu-verdict/1`.
    pub schema: String,
    /// The file.
    pub file: String,
    /// The column that is compared.
    pub compare: String,
    /// The measure's column.
    pub primary: String,
    /// Which values of it are better.
    pub better: Direction,
    /// δ, in the unit of the measure; 0 where none was declared, and nothing is called the same.
    pub negligible: f64,
    /// The looks, the last of which is this table.
    pub looks: Vec<LookDocument>,
    /// Every arm beside the baseline.
    pub differences: Vec<ScoreDocument>,
}

/// An arm beside the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreDocument {
    /// Its value in the column that is compared.
    pub arm: String,
    /// That of the baseline.
    pub baseline: String,
    /// The values of the columns that a verdict is made at each of.
    pub each: BTreeMap<String, String>,
    /// What was found.
    #[serde(flatten)]
    pub found: FoundDocument,
}

impl ScoresDocument {
    /// Of what was judged.
    pub fn new(file: &str, columns: &Columns, better: Direction, judged: &[Judged]) -> Self {
        let wording = wording(columns, better);
        let rules = judged.first().map(|judged| &judged.found.rules);
        let of = |judged: &Judged| ScoreDocument {
            arm: judged.arm.value.clone(),
            baseline: judged.baseline.clone(),
            each: columns.each.iter().cloned().zip(judged.arm.each.iter().cloned()).collect(),
            found: FoundDocument::of(&judged.found, &wording),
        };
        Self {
            schema: SCHEMA.to_owned(),
            file: file.to_owned(),
            compare: columns.compare.clone(),
            primary: columns.primary.clone(),
            better,
            negligible: rules.map_or(0.0, |rules| rules.negligible),
            looks: rules.map_or_else(Vec::new, LookDocument::all),
            differences: judged.iter().map(of).collect(),
        }
    }

    /// As text, ending in a newline.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a document holds plain values");
        crate::names::printable_lines(&(text + "\n"))
    }
}

/// How the measure of a table is said.
pub(crate) fn wording(columns: &Columns, better: Direction) -> Wording {
    Wording::of(&Measure::named(&columns.primary).towards(better))
}

/// `width 16, depth 2`; empty where a verdict is made at one combination alone.
pub(crate) fn context(columns: &Columns, judged: &Judged) -> String {
    let pair = |(name, value): (&String, &String)| format!("{name} {value}");
    let pairs: Vec<String> = columns.each.iter().zip(&judged.arm.each).map(pair).collect();
    pairs.join(", ")
}

/// The forest plot of a judged table.
pub(crate) fn forest(
    file: &str,
    columns: &Columns,
    better: Direction,
    judged: &[Judged],
) -> Option<Forest> {
    let mut arms: Vec<&str> = Vec::new();
    let mut compared = Vec::new();
    for one in judged {
        if !arms.contains(&one.arm.value.as_str()) {
            arms.push(&one.arm.value);
        }
        // The first colour is the baseline's.
        let position = 1 + arms.iter().position(|arm| *arm == one.arm.value).unwrap_or(0);
        compared.push(Compared { panel: context(columns, one), position, found: &one.found });
    }
    // Rows of one panel may be scattered over the file.
    compared.sort_by_key(|one| {
        let panel = &one.panel;
        judged.iter().position(|judged| context(columns, judged) == *panel)
    });
    Forest::of(format!("{}: verdicts", columns.primary), file, &compared, &wording(columns, better))
}

#[cfg(test)]
mod tests {
    use super::super::{Scores, judge};
    use super::*;
    use std::path::Path;

    #[test]
    fn every_field_says_what_was_asked_for() {
        let columns = Columns {
            compare: "optimizer".into(),
            each: vec!["width".into()],
            primary: "accuracy".into(),
        };
        let table = "optimizer,width,seed,accuracy\nadam,16,1,0.5\nsgd,16,1,0.25\n";
        let path = Path::new("scores.csv");
        let scores = Scores::read(table.as_bytes(), path, &columns, Direction::Higher).unwrap();
        let judged = judge(&scores, path, None, 0.125, &[]).unwrap();
        let document = ScoresDocument::new("scores.csv", &columns, Direction::Higher, &judged);
        let json: serde_json::Value = serde_json::from_str(&document.to_json()).unwrap();
        for (field, expected) in [
            ("file", "scores.csv"),
            ("compare", "optimizer"),
            ("primary", "accuracy"),
            ("better", "higher"),
        ] {
            assert_eq!(json[field], expected, "{field}");
        }
        assert_eq!(json["negligible"], 0.125);
        let difference = &json["differences"][0];
        assert_eq!((&difference["arm"], &difference["baseline"]), (&"sgd".into(), &"adam".into()));
        assert_eq!(difference["each"], serde_json::json!({"width": "16"}));
    }
}
