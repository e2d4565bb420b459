//! Many runs beside each other.

pub mod statistics;
mod summary;

pub use summary::{Group, best_groups, groups};
