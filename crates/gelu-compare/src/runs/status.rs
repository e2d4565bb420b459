use crate::names::number;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum RunStatus {
    /// Planned, not begun.
    Waiting,
    /// A living process works on the run.
    Running,
    /// Stopped before the last epoch; the same command continues from there.
    Interrupted,
    /// All epochs are done.
    Finished,
    /// The loss became infinite or NaN. This is a result, and the run ends there.
    Diverged {
        /// The epoch in which the loss diverged, from 1.
        epoch: usize,
    },
    /// The run failed for a reason outside the mathematics.
    Failed {
        /// The reason, in one line.
        reason: String,
    },
}

impl RunStatus {
    /// Returns whether nothing is left to train: the run finished or diverged.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Finished | Self::Diverged { .. })
    }

    /// Returns whether no process will continue the run by itself: the run is complete or failed.
    pub fn is_over(&self) -> bool {
        self.is_complete() || matches!(self, Self::Failed { .. })
    }

    /// Returns a word for tables and JSON: `waiting`, `running`, `interrupted`, `finished`, `diverged`, `failed`.
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

/// An upper limit in seconds: three hundred years.
const LONGEST_RUN: f64 = 1e10;

/// The content of `status.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusFile {
    /// The run's status.
    #[serde(flatten)]
    pub status: RunStatus,
    /// The seconds spent on the finished epochs, over all sessions.
    pub seconds: f64,
}

impl StatusFile {
    /// The status of a run that no process has begun.
    pub(super) const NEW: Self = Self { status: RunStatus::Waiting, seconds: 0.0 };

    /// Returns a description of an impossible value, if there is one.
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
