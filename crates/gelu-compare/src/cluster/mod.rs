//! Workers beyond one machine. There is no engine of our own: a cluster's engine starts workers,
//! and they need nothing but the comparison's folder.

mod directive;
mod shell;
mod slurm;
mod time_limit;

pub use shell::quoted;
pub use slurm::{SlurmJob, submit};
pub use time_limit::TimeLimit;
