//! The words that recipes, training, runs, statistics and reports share: what is measured, on which
//! part of the data, and which epoch counts. A leaf: it knows nothing of the other modules.

mod criterion;
mod duration;
mod epoch_metrics;
mod groups;
mod looks;
mod metric;
mod outcomes;
mod primary;
mod selection;
mod split;

pub use criterion::{Criterion, UntilDecided};
pub use duration::{duration, seconds};
pub use epoch_metrics::{EpochMetrics, NoiseMetrics};
pub use groups::TestGroups;
pub use looks::{Look, Looks};
pub use metric::{LossKind, Metric};
pub(crate) use outcomes::Made;
pub use outcomes::{Bits, Outcomes};
pub use primary::Primary;
pub use selection::{Reported, Selection};
pub use split::Split;
