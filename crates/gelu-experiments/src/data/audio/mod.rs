//! Recordings of speech: their formats, their labels, and the inputs made from them.

mod features;
mod format;
pub mod frames;
pub mod phn;
pub mod phones;
mod recording;
pub mod sphere;
pub mod wav;

pub use features::{Analysis, COEFFICIENTS, Normalisation};
pub use recording::Recording;
