//! What is measured of a run, and when comparisons are looked at. A leaf but for settings: it knows
//! nothing of the other modules.

mod check;
mod confusion;
mod criterion;
mod declared;
mod duration;
mod epoch_metrics;
mod epochs;
mod groups;
mod layers;
mod looks;
mod outcomes;
mod reported;
mod split;

pub use check::check_outcomes;
pub use confusion::Confusion;
pub use criterion::Criterion;
pub use declared::{Direction, Measure, Unit};
pub use duration::{duration, seconds};
pub use epoch_metrics::{EpochMetrics, NoiseMetrics};
pub use epochs::Epochs;
pub use groups::TestGroups;
pub use layers::LayerMeasure;
pub use looks::{Look, Looks, UntilDecided};
pub use outcomes::{Bits, OutcomeKind, Outcomes};
pub use reported::Reported;
pub use split::Split;
