//! Test support that these crates share: an example comparison, programs in temporary folders, the commands that
//! pages quote, and strings that a terminal would act on.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "for tests, which panic"
)]

mod evil;
mod example;
mod generated;
mod outcome;
mod page;
mod sandbox;

pub use crate::files::steps::steps;
pub use evil::{EVIL, EVIL_NAME, Leaf, assert_text, leaves, read, spoiled, unfinished, write};
pub use example::{example, setting, without_epochs};
pub use generated::{assert_generated, command_line};
pub use outcome::Outcome;
pub use page::{Page, Quoted};
pub use sandbox::{Sandbox, kill, results, wait};
