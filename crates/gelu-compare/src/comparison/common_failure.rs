use crate::runs::{RunSnapshot, RunStatus, Snapshot};
use crate::setting::Role;
use regex::Regex;
use std::sync::LazyLock;

/// Returns the first failed run if all settings seem to fail for the same reason, so that training the other runs
/// would be a waste. This is the case if no planned run is complete, every arm has a failed run, and all failed runs
/// have the same exit code and the same last line, apart from numbers and paths. Returns `None` otherwise.
pub(crate) fn common_failure(snapshot: &Snapshot) -> Option<&RunSnapshot> {
    let planned = || snapshot.runs.iter().filter(|run| run.planned);
    if planned().any(|run| run.status.is_complete()) {
        return None;
    }
    let failed: Vec<(&RunSnapshot, [String; 2])> =
        planned().filter_map(|run| Some((run, failure(run)?))).collect();
    let arm = |run: &RunSnapshot| run.key.setting.of_role(&snapshot.design.axes, Role::Compared);
    let has_failed = |one: &RunSnapshot| failed.iter().any(|(run, _)| arm(run) == arm(one));
    let (first, like) = failed.first()?;
    let alike = failed.len() > 1
        && failed.iter().all(|(_, other)| other == like)
        && planned().all(has_failed);
    alike.then_some(first)
}

/// Returns how a run failed, and the last line that it printed; `None` if it did not fail.
fn failure(run: &RunSnapshot) -> Option<[String; 2]> {
    let RunStatus::Failed { reason } = &run.status else { return None };
    let ended = reason.split("; ").next().unwrap_or_default();
    let ended = match ended.starts_with("it ended with") {
        true => ended.to_owned(),
        false => without_numbers_and_paths(ended),
    };
    let last = run.provenance.last().and_then(|session| session.log.last());
    Some([ended, last.map_or_else(String::new, |line| without_numbers_and_paths(line))])
}

fn without_numbers_and_paths(line: &str) -> String {
    static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\S*[/\\]\S*").expect("valid"));
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?").expect("valid"));
    NUMBER.replace_all(&PATH.replace_all(line, "/"), "0").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    /// Returns the example with no run begun except the first ones, which failed for `reasons`.
    fn failing(reasons: &[&str]) -> Snapshot {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.status = RunStatus::Waiting;
        }
        // The example lists the runs of one arm after those of another.
        let arm = |run: &RunSnapshot| run.key.setting.get("activation").cloned();
        let first = arm(&snapshot.runs[0]);
        let second = snapshot.runs.iter().position(|run| arm(run) != first).unwrap();
        for (place, reason) in [0, second, 1].into_iter().zip(reasons) {
            snapshot.runs[place].status = RunStatus::Failed { reason: (*reason).to_owned() };
        }
        snapshot
    }

    #[test]
    fn runs_fail_alike_by_exit_code_and_last_line_whatever_numbers_and_paths_are_in_it() {
        let alike = |reasons: &[&str]| common_failure(&failing(reasons)).is_some();
        let code = |code: u8| format!("it ended with exit code {code}; its last output: x");
        assert!(alike(&[&code(1), &code(1)]));
        assert!(!alike(&[&code(1), &code(2)]), "another exit code");
        assert!(!alike(&[&code(1)]), "one arm has not failed yet");
        assert!(!alike(&[&code(1), &code(1), &code(2)]), "a further run failed otherwise");
        assert!(alike(&["no file /a/b.csv at 0.5", "no file /tmp/c at 1e-3"]));
        assert!(!alike(&["no file /a/b.csv", "no folder /a/b.csv"]));
        let mut snapshot = failing(&[&code(1), &code(1)]);
        snapshot.runs.last_mut().unwrap().status = RunStatus::Finished;
        assert_eq!(common_failure(&snapshot), None, "a run has shown that it can be done");
    }
}
