//! A worker: a process that claims runs of a comparison's folder, one after the other.
//!
//! It needs nothing but the folder. `compare` starts some on its own machine ([`WorkerPool`]), a cluster's
//! engine starts the same on its nodes, and they share the work by the leases of the runs.

mod complaint;
mod control;
mod ending;
mod log;
mod pool;
mod threads;
mod trainer;
mod work;

pub use complaint::last_complaint;
pub use control::{Control, STOP_AFTER_EPOCH, STOP_NOW};
pub use ending::{conclude, fail};
pub use log::Redirected;
pub use pool::{Place, PoolOptions, WorkerFailure, WorkerPool};
pub use threads::Cores;
pub use trainer::{SpecOf, Trainer};
pub use work::{Outcome, Worker, panic_message, take_up_failed};
