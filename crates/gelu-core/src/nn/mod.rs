//! Modules for Burn models.

mod gelu;

pub use gelu::{Approximation, GeluLayer, GeluLayerConfig};
