//! What predicting the same for every example achieves, beside what was learned.

use crate::report::Document;
use crate::setting::{Role, Setting};
use serde::{Deserialize, Serialize};

/// A row for a prediction that nothing was trained for. An experiment lists such rows under
/// [`KEY`](Self::KEY) in what else its documents say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrivialRow {
    /// What is predicted: `always no`.
    pub label: String,
    /// What it holds at, where that is not the same for all.
    #[serde(flatten)]
    pub at: Setting,
    /// The primary measure.
    pub value: f64,
}

impl TrivialRow {
    /// The field of a document that lists such rows.
    pub const KEY: &'static str = "trivial";

    /// Those of a document.
    pub(super) fn all(document: &Document) -> Vec<Self> {
        let listed = document.extra.get(Self::KEY).cloned();
        listed.and_then(|rows| serde_json::from_value(rows).ok()).unwrap_or_default()
    }

    /// The cells of its row in front of the measures.
    pub(super) fn labels(&self, document: &Document) -> Vec<String> {
        let axes = |role: Role| role.of(&document.axes);
        let mut labels = vec!["–".to_owned(); axes(Role::Compared).count()];
        if let Some(first) = labels.first_mut() {
            first.clone_from(&self.label);
        }
        let each = axes(Role::Each).map(|axis| {
            self.at.get(&axis.name).map_or_else(|| "–".to_owned(), |value| axis.label(value))
        });
        labels.extend(each);
        labels.extend(axes(Role::Tuned).map(|_| "–".to_owned()));
        labels
    }
}
