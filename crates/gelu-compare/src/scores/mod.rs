//! Judges a table of scores from any source as a comparison is judged: columns of settings, seeds and a metric.

mod columns;
mod document;
mod judge;
mod line;
pub(crate) mod number;
mod table;
mod tasks;

pub use columns::Columns;
pub use document::ScoresDocument;
pub(crate) use document::{context, forest};
pub use judge::{Question, TableVerdict, judge};
pub use table::{Arm, Score, Table};
pub(crate) use tasks::judge_over_tasks;
