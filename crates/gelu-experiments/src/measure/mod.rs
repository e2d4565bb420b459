//! The words that recipes, training, runs, statistics and reports share: what is measured, on which
//! part of the data, and which epoch counts. A leaf: it knows nothing of the other modules.

mod criterion;
mod epoch_metrics;
mod metric;
mod outcomes;
mod primary;
mod selection;

pub use criterion::Criterion;
pub use epoch_metrics::{EpochMetrics, NoiseMetrics};
pub use gelu_compare::measure::{
    Bits, Look, Looks, Made, Outcomes, Split, TestGroups, UntilDecided, duration, seconds,
};
pub use metric::{LossKind, Metric};
pub use outcomes::{are_of, check_outcomes, primary_of};
pub use primary::Primary;
pub use selection::{Reported, Selection};
