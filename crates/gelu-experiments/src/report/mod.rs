//! What a comparison of activations found: reports as of any comparison, and the activations themselves
//! as a figure.

mod activations;
/// A comparison without a recipe, as the tests of gelu-compare have it.
#[cfg(test)]
#[path = "../../../gelu-compare/src/report/snapshot_example.rs"]
pub(crate) mod example;

pub use activations::own_figures;
pub use gelu_compare::report::{
    ArmDocument, Arms, Curve, Document, Edge, Figure, Forest, Panel, csv, cuts, figures, forest,
    html, png, runs_csv, svg, table, write,
};
