use super::Environment;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The record of one session of a run: the work of one process between taking the run and giving it back. Stored as
/// `provenance-<lease>.json` in the run's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The environment of the training.
    #[serde(flatten)]
    pub environment: Environment,
    /// When the session began, in UTC.
    pub started: String,
    /// When the session ended; absent while it runs, and if its process died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The number of epochs that were finished before the session.
    pub epochs_before: usize,
    /// The number of epochs that were finished when the session ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs_after: Option<usize>,
    /// The outcome of the session: a status, or `died`; absent while the session runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The last lines of the log, if the process died or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

impl Provenance {
    /// Creates the record of a session that begins now.
    pub(super) fn begin(environment: &Environment, epochs_before: usize) -> Self {
        Self {
            environment: environment.clone(),
            started: now(),
            ended: None,
            epochs_before,
            epochs_after: None,
            outcome: None,
            log: Vec::new(),
        }
    }

    /// Records the end of a session.
    pub(super) fn end(&mut self, outcome: &str, epochs_after: usize, log: Vec<String>) {
        self.ended = Some(now());
        self.epochs_after = Some(epochs_after);
        self.outcome = Some(outcome.to_owned());
        self.log = log;
    }

    /// Creates a record after `last` that says that a failed run is being retried.
    pub(super) fn resumed(last: Option<&Self>) -> Option<Self> {
        let last = last?;
        Some(Self {
            started: now(),
            ended: Some(now()),
            outcome: Some("taken up again".to_owned()),
            epochs_after: Some(last.epochs_before),
            log: Vec::new(),
            ..last.clone()
        })
    }

    /// Returns whether the process died.
    pub fn has_died(&self) -> bool {
        self.outcome.as_deref() == Some(Self::DIED)
    }

    /// The [`outcome`](Self::outcome) of a session whose process died.
    pub const DIED: &'static str = "died";
}

/// This moment as `2026-11-21T22:50:00Z`.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// Returns the name of a session's record, by the number of its lease.
pub(crate) fn record_name(generation: u32) -> String {
    format!("provenance-{generation:04}.json")
}

/// Returns the numbers of a folder's session records, in order.
pub(crate) fn records(folder: &Path) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix("provenance-")?.strip_suffix(".json"));
        numbers.extend(number.and_then(|digits| digits.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are all fields that a session can have.
    #[test]
    fn the_book_explains_every_field() {
        let names = [
            "program",
            "commit",
            "burn",
            "features",
            "device",
            "processor",
            "instructions",
            "threads",
            "host",
        ];
        let environment = Environment(names.map(|name| (name.to_owned(), "".into())).into());
        let mut session = Provenance::begin(&environment, 0);
        session.end("finished", 1, vec![String::new()]);
        let page = include_str!("../../../../docs/src/reference/json-schema.md");
        let (_, section) = page.split_once("## What a run was trained by").unwrap();
        let rows: Vec<&str> = section.lines().filter_map(|row| row.strip_prefix("| `")).collect();
        let names: Vec<&str> =
            rows.iter().flat_map(|row| row.split(" | ").next().unwrap().split('`')).collect();
        for field in serde_json::to_value(&session).unwrap().as_object().unwrap().keys() {
            assert!(
                names.contains(&field.as_str()) || names.contains(&&*format!("{field}[]")),
                "{field}"
            );
        }
        let commit = rows.iter().find(|row| row.starts_with("commit`")).unwrap();
        assert!(commit.contains("`+`"), "{commit}");
    }
}
