//! The parts of a figure.

use super::{curves, difference};
use crate::comparison::Rgb;
use crate::extension::extensions;
use crate::runs::Snapshot;

/// Curves in panels next to each other: the content, not the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title, above everything.
    pub title: String,
    /// The caption, one line below everything, which explains the curves.
    pub caption: String,
    /// The label of the horizontal axes.
    pub x_axis: String,
    /// Whether the vertical axes are logarithmic.
    pub logarithmic: bool,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

/// A figure with the name of its file.
pub type NamedFigure = (String, Figure);

/// Returns every figure of a comparison with the name of its file: the extensions' figures, the metrics by epoch, and the
/// difference from the baseline.
pub fn figures(snapshot: &Snapshot) -> Vec<NamedFigure> {
    let all = [
        (curves::name(snapshot), curves::figure(snapshot)),
        (difference::NAME.to_owned(), difference::figure(snapshot)),
    ];
    let all = all.into_iter().filter_map(|(name, figure)| Some((name, figure?)));
    extensions().iter().flat_map(|by| by.figures(snapshot)).chain(all).collect()
}

/// A pair of axes with its curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The title above the panel; may be empty.
    pub title: String,
    /// The label of the vertical axis.
    pub y_axis: String,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The label in the legend; `None` for a curve that shares another's entry.
    pub label: Option<String>,
    /// The colour.
    pub colour: Rgb,
    /// Whether the curve is dashed.
    pub dashed: bool,
    /// The points, by ascending x. Values that are not finite are gaps.
    pub points: Vec<(f64, f64)>,
    /// The band around the curve as `(x, low, high)`, by ascending x; empty for a curve without a band.
    pub band: Vec<(f64, f64, f64)>,
}
