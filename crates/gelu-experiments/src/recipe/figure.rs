use crate::measure::Metric;
use gelu_compare::measure::Split;
use serde::{Deserialize, Serialize};

/// How a figure of the paper is laid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// File name without extension: `figure-2`.
    pub name: String,
    /// What the vertical axis shows.
    pub metric: Metric,
    /// Text of the vertical axis.
    pub axis: String,
    /// Which splits are drawn: the first as full dark lines, the second as `second` says.
    pub splits: Vec<Split>,
    /// How the second split is told from the first.
    #[serde(default)]
    pub second: SecondSplit,
    /// What tells its panels apart.
    pub panels: Panels,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub logarithmic: bool,
}

/// How the second split of a figure is told from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondSplit {
    /// A lighter line, as the paper does.
    #[default]
    Lighter,
    /// A dashed line, as the source script does.
    Dashed,
}

/// What tells the panels of a figure apart.
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
