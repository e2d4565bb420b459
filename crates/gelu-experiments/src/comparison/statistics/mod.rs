//! The few statistics a comparison needs, each with its definition.

mod median;

pub use median::median;
