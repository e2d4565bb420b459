//! Shows a running comparison: as a dashboard in a terminal, as lines elsewhere.
//!
//! This module trains nothing and knows no process. It gets snapshots of a comparison's folder and returns the user's
//! requests. The state (`app`) is separate from what is shown (`view`), and that from how it is drawn (`chart`,
//! `panels`).

mod app;
mod bars;
mod chart;
mod clock;
mod colours;
mod keys;
mod panels;
mod picture;
mod plain;
mod symbols;
mod terminal;
mod verdicts;
mod view;

pub use app::Mode;
pub(crate) use app::Request;
pub use picture::picture;
pub use plain::{PlainReporter, epoch_line};
pub use terminal::{Outcome, run};
