//! Workers on a cluster. This crate has no scheduler: the cluster's own engine starts the workers, and they need only
//! the comparison's folder.

mod directive;
mod shell;
mod slurm;
mod time_limit;

pub use shell::quoted;
pub use slurm::{SlurmJob, submit};
pub(crate) use time_limit::TimeLimit;
