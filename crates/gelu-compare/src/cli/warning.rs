use crate::output::complain;
use crate::runs::{Comparison, Recipe, Snapshot, Spec};

/// Returns what could not be read of a comparison, one line per warning.
pub fn warnings(tool: &str, snapshot: &Snapshot) -> String {
    let of_runs = snapshot.runs.iter().flat_map(|run| &run.warnings);
    let all = snapshot.warnings.iter().chain(of_runs);
    all.map(|warning| format!("{tool}: warning: {warning}\n")).collect()
}

/// Prints a warning if every user of this machine can change what is in the folder.
pub fn warn_of_open_folder<R: Recipe>(folder: &Comparison<R>) {
    if folder.is_open_to_all() {
        complain(&format!(
            "{}: warning: everybody on this machine may write into {}, so its results are as good as \
             theirs\n",
            R::Spec::TOOL,
            folder.path().display()
        ));
    }
}

/// Prints what happens after `asked` requests to stop.
pub(super) fn say_stopping(tool: &str, asked: usize) {
    complain(&match asked {
        1 => format!(
            "{tool}: stopping after the epochs under way; programs go on to their end. Press Ctrl-C again to stop now\n"
        ),
        _ => format!("{tool}: stopping now\n"),
    });
}
