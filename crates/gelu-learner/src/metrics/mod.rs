//! Metrics that are no ratio of two sums over batches.
//!
//! A [`BatchMetrics`](crate::BatchMetrics) gathers numbers of each example, and a function of this module makes one
//! value of those of a whole split; Burn's own metrics are recorded as they are
//! ([`Training::record`](crate::Training::record)).

mod ranking;
mod recorded;

pub use ranking::{auroc, average_precision};
pub use recorded::RecordedMetrics;
pub(crate) use recorded::{Recorder, Recording};
