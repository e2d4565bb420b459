use crate::export::Target;
use crate::runs::ComparisonSnapshot;
use std::path::Path;

/// Exports to every target, says what became of each, and whether all of them worked. A target that
/// is down takes nothing with it: the results are written before.
pub(super) fn all(
    targets: &[Target],
    snapshot: &ComparisonSnapshot,
    comparison: &Path,
    json: bool,
) -> bool {
    let mut all_worked = true;
    for target in targets {
        match target.export(snapshot, comparison) {
            // Standard output holds the JSON document and nothing else.
            Ok(line) if json => eprintln!("{line}"),
            Ok(line) => println!("{line}"),
            Err(error) => {
                eprintln!("gelu: not exported to {target}: {error}");
                all_worked = false;
            }
        }
    }
    all_worked
}
