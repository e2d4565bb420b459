//! The measures of runs, and the criterion that decides a comparison.

mod criterion;
mod declared;
mod duration;
mod epoch_metrics;
mod epochs;
mod reported;
mod split;

pub use criterion::{Criterion, NoWorse, Over, Scale, UntilDecided};
pub use declared::{Direction, Measure, Unit};
pub use duration::{duration, seconds};
pub use epoch_metrics::EpochMetrics;
pub use epochs::Epochs;
pub use reported::Reported;
pub use split::Split;
