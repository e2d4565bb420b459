//! What a figure consists of.

use crate::comparison::Rgb;

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
