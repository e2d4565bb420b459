//! The ledger of a session: what was tried, and what came out.

use crate::comparison::FindingInterval;
use crate::comparison::statistics::session::{is_judgement, level};
use crate::error::Place;
use crate::files::{from_toml, read_text};
use crate::measure::{Measure, Reported};
use crate::program::{Files, Pattern, Study};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file's layout.
const VERSION: u32 = 1;

/// What a session's file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub(super) version: u32,
    /// The machine of the last judgement.
    pub(super) machine: String,
    /// What all judgements go by.
    pub(super) criterion: Decisive,
    /// What `--depends` matched at the last judgement.
    #[serde(default, skip_serializing_if = "Files::is_empty")]
    pub(super) depends: Files,
    /// In the order in which they were begun, or taken up again.
    #[serde(default, rename = "judgement")]
    pub(super) entries: Vec<Entry>,
}

/// What all judgements of a session have in common.
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

/// One judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Its number in the session, which its folder is called by.
    pub(super) number: u64,
    /// When it began, in UTC.
    pub(super) began: String,
    /// What the change is, in the words of whoever tries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// What else is different from the judgement before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<String>,
    /// Its number in the budget.
    pub(super) j: u64,
    /// Its level.
    pub(super) level: f64,
    pub(super) verdict: Outcome,
    /// Pairs of complete runs.
    pub(super) pairs: u64,
    /// Runs of the incumbent that earlier judgements have made.
    pub(super) reused: u64,
    /// What the other runs took.
    pub(super) seconds: f64,
    /// The mean of change − incumbent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sentence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<FindingInterval>,
    pub(super) incumbent: Side,
    pub(super) change: Side,
}

/// One of the two programs of a judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Side {
    /// As it was typed.
    pub(super) command: String,
    /// What stands for its words and the contents of its files.
    pub(super) program: String,
    /// What stands for the files of `--depends`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depends: Option<String>,
    /// The mean of its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mean: Option<f64>,
}

impl Side {
    /// Whether its runs are those of another.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.program, &self.depends) == (&other.program, &other.depends)
    }
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// It is an improvement.
    Kept,
    /// Given up early, since an improvement is unlikely.
    Futile,
    /// All planned pairs show none.
    Undecided,
    /// A run failed.
    Failed,
    /// It has not ended.
    Open,
}

impl Outcome {
    /// The exit code that says so; `None` while it is open.
    pub(super) fn exit_code(self) -> Option<u8> {
        Some(match self {
            Self::Kept => 0,
            Self::Futile => 13,
            Self::Undecided => 12,
            Self::Failed => 1,
            Self::Open => return None,
        })
    }

    /// As tables have it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Futile => "futile",
            Self::Undecided => "undecided",
            Self::Failed => "a run failed",
            Self::Open => "not finished",
        }
    }
}

impl Entry {
    /// Judgement `j` of a budget, which begins now.
    pub(super) fn new(number: u64, j: u64, note: Option<String>, [a, b]: [Side; 2]) -> Self {
        Self {
            number,
            began: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            note,
            changed: Vec::new(),
            j,
            level: level(j),
            verdict: Outcome::Open,
            pairs: 0,
            reused: 0,
            seconds: 0.0,
            effect: None,
            interval: None,
            sentence: None,
            incumbent: a,
            change: b,
        }
    }

    /// Whether it takes its share of the budget: it does unless it failed before anything was seen of the change.
    fn counts(&self) -> bool {
        self.verdict != Outcome::Failed || self.pairs > 0
    }
}

impl Ledger {
    /// Of a session that begins with this study.
    pub(super) fn new(study: &Study) -> Self {
        Self {
            version: VERSION,
            machine: super::machine(),
            criterion: Decisive::of(study),
            depends: Files::new(),
            entries: Vec::new(),
        }
    }

    /// The ledger in a file; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or holds something else.
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

    /// As the file has it.
    pub(super) fn to_toml(&self) -> String {
        toml::to_string(self).expect("a ledger holds plain values alone")
    }

    /// What is to be improved: what was kept last, or what the last change was compared with.
    pub(super) fn incumbent(&self) -> Option<&Side> {
        let last = self.entries.last()?;
        Some(if last.verdict == Outcome::Kept { &last.change } else { &last.incumbent })
    }

    /// The judgements that have runs of the incumbent, with the command that they know it by: from the last one back to
    /// that which kept it. No earlier ones: what was rejected, or replaced, was chosen for its bad luck, too.
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

