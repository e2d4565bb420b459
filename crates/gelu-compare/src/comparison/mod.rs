//! Compares settings: from paired results to a verdict and its sentence. Also reads the runs of a comparison,
//! determines which runs are left to do, and summarises the complete ones.

#[cfg(feature = "program")]
mod common_failure;
mod details;
mod difference;
mod difference_curve;
mod doubt;
mod finding;
mod headings;
mod judging;
mod palette;
pub mod plan;
mod reader;
mod rule;
mod sample;
mod sentence;
pub mod statistics;
mod summary;
mod tasks;
mod verdict;
mod wording;

#[cfg(feature = "program")]
pub(crate) use common_failure::common_failure;
pub use difference::{Difference, Side, differences, has_begun, score, sides};
pub(crate) use difference::{FurtherSeeds, further_seeds};
pub(crate) use difference_curve::{DifferenceCurve, difference_curves};
pub use finding::{Finding, FindingInterval, Guard, OverTasks, ScoreSummary, Scores, TaskEffect};
pub use headings::Headings;
pub use palette::{Rgb, colour, lighter};
pub use reader::{AnyReader, SnapshotReader};
pub use rule::Rule;
pub(crate) use rule::error_rate;
pub use sample::Sample;
pub use summary::{Group, best_groups, groups, reported_epoch};
pub use tasks::Task;
pub(crate) use tasks::over_tasks;
pub use verdict::{ALPHA, Verdict};
pub use wording::Wording;
pub(crate) use wording::two_digits;
