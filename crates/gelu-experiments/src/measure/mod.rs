//! The words of the paper's experiments for what is measured, and by what settings are chosen.

mod metric;
mod primary;
mod selection;

pub use gelu_compare::measure::{
    Confusion, Criterion, Direction, EpochMetrics, Measure, NoWorse, NoiseMetrics, Outcomes, Over,
    Reported, Split, TestGroups, Unit, UntilDecided, check_outcomes, duration, seconds,
};
pub use metric::{LossKind, Metric};
pub use primary::Primary;
pub use selection::Selection;
