//! The words of the paper's experiments for what is measured, and by what settings are chosen.

mod metric;
mod primary;
mod selection;

pub use metric::{LossKind, Metric};
pub use primary::Primary;
pub use selection::Selection;
