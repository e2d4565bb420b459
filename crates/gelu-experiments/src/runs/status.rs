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
