//! Recordings of speech: the formats they come in, their labels, and what a network sees of them.

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
