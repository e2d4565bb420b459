//! A table of scores from anywhere, judged as a comparison is: columns of settings, seeds and a measure.

mod document;
mod judge;
mod table;

pub use document::{ScoreDocument, ScoresDocument};
pub(crate) use document::{context, forest, wording};
pub use judge::{Judged, judge};
pub use table::{Arm, Columns, Score, Scores};
