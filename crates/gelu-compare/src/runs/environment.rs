use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a process computes with and on, as whoever trains says it: a part of where every number comes
/// from. These names have a meaning: `program` and `version`, `commit` (with `+` where files had changed
/// since), `device`, `processor`, `instructions` (the widest vector instructions that are used),
/// `threads`, `host`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment(pub BTreeMap<String, Value>);

impl Environment {
    /// This machine, and nothing else.
    pub fn of_this_machine() -> Self {
        let mut here = BTreeMap::new();
        here.insert("host".to_owned(), crate::host::name().into());
        Self(here)
    }

    /// A text of it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The commit in words, `None` outside a repository.
    pub fn commit_in_words(&self) -> Option<String> {
        let commit = self.text("commit")?;
        Some(match commit.strip_suffix('+') {
            Some(commit) => format!("commit {commit} with uncommitted changes"),
            None => format!("commit {commit}"),
        })
    }

    /// What a run's last bits depend on, as `flex with avx512`; `None` where nobody said.
    pub fn arithmetic(&self) -> Option<String> {
        let backend = self.text("device")?.split(':').next().unwrap_or_default();
        Some(format!("{backend} with {}", self.text("instructions")?))
    }
}
