//! What a figure consists of.

use super::{curves, difference};
use crate::comparison::Rgb;
use crate::extension::extensions;
use crate::runs::ComparisonSnapshot;

/// Curves in panels beside each other: what is drawn, not how.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Above everything.
    pub title: String,
    /// One line below everything: what the curves are.
    pub caption: String,
    /// Text of the horizontal axes.
    pub x_axis: String,
    /// Whether the vertical axes are logarithmic.
    pub logarithmic: bool,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// A figure with the name of its file.
pub type Named = (String, Figure);

/// Every figure of a comparison, with the name of its file: those of the program's extensions, the metrics by epoch, and the
/// difference from the baseline.
pub fn figures(snapshot: &ComparisonSnapshot) -> Vec<Named> {
    let all = [
        (curves::name(snapshot), curves::figure(snapshot)),
        (difference::NAME.to_owned(), difference::figure(snapshot)),
    ];
    let all = all.into_iter().filter_map(|(name, figure)| Some((name, figure?)));
    extensions().iter().flat_map(|by| by.figures(snapshot)).chain(all).collect()
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Above it; may be empty.
    pub title: String,
    /// Text of its vertical axis.
    pub y_axis: String,
    /// In the order of the legend.
    pub curves: Vec<Curve>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// In the legend; `None` for a line that shares another's entry.
    pub label: Option<String>,
    /// Its colour.
    pub colour: Rgb,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Its points, by ascending x; values that are not finite are gaps.
    pub points: Vec<(f64, f64)>,
    /// What surrounds it, `(x, low, high)` by ascending x; empty for a line alone.
    pub band: Vec<(f64, f64, f64)>,
}
