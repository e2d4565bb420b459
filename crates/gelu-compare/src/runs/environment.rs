use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The environment of a training process, as the training program describes it; part of the provenance of every
/// number. These names have a meaning: `program` and `version`, `commit` (with `+` if files had uncommitted changes),
/// `device`, `processor`, `instructions` (the widest vector instructions in use), `threads`, `host`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment(pub BTreeMap<String, Value>);

impl Environment {
    /// Returns an environment that only names this machine.
    pub fn of_this_machine() -> Self {
        let mut here = BTreeMap::new();
        here.insert("host".to_owned(), crate::host::name().into());
        Self(here)
    }

    /// Returns the text of the given name, if there is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns the commit in words, or `None` outside a repository.
    pub fn commit_in_words(&self) -> Option<String> {
        let commit = self.text("commit")?;
        Some(match commit.strip_suffix('+') {
            Some(commit) => format!("commit {commit} with uncommitted changes"),
            None => format!("commit {commit}"),
        })
    }

    /// Returns what the last bits of a run's numbers depend on, such as `flex with avx512`, or `None` if it is
    /// unknown.
    pub fn arithmetic(&self) -> Option<String> {
        let backend = self.text("device")?.split(':').next().unwrap_or_default();
        Some(format!("{backend} with {}", self.text("instructions")?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_said_with_what_was_not_in_it() {
        let of = |commit: &str| {
            Environment([("commit".to_owned(), commit.into())].into()).commit_in_words()
        };
        assert_eq!(of("0123abc").as_deref(), Some("commit 0123abc"));
        assert_eq!(of("0123abc+").as_deref(), Some("commit 0123abc with uncommitted changes"));
        assert_eq!(Environment::default().commit_in_words(), None);
    }
}
