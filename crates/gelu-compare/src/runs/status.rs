use crate::names::number;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum RunStatus {
    /// Planned; nothing was trained yet.
    Waiting,
    /// A living process works on it.
    Running,
    /// Stopped before its last epoch; the same command goes on from there.
    Interrupted,
    /// All epochs are done.
    Finished,
    /// The loss became infinite or NaN: a result, and the run ends there.
    Diverged {
        /// The epoch in which it did, from 1.
        epoch: usize,
    },
    /// Something outside the mathematics went wrong.
    Failed {
        /// What, in one line.
        reason: String,
    },
}

impl RunStatus {
    /// Whether nothing is left to train: finished or diverged.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Finished | Self::Diverged { .. })
    }

    /// Whether no process will go on with it by itself: complete, or failed.
    pub fn is_over(&self) -> bool {
        self.is_complete() || matches!(self, Self::Failed { .. })
    }

    /// One word for tables and JSON: `waiting`, `running`, `interrupted`, `finished`, `diverged`,
    /// `failed`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Finished => "finished",
            Self::Diverged { .. } => "diverged",
            Self::Failed { .. } => "failed",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { epoch } => write!(f, "diverged in epoch {epoch}"),
            Self::Failed { reason } => write!(f, "failed: {reason}"),
            other => f.write_str(other.word()),
        }
    }
}

/// In seconds, three hundred years.
const LONGEST_RUN: f64 = 1e10;

/// What `status.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusFile {
    /// Where the run stands.
    #[serde(flatten)]
    pub status: RunStatus,
    /// Seconds spent on its finished epochs, over all sessions.
    pub seconds: f64,
}

impl StatusFile {
    /// That of a run that nobody has begun.
    pub(super) const NEW: Self = Self { status: RunStatus::Waiting, seconds: 0.0 };

    /// What of it cannot be, if anything.
    pub(super) fn impossible(&self) -> Option<String> {
        match self.status {
            RunStatus::Diverged { epoch: 0 } => {
                Some("the run diverged in epoch 0; epochs are counted from 1".to_owned())
            }
            _ if !(0.0..=LONGEST_RUN).contains(&self.seconds) => {
                Some(format!("no run takes {} seconds", number(self.seconds)))
            }
            _ => None,
        }
    }
}
