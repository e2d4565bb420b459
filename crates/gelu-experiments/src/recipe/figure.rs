use crate::measure::Metric;
use gelu_compare::measure::Split;
use serde::{Deserialize, Serialize};

/// The layout of a figure of the paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// File name without extension: `figure-2`.
    pub name: String,
    /// The metric on the vertical axis.
    pub metric: Metric,
    /// Text of the vertical axis.
    pub axis: String,
    /// The drawn splits: the first as solid dark lines, the second as `second` says.
    pub splits: Vec<Split>,
    /// The style of the second split.
    #[serde(default)]
    pub second: SecondSplit,
    /// The property that distinguishes the panels.
    pub panels: Panels,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub logarithmic: bool,
}

/// The style of a figure's second split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondSplit {
    /// A lighter line, as in the paper.
    #[default]
    Lighter,
    /// A dashed line, as in the source script.
    Dashed,
}

/// The property that distinguishes the panels of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Panels {
    /// One panel; each activation at its best setting.
    Single,
    /// One panel per dropout rate; each activation at its best learning rate.
    Dropout,
    /// One panel per formula; each activation at its best learning rate.
    Formula,
    /// One panel per learning rate.
    LearningRate,
}
