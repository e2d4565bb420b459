//! Rows for trivial predictions, which are the same for every example.

use crate::report::Document;
use crate::setting::{Role, Setting};
use serde::{Deserialize, Serialize};

/// A row for a prediction that needs no training. An experiment lists such rows under [`KEY`](Self::KEY) in the
/// further fields of its documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrivialRow {
    /// The prediction: `always no`.
    pub label: String,
    /// The context, if values differ between contexts.
    #[serde(flatten)]
    pub at: Setting,
    /// The value of the primary measure.
    pub value: f64,
}

impl TrivialRow {
    /// The field of a document that lists such rows.
    pub const KEY: &'static str = "trivial";

    /// Returns the rows of a document.
    pub(super) fn all(document: &Document) -> Vec<Self> {
        let listed = document.extra.get(Self::KEY).cloned();
        listed.and_then(|rows| serde_json::from_value(rows).ok()).unwrap_or_default()
    }

    /// Returns the row's cells before the measures.
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
