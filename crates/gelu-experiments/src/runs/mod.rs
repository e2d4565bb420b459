//! What a run leaves on disk, and finding it again.
//!
//! A *run* is one network trained once: one activation, learning rate, dropout rate and seed.
//! A *comparison* is a set of runs. This module knows their folders and files; it trains nothing.

mod key;
mod metrics;
mod progress;
mod snapshot;
mod status;

pub use key::RunKey;
pub use metrics::{EpochMetrics, Metric, Split};
pub use progress::{Phase, Progress};
pub use snapshot::{ComparisonSnapshot, FigureSpec, Panels, RunSnapshot, Selection};
pub use status::RunStatus;
