//! Metrics that are not ratios of two sums over batches.
//!
//! A [`BatchMetrics`](crate::BatchMetrics) gathers numbers of each example, and a function of this module computes
//! one value from the numbers of a whole split. Burn's own metrics are recorded unchanged
//! ([`Training::record`](crate::Training::record)).

mod ranking;
mod recorded;

pub use ranking::{auroc, average_precision};
pub use recorded::RecordedMetrics;
pub(crate) use recorded::{Recorder, Recording};
