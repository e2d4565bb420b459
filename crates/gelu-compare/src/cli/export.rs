use crate::Result;
use crate::export::Target;
use crate::output::{complain, print};
use crate::runs::ComparisonSnapshot;
use std::path::Path;

/// Exports to every target, says what became of each, and whether all of them worked. A target that
/// is down takes nothing with it: the results are written before.
///
/// # Errors
///
/// When standard output cannot be written to.
pub(super) fn all(
    tool: &str,
    targets: &[Target],
    snapshot: &ComparisonSnapshot,
    comparison: &Path,
    json: bool,
) -> Result<bool> {
    let mut all_worked = true;
    for target in targets {
        match target.export(snapshot, comparison) {
            // Standard output holds the JSON document and nothing else.
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
