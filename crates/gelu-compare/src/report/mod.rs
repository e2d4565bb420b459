//! Results for people and programs: figures, tables, JSON, CSV. The functions turn snapshots into bytes.

mod captions;
mod csv;
mod curves;
mod difference;
mod document;
#[cfg(feature = "figures")]
mod draw;
#[cfg(test)]
mod example;
mod figure;
mod forest;
#[cfg(feature = "figures")]
mod forest_grid;
#[cfg(feature = "figures")]
mod forest_svg;
mod heat;
#[cfg(feature = "figures")]
mod heat_svg;
#[cfg(feature = "report")]
mod html;
#[cfg(feature = "figures")]
mod legend;
#[cfg(feature = "figures")]
mod png;
mod runs_csv;
mod strip;
#[cfg(feature = "report")]
pub mod table;
mod verdicts_forest;
#[cfg(feature = "report")]
mod written;

pub(crate) use captions::missing_intervals;
pub use captions::{cuts, runs_and_data};
pub use csv::csv;
pub use document::{
    ArmDocument, CriterionDocument, DataDocument, Document, Edge, MeasuresDocument, RunDocument,
    SpreadDocument,
};
#[cfg(feature = "figures")]
pub use draw::svg;
pub use figure::{Curve, Figure, NamedFigure, Panel, figures};
pub use forest::{Forest, ForestEntry, ForestPanel, ForestRow};
#[cfg(feature = "figures")]
pub(crate) use forest_svg::svg as forest_svg;
pub use heat::{HeatMap, HeatRow};
#[cfg(feature = "figures")]
pub use heat_svg::svg as heat_svg;
#[cfg(feature = "report")]
pub use html::html;
#[cfg(feature = "figures")]
pub use png::png;
pub use runs_csv::runs_csv;
pub(crate) use strip::{Mark, strip, strips};
#[cfg(feature = "report")]
pub use table::TrivialRow;
pub use verdicts_forest::forest;
#[cfg(feature = "report")]
pub use written::{ReportFiles, write};
