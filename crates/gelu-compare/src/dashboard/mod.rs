//! The live comparison: in a terminal as a dashboard, elsewhere as lines.
//!
//! It trains nothing and knows no process. It is given snapshots of a comparison's folder and
//! hands back what was asked for with the keys. State (`app`) is kept apart from what is shown
//! (`view`), and that from how it is drawn (`chart`, `panels`).

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

pub use app::{Mode, Request};
pub use picture::picture;
pub use plain::{PlainReporter, epoch_line};
pub use terminal::{Outcome, run};
