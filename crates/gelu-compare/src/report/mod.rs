//! Results for people and programs: figures, tables, JSON, CSV. The functions turn snapshots into bytes.

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
mod heat;
mod html;
mod legend;
mod png;
mod runs_csv;
mod strip;
pub mod table;
mod verdicts_forest;
mod written;

pub(crate) use captions::untold;
pub use captions::{cuts, runs_and_data};
pub use csv::csv;
pub use document::{
    ArmDocument, CriterionDocument, DataDocument, DifferenceDocument, Document, Edge,
    MeasuresDocument, RunDocument, SCHEMA, SpreadDocument,
};
pub use draw::svg;
pub use figure::{Curve, Figure, Panel};
pub use forest::{Compared, Forest, ForestPanel, ForestRow};
pub use forest_svg::svg as forest_svg;
pub use heat::{HeatMap, HeatRow, heat_svg};
pub use html::html;
pub use png::png;
pub use runs_csv::runs_csv;
pub use strip::{Mark, strip, strips};
pub use table::TrivialRow;
pub use verdicts_forest::forest;
pub use written::{Named, Written, figures, write};
