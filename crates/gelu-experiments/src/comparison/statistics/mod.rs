//! The few statistics a comparison needs, each with its definition.

mod median;
mod quartiles;

pub use median::median;
pub use quartiles::{Quartiles, quartiles};
