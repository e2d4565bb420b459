//! What was found, for people and programs: figures and parts of JSON documents.

mod draw;
#[cfg(test)]
mod example;
mod figure;
mod forest;
mod forest_svg;
mod found_document;
mod legend;
mod look_document;
mod png;
mod strip;

pub use draw::svg;
pub use figure::{Curve, Figure, Panel};
pub use forest::{Compared, Forest, ForestPanel, ForestRow};
pub use forest_svg::svg as forest_svg;
pub use found_document::{ForecastDocument, FoundDocument, IntervalDocument};
pub use look_document::LookDocument;
pub use png::png;
pub use strip::{Mark, strip, strips};
