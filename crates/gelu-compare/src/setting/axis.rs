use super::Value;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// An axis: something that runs differ in, with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The name on the command line and in messages: `lr`.
    pub name: String,
    /// The role of the values.
    pub role: Role,
    /// The values, in the order in which they were given.
    pub values: Vec<Value>,
    /// The names for people and files, if they differ from `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<AxisWords>,
}

/// The role of an axis's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The values are compared. The arms are the combinations of the values of all such axes.
    Compared,
    /// The program chooses the best value for every arm, by the selection measure.
    Tuned,
    /// There is a verdict at each value.
    Each,
}

/// The names of an axis for people and files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AxisWords {
    /// The column in files, and the field of a run's specification: `learning_rate`.
    pub column: Cow<'static, str>,
    /// The singular: `learning rate`.
    pub title: Cow<'static, str>,
    /// The plural: `learning rates`.
    pub plural: Cow<'static, str>,
    /// A short plural: `rates`.
    pub short_plural: Cow<'static, str>,
    /// The labels of values in tables.
    pub label: Label,
}

/// The labels of an axis's values in tables.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Label {
    /// A function returns the label. A file cannot hold a function: [`Axis::listed`] turns it into a list.
    #[serde(skip)]
    By(fn(&Value) -> String),
    /// A list contains the labels. Other values are shown unchanged.
    Listed(Vec<(Value, String)>),
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Label")
    }
}

impl PartialEq for Label {
    /// Labels are always equal, because an axis has only one.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The columns of axes whose names are also those of other columns, or of entries of the JSON document.
pub(crate) const COLUMNS: [&str; 52] = [
    "axis_alpha",
    "axis_alpha_spent",
    "axis_arithmetics",
    "axis_baseline",
    "axis_baseline_diverged",
    "axis_baseline_scores",
    "axis_best_epoch",
    "axis_better",
    "axis_counts",
    "axis_data",
    "axis_decided_after",
    "axis_details",
    "axis_detectable",
    "axis_device",
    "axis_diverged",
    "axis_diverged_in_epoch",
    "axis_edge",
    "axis_epochs",
    "axis_epochs_planned",
    "axis_experiment",
    "axis_finished",
    "axis_forecast_seeds",
    "axis_interval",
    "axis_label",
    "axis_lapsed",
    "axis_last_epoch",
    "axis_mean",
    "axis_metric",
    "axis_no_wider_interval",
    "axis_no_worse",
    "axis_noise",
    "axis_outstanding",
    "axis_p",
    "axis_planned",
    "axis_planned_seeds",
    "axis_probability_better",
    "axis_probability_better_interval",
    "axis_reason",
    "axis_reported",
    "axis_reported_epoch",
    "axis_runs",
    "axis_scores",
    "axis_seconds",
    "axis_seeds",
    "axis_sentence",
    "axis_synthetic",
    "axis_ties",
    "axis_unpaired_runs",
    "axis_until_decided",
    "axis_variance_ratio",
    "axis_verdict",
    "axis_wider_interval",
];

impl Axis {
    /// Creates an axis that uses its name everywhere.
    pub fn new(
        name: impl Into<String>,
        role: Role,
        values: impl IntoIterator<Item = impl Into<Value>>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self { name: name.into(), role, values, words: None }
    }

    /// Returns the axis with other names for people and files.
    #[must_use]
    pub fn with_words(self, words: AxisWords) -> Self {
        Self { words: Some(words), ..self }
    }

    /// Returns the column in files: the axis's name, or `axis_NAME` if files use that name for something else.
    pub fn column(&self) -> &str {
        let taken = || COLUMNS.iter().find(|column| column["axis_".len()..] == self.name);
        match &self.words {
            Some(words) => &words.column,
            None => taken().copied().unwrap_or(&self.name),
        }
    }

    /// Returns the singular: `learning rate`.
    pub fn title(&self) -> &str {
        self.words.as_ref().map_or(&self.name, |words| &words.title)
    }

    /// Returns the plural: `learning rates`, `values of width`.
    pub fn plural(&self) -> String {
        let plural = self.words.as_ref().map(|words| words.plural.clone().into_owned());
        plural.unwrap_or_else(|| format!("values of {}", self.name))
    }

    /// Returns the short plural: `rates`, `values`.
    pub fn short_plural(&self) -> &str {
        self.words.as_ref().map_or("values", |words| &words.short_plural)
    }

    /// Converts a value that the user typed to one of this axis. `1e-3` becomes a number if all values of the axis
    /// are numbers, as a program declares them.
    pub fn typed(&self, value: Value) -> Value {
        let numbers = self.values.iter().all(|value| matches!(value, Value::Number(_)));
        match value.as_number().filter(|_| numbers) {
            Some(number) => Value::Number(number),
            None => value,
        }
    }

    /// Returns a value as tables show it.
    pub fn label(&self, value: &Value) -> String {
        let listed = |list: &[(Value, String)]| {
            list.iter().find(|(known, _)| known == value).map(|(_, label)| label.clone())
        };
        let label = match self.words.as_ref().map(|words| &words.label) {
            Some(Label::By(function)) => Some(function(value)),
            Some(Label::Listed(list)) => listed(list),
            None => None,
        };
        label.unwrap_or_else(|| value.to_string())
    }

    /// Returns the axis with the labels of its values as a list, which a file can hold.
    #[must_use]
    pub fn listed(&self) -> Self {
        let label = |value: &Value| (value.clone(), self.label(value));
        let labels = Label::Listed(self.values.iter().map(label).collect());
        let words = self.words.clone().map(|words| AxisWords { label: labels, ..words });
        Self { words, ..self.clone() }
    }
}

impl Role {
    /// Returns the axes of this role.
    pub fn of(self, axes: &[Axis]) -> impl Iterator<Item = &Axis> {
        axes.iter().filter(move |axis| axis.role == self)
    }
}
