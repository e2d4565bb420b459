//! Many runs beside each other: planning them, carrying them out, summing them up.

mod label;
mod palette;
mod plan;
pub mod statistics;
mod summary;
mod workers;

pub use label::label;
pub use palette::{Rgb, colour, lighter};
pub use plan::{final_specs, plan, specs};
pub use summary::{Group, best_groups, groups};
pub use workers::{Failure, STOP_AFTER_EPOCH, STOPPED, WorkerOptions, Workers};
