//! What is measured of a run, and when comparisons are looked at. A leaf: it knows nothing of the other
//! modules.

mod declared;
mod duration;
mod groups;
mod looks;
mod outcomes;
mod split;

pub use declared::{Direction, Measure, Unit};
pub use duration::{duration, seconds};
pub use groups::TestGroups;
pub use looks::{Look, Looks, UntilDecided};
pub use outcomes::{Bits, Made, Outcomes};
pub use split::Split;
