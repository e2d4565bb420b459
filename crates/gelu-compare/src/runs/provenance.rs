use super::Environment;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Where the epochs of one session of a run come from: what a process did between taking the run
/// and giving it back. Kept as `provenance-<lease>.json` in the run's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// What it was trained with, and on.
    #[serde(flatten)]
    pub environment: Environment,
    /// When it began, in UTC.
    pub started: String,
    /// When it ended; absent while it goes on, and where it died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Epochs that were finished before.
    pub epochs_before: usize,
    /// Epochs that were finished when it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs_after: Option<usize>,
    /// How it ended: a status, or `died`; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What it said last, where it died or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

impl Provenance {
    /// A session that begins now.
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

    /// The end of a session that was given back.
    pub(super) fn end(&mut self, outcome: &str, epochs_after: usize, log: Vec<String>) {
        self.ended = Some(now());
        self.epochs_after = Some(epochs_after);
        self.outcome = Some(outcome.to_owned());
        self.log = log;
    }

    /// The record that a run which was given up is taken up again, after its last session.
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

    /// Whether it ended without anybody saying so.
    pub fn has_died(&self) -> bool {
        self.outcome.as_deref() == Some(Self::DIED)
    }

    /// [`outcome`](Self::outcome) of a session whose process died.
    pub const DIED: &'static str = "died";
}

/// This moment as `2026-11-21T22:50:00Z`.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// The name of the record of a session, by the number of its lease.
pub(crate) fn record_name(generation: u32) -> String {
    format!("provenance-{generation:04}.json")
}

/// The numbers of the sessions that a folder has records of, in order.
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

    /// Every field that a session can have.
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
