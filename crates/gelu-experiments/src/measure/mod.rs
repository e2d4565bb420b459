//! The metrics of the paper's experiments, and the metrics that choose settings.

mod metric;
mod primary;
mod selection;

pub use metric::{LossKind, Metric};
pub use primary::Primary;
pub use selection::Selection;
