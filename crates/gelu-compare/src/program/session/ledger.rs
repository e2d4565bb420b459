//! The ledger of a session: the judged changes and their outcomes.

use super::{Entry, Outcome, Side};
use crate::error::Place;
use crate::files::{from_toml, read_text};
use crate::measure::{Measure, Reported};
use crate::program::{Files, Pattern, ProgramRecipe};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file's layout.
const VERSION: u32 = 1;

/// The content of a session's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub(super) version: u32,
    /// The machine of the last judgement.
    pub(super) machine: String,
    /// The criterion of all judgements.
    pub(super) criterion: Decisive,
    /// The files that `--depends` matched at the last judgement.
    #[serde(default, skip_serializing_if = "Files::is_empty")]
    pub(super) depends: Files,
    /// The judgements, in the order in which they were begun or last continued.
    #[serde(default, rename = "judgement")]
    pub(super) entries: Vec<Entry>,
}

/// The parts of the criterion that all judgements of a session share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decisive {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    read: Vec<Pattern>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stderr: bool,
    reported: Reported,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    select: Option<String>,
    pub(super) metric: Measure,
}

impl Ledger {
    /// Creates the ledger of a session that begins with `recipe`.
    pub(super) fn new(recipe: &ProgramRecipe) -> Self {
        Self {
            version: VERSION,
            machine: super::machine(),
            criterion: Decisive::of(recipe),
            depends: Files::new(),
            entries: Vec::new(),
        }
    }

    /// Reads the ledger in a file. Returns `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or is not a ledger.
    pub(super) fn read(file: &Path) -> Result<Option<Self>> {
        let refuse = |problem: String, advice: &str| {
            Err(Error::data(file, Place::File, problem, advice.to_owned()))
        };
        let Some(text) = read_text(file)? else { return Ok(None) };
        let version = toml::from_str::<toml::Table>(&text).ok();
        let version = version.and_then(|table| table.get("version")?.as_integer());
        if version.is_some_and(|version| version > i64::from(VERSION)) {
            return refuse(
                "is the ledger of a newer version of this program".to_owned(),
                "use that version",
            );
        }
        let ledger: Self = match from_toml(&text) {
            Ok(ledger) => ledger,
            Err(problem) => {
                let advice = "restore it, or name another file with --session";
                return refuse(format!("is no ledger of a session: {problem}"), advice);
            }
        };
        match ledger.entries.iter().find(|entry| !entry.is_possible()) {
            None => Ok(Some(ledger)),
            Some(entry) => refuse(
                format!("judgement {} is judgement {} of its budget", entry.number, entry.j),
                "restore the file",
            ),
        }
    }

    /// Returns the file's content.
    pub(super) fn to_toml(&self) -> String {
        toml::to_string(self).expect("a ledger holds plain values alone")
    }

    /// Returns the incumbent: the last change if it was kept, or else the program with which it was compared.
    pub(super) fn incumbent(&self) -> Option<&Side> {
        let last = self.entries.last()?;
        Some(if last.verdict == Outcome::Kept { &last.change } else { &last.incumbent })
    }

    /// Returns the judgements with runs of the incumbent, and its command in each: from the last judgement back to the
    /// one that kept it. Leaves out earlier runs of the same program, because they are biased: the program was rejected
    /// or replaced after them, partly for bad luck.
    pub(super) fn of_incumbent(&self) -> Vec<(u64, &str)> {
        let Some(incumbent) = self.incumbent() else { return Vec::new() };
        let mut found = Vec::new();
        for entry in self.entries.iter().rev() {
            if entry.verdict == Outcome::Kept && entry.change.is(incumbent) {
                found.push((entry.number, entry.change.command.as_str()));
                break;
            }
            if entry.verdict == Outcome::Kept || !entry.incumbent.is(incumbent) {
                break;
            }
            found.push((entry.number, entry.incumbent.command.as_str()));
        }
        found
    }

    /// Returns the last judgement of these two programs.
    pub(super) fn known(&self, [a, b]: [&Side; 2]) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.incumbent.is(a) && entry.change.is(b))
    }

    /// Removes a judgement from the ledger, to continue it as the last one.
    pub(super) fn take(&mut self, number: u64) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.number == number)?;
        Some(self.entries.remove(place))
    }

    /// Returns the number of the next judgement in the session.
    pub(super) fn next_number(&self) -> u64 {
        1 + self.entries.iter().map(|entry| entry.number).max().unwrap_or(0)
    }

    /// Returns the number of the next judgement in its budget. A budget begins after a kept change.
    pub(super) fn next_j(&self) -> u64 {
        let of_budget = self.entries.iter().rev().take_while(|e| e.verdict != Outcome::Kept);
        1 + of_budget.filter(|entry| entry.counts()).map(|entry| entry.j).max().unwrap_or(0)
    }

    /// Returns the judgements whose changes were kept.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.entries.iter().filter(|entry| entry.verdict == Outcome::Kept)
    }
}

impl Decisive {
    pub(super) fn of(recipe: &ProgramRecipe) -> Self {
        Self {
            metric: recipe.measure(&recipe.primary),
            read: recipe.read.clone(),
            stderr: recipe.stderr,
            reported: recipe.reported,
            select: recipe.selection.clone(),
        }
    }

    /// Returns the first flag for which the two differ, or `None` if they are the same.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        let [here, there] = [&self.metric, &other.metric];
        [
            ("--metric", here.name != there.name),
            ("--higher", here.direction != there.direction),
            ("--read", self.read != other.read),
            ("--stderr", self.stderr != other.stderr),
            ("--best-epoch", self.reported != other.reported),
            ("--select", self.select != other.select),
        ]
        .into_iter()
        .find_map(|(flag, differs)| differs.then_some(flag))
    }
}

#[cfg(test)]
mod tests;
