//! A judgement of a session, as its ledger stores it.

use crate::comparison::statistics::session::{Judgement, is_judgement, level};
use crate::comparison::{Finding, FindingInterval};
use crate::program::ProgramRecipe;
use crate::runs::{RunSnapshot, RunStatus, Snapshot};
use crate::setting::Setting;
use serde::{Deserialize, Serialize};

/// A judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// The judgement's number in the session, which names its folder.
    pub(super) number: u64,
    /// When the judgement began, in UTC.
    pub(super) began: String,
    /// The description of the change, from `--note`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// Other differences from the previous judgement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<String>,
    /// The judgement's number in the budget.
    pub(super) j: u64,
    /// The judgement's level.
    pub(super) level: f64,
    pub(super) verdict: Outcome,
    /// The number of pairs of complete runs.
    pub(super) pairs: u64,
    /// The number of runs of the incumbent from earlier judgements.
    pub(super) reused: u64,
    /// The seconds that the other runs took.
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
    /// The command, as typed.
    pub(super) command: String,
    /// The digest of the command's words and the contents of its files.
    pub(super) program: String,
    /// The digest of the files of `--depends`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depends: Option<String>,
    /// The mean of the program's scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mean: Option<f64>,
}

impl Side {
    /// Returns whether both sides have the same program and dependencies, so that their runs are interchangeable.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.program, &self.depends) == (&other.program, &other.depends)
    }
}

/// The outcome of a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// The change is an improvement.
    Kept,
    /// The judgement was given up early, because an improvement is unlikely.
    Futile,
    /// All planned pairs were run, and they show no improvement.
    Undecided,
    /// A run failed.
    Failed,
    /// The judgement has not ended.
    Open,
}

impl Outcome {
    /// Returns the exit code for the outcome, or `None` while the judgement is open.
    pub(super) fn exit_code(self) -> Option<u8> {
        Some(match self {
            Self::Kept => 0,
            Self::Futile => 13,
            Self::Undecided => 12,
            Self::Failed => 1,
            Self::Open => return None,
        })
    }

    /// Returns the words for tables.
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
    /// Creates judgement `j` of a budget, which begins now.
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

    /// Records the outcome.
    pub(super) fn record(&mut self, snapshot: &Snapshot, finding: Option<&Finding>) {
        let of_incumbent =
            |setting: &Setting| setting.text(ProgramRecipe::COMMAND) == self.incumbent.command;
        let was_run =
            |run: &&RunSnapshot| !(of_incumbent(&run.key.setting) && run.key.seed <= self.reused);
        self.seconds = snapshot.runs.iter().filter(was_run).map(|run| run.seconds).sum();
        let failed = |run: &RunSnapshot| matches!(run.status, RunStatus::Failed { .. });
        let has_failed = snapshot.runs.iter().any(failed);
        let Some(finding) = finding else {
            self.verdict = if has_failed { Outcome::Failed } else { Outcome::Open };
            return;
        };
        self.pairs = finding.seeds as u64;
        self.verdict = match finding.judgement {
            _ if has_failed => Outcome::Failed,
            Some(Judgement::Improvement(_)) => Outcome::Kept,
            Some(Judgement::GivenUp(_)) if finding.is_constant && finding.mean != Some(0.0) => {
                Outcome::Undecided
            }
            Some(Judgement::GivenUp(after)) if after as u64 >= finding.planned_seeds => {
                Outcome::Undecided
            }
            Some(Judgement::GivenUp(_)) => Outcome::Futile,
            Some(Judgement::Open) | None => Outcome::Open,
        };
        self.effect = finding.mean;
        self.interval = finding.interval;
        self.change.mean = finding.scores.map(|scores| scores.mean);
        self.incumbent.mean = finding.baseline_scores.map(|scores| scores.mean);
        self.sentence = Some(finding.sentence.clone()).filter(|_| self.verdict != Outcome::Open);
    }

    /// Returns whether the numbers of the judgement are possible.
    pub(super) fn is_possible(&self) -> bool {
        is_judgement(self.j) && self.number > 0
    }

    /// Returns whether the judgement uses its share of the budget. It does, unless it failed before the first pair.
    pub(super) fn counts(&self) -> bool {
        self.verdict != Outcome::Failed || self.pairs > 0
    }
}
