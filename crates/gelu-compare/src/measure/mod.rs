//! What is measured of a run, and what decides a comparison.

mod check;
mod confusion;
mod criterion;
mod declared;
mod duration;
mod epoch_metrics;
mod epochs;
mod groups;
mod layers;
mod outcomes;
mod reported;
mod split;

pub use check::check_outcomes;
pub use confusion::Confusion;
pub use criterion::{Criterion, NoWorse, Over, Scale, UntilDecided};
pub use declared::{Direction, Measure, Unit};
pub use duration::{duration, seconds};
pub use epoch_metrics::{EpochMetrics, NoiseMetrics};
pub use epochs::Epochs;
pub use groups::TestGroups;
pub use layers::LayerMeasure;
pub use outcomes::{OutcomeKind, Outcomes};
pub use reported::Reported;
pub use split::Split;