    /// The last judgement of these two.
    pub(super) fn known(&self, [a, b]: [&Side; 2]) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.incumbent.is(a) && entry.change.is(b))
    }

    /// Takes a judgement out, to go on with it as the last one.
    pub(super) fn take(&mut self, number: u64) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.number == number)?;
        Some(self.entries.remove(place))
    }

    /// The number of the next judgement in the session.
    pub(super) fn next_number(&self) -> u64 {
        1 + self.entries.iter().map(|entry| entry.number).max().unwrap_or(0)
    }

    /// The number of the next judgement in its budget, which begins with the last change that was kept.
    pub(super) fn next_j(&self) -> u64 {
        let of_budget = self.entries.iter().rev().take_while(|e| e.verdict != Outcome::Kept);
        1 + of_budget.filter(|entry| entry.counts()).map(|entry| entry.j).max().unwrap_or(0)
    }

    /// The changes that were kept.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.entries.iter().filter(|entry| entry.verdict == Outcome::Kept)
    }
}

impl Entry {
    /// Whether there can be such a judgement.
    fn is_possible(&self) -> bool {
        is_judgement(self.j) && self.number > 0
    }
}

impl Decisive {
    pub(super) fn of(study: &Study) -> Self {
        Self {
            metric: study.measure(&study.primary),
            read: study.read.clone(),
            stderr: study.stderr,
            reported: study.reported,
            select: study.selection.clone(),
        }
    }

    /// The flag by which a judgement would go by something else; `None` where it goes by the same.
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
mod tests {
    use super::*;

    fn side(program: &str) -> Side {
        let (command, program) = (format!("./{program}"), program.to_owned());
        Side { command, program, depends: None, mean: None }
    }

    fn ledger(of: &[(&str, &str, Outcome)]) -> Ledger {
        let mut ledger = Ledger::new(&crate::program::example());
        for (a, b, verdict) in of {
            let (number, j) = (ledger.next_number(), ledger.next_j());
            let mut entry = Entry::new(number, j, None, [side(a), side(b)]);
            (entry.verdict, entry.pairs) = (*verdict, 3);
            ledger.entries.push(entry);
        }
        ledger
    }

    #[test]
    fn a_kept_change_is_the_next_incumbent_and_begins_a_budget() {
        use Outcome::{Failed, Futile, Kept, Open, Undecided};
        let mut session = ledger(&[
            ("a", "b", Futile),
            ("a", "c", Kept),
            ("c", "d", Undecided),
            ("c", "e", Failed),
            ("c", "f", Open),
        ]);
        let js: Vec<u64> = session.entries.iter().map(|entry| entry.j).collect();
        assert_eq!((js, session.next_j()), (vec![1, 2, 1, 2, 3], 4));
        assert!(session.incumbent().unwrap().is(&side("c")));
        let of_incumbent = session.of_incumbent();
        assert_eq!(of_incumbent, [(5, "./c"), (4, "./c"), (3, "./c"), (2, "./c")]);
        // One that failed before there was a pair takes nothing of the budget.
        let open = session.take(5).unwrap();
        session.entries[3].pairs = 0;
        assert_eq!((open.j, session.next_j(), session.next_number()), (3, 2, 5));
        assert!(session.known([&side("a"), &side("b")]).is_some());
        assert!(session.known([&side("c"), &side("b")]).is_none());
    }

    #[test]
    fn an_incumbent_that_was_put_back_by_hand_has_no_runs_of_before() {
        use Outcome::{Futile, Kept};
        let session = ledger(&[("a", "b", Kept), ("b", "c", Futile), ("a", "d", Futile)]);
        assert_eq!(session.of_incumbent(), [(3, "./a")]);
        assert_eq!(session.next_j(), 3, "no budget begins by hand");
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("research.toml");
        assert_eq!(Ledger::read(&file).unwrap(), None);
        let mut session = ledger(&[("a", "b", Outcome::Kept), ("b", "c", Outcome::Futile)]);
        session.entries[0].effect = Some(-0.1 - 0.2);
        session.entries[0].interval = Some(FindingInterval::of([f64::NEG_INFINITY, 0.1], 0.95));
        session.entries[1].changed = vec!["x".to_owned()];
        std::fs::write(&file, session.to_toml()).unwrap();
        assert_eq!(Ledger::read(&file).unwrap(), Some(session.clone()));
        session.entries[1].j = 0;
        for (text, problem) in [
            (session.to_toml(), "judgement 2 is judgement 0 of its budget"),
            ("x = 1".to_owned(), "is no ledger of a session"),
            ("version = 2".to_owned(), "newer version"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = Ledger::read(&file).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
