//! Workers: processes that claim runs of a comparison's folder, one run after the other.
//!
//! A worker needs only the folder. `compare` starts workers on its own machine, and a cluster's
//! scheduler starts them on its nodes. They share the work through the leases of the runs.

mod complaint;
mod control;
mod ending;
mod log;
mod pool;
mod threads;
mod trainer;
mod work;

pub use complaint::last_complaint;
pub use control::Control;
pub(crate) use control::{STOP_AFTER_EPOCH, STOP_NOW};
pub use ending::{conclude, fail};
pub use log::Redirected;
pub use pool::Place;
pub(crate) use pool::{PoolOptions, WorkerPool};
pub use threads::Cores;
pub(crate) use trainer::SpecOf;
pub use trainer::Trainer;
pub use work::Outcome;
pub(crate) use work::{Worker, panic_message, retry_failed_runs};
