//! Reports of a comparison of activations: those of any comparison, and a figure of the activations.

mod activations;

pub use activations::Functions;
