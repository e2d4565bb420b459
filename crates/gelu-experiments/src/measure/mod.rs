//! The words that recipes, training, runs, statistics and reports share: what is measured, on which
//! part of the data, and which epoch counts. A leaf: it knows nothing of the other modules.

mod epoch_metrics;
mod metric;
mod selection;
mod split;

pub use epoch_metrics::{EpochMetrics, NoiseMetrics};
pub use metric::{LossKind, Metric};
pub use selection::{Reported, Selection};
pub use split::Split;
