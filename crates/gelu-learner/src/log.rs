//! The log of a run.

use gelu_compare::output::complain;
use gelu_compare::runs::Spec;

/// Writes `line` into the run's log.
pub fn log<S: Spec>(line: &str) {
    complain(&format!("{}: {line}\n", S::TOOL));
}
