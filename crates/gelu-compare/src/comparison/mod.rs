//! Which of two settings is better: from paired results to a verdict and its sentence.

mod contrast;
mod found;
mod palette;
mod sentence;
pub mod statistics;
mod verdict;
mod wording;

pub use contrast::{Contrast, Rules};
pub use found::Found;
pub use palette::{Rgb, colour, lighter};
pub use sentence::{details, sentence};
pub use verdict::{ALPHA, Ruling, Verdict};
pub use wording::Wording;
