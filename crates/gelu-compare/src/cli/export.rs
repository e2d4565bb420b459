use crate::Result;
use crate::export::Target;
use crate::output::{complain, print};
use crate::runs::Snapshot;
use std::path::Path;

/// Exports the results to every target and prints the outcome of each. Returns whether all exports worked. An export
/// that fails loses nothing, because the results are already written.
///
/// # Errors
///
/// Returns an error if standard output cannot be written.
pub(super) fn all(
    tool: &str,
    targets: &[Target],
    snapshot: &Snapshot,
    comparison: &Path,
    json: bool,
) -> Result<bool> {
    let mut all_worked = true;
    for target in targets {
        match target.export(snapshot, comparison) {
            // Standard output holds only the JSON document.
            Ok(line) if json => complain(&format!("{line}\n")),
            Ok(line) => print(&format!("{line}\n"))?,
            Err(error) => {
                complain(&format!("{tool}: not exported to {target}: {error}\n"));
                all_worked = false;
            }
        }
    }
    Ok(all_worked)
}
