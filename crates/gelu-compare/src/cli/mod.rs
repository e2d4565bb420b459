//! The command line, one file per command. These modules only parse arguments and print. Other programs include
//! single commands in their own command lines.

mod batch;
mod by_hand;
mod carry_out;
mod completions;
mod export;
mod listing;
mod numbers;
mod over;
mod pack;
mod report;
mod runs;
mod seeds;
mod submission;
mod verdict;
mod warning;
mod watch;
mod workforce;

pub use batch::{Batch, absolute};
pub use by_hand::{ByHand, Telling, TrainedRun};
pub use carry_out::{ComparisonOutcome, DisplayFlags};
pub use completions::{Completions, Man};
pub use listing::listing;
#[cfg(test)]
pub(crate) use numbers::raw_refusals;
pub use numbers::{count, no_worse, number, whole};
pub use over::OverFlags;
pub use pack::{Pack, Unpack, restored};
pub use report::Report;
pub use runs::Runs;
pub use seeds::Seeds;
pub use submission::Submission;
pub use verdict::Verdict;
use warning::say_stopping;
pub use warning::{warn_of_open_folder, warnings};
pub use watch::Watch;
pub use workforce::Workforce;
use workforce::stop_on_signals;
