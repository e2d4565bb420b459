//! What was found, for people and programs: figures, tables, JSON, CSV. Snapshots in, bytes out.

mod captions;
mod csv;
mod curves;
mod difference;
mod document;
mod draw;
#[cfg(test)]
mod example;
mod figure;
mod forest;
mod forest_svg;
mod html;
mod layers;
mod legend;
mod png;
mod robustness;
mod runs_csv;
#[cfg(test)]
pub(crate) mod snapshot_example;
mod strip;
pub mod table;
mod verdicts_forest;
mod written;

pub use captions::cuts;
pub(crate) use captions::untold;
pub use csv::csv;
pub use document::{
    ArmDocument, Arms, CriterionDocument, DataDocument, DifferenceDocument, Document, Edge,
    MeasuresDocument, RunDocument, SCHEMA, SpreadDocument,
};
pub use draw::svg;
pub use figure::{Curve, Figure, Panel};
pub use forest::{Compared, Forest, ForestPanel, ForestRow};
pub use forest_svg::svg as forest_svg;
pub use html::html;
pub use png::png;
pub use runs_csv::runs_csv;
pub use strip::{Mark, strip, strips};
pub use table::TrivialRow;
pub use verdicts_forest::forest;
pub use written::{Named, Written, figures, write};
