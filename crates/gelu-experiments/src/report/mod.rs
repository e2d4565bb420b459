//! What a comparison of activations found: reports as of any comparison, and the activations themselves
//! as a figure.

mod activations;

pub use activations::Functions;
