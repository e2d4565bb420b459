//! What trains the runs of recipes in a worker's process.

mod recipes;

pub use gelu_compare::worker::{
    Control, Cores, Outcome, PoolOptions, Redirected, Worker, WorkerFailure, WorkerPool, fail,
    last_complaint, panic_message, take_up_failed,
};
pub use recipes::Recipes;
