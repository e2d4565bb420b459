//! What a figure consists of, and the words that all of them share.

use crate::comparison::{Rgb, best_groups};
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

/// How many runs a curve stands for, and what they were trained on.
pub(super) fn runs_and_data(snapshot: &ComparisonSnapshot) -> String {
    let complete = best_groups(snapshot).into_iter().map(|group| group.complete().runs.len());
    let complete: Vec<usize> = complete.filter(|&runs| runs > 0).collect();
    let (fewest, most) = (complete.iter().min(), complete.iter().max());
    let of = match (fewest, most) {
        (Some(1), Some(1)) => "one run".to_owned(),
        (Some(fewest), Some(most)) if fewest < most => format!("median of {fewest} to {most} runs"),
        _ => format!("median of {} runs", most.unwrap_or(&0)),
    };
    format!("{of}; {}", data_of(snapshot))
}

/// What the runs were trained on.
pub(super) fn data_of(snapshot: &ComparisonSnapshot) -> String {
    match snapshot.synthetic {
        true => format!("SYNTHETIC DATA ({})", snapshot.data),
        false => snapshot.data.clone(),
    }
}
