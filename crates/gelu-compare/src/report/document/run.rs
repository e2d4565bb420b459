//! A run in the JSON document.

use crate::comparison::reported_epoch;
use crate::extension::extensions;
use crate::measure::EpochMetrics;
use crate::runs::{RunSnapshot, RunStatus, Snapshot, Stage};
use crate::setting::{Setting, Value};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunDocument {
    /// One entry per axis: `"activation": "gelu", "learning_rate": 0.001`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub setting: Setting,
    /// The seed.
    pub seed: u64,
    /// The purpose of the run.
    pub stage: Stage,
    /// The run's folder within the comparison's: `runs/gelu-seed1-0123abcd`. It contains metrics, a log and, once the
    /// run is finished, the trained network `model.bpk`.
    pub folder: String,
    /// Whether the run is in the plan. Other runs change no verdict and no choice.
    pub planned: bool,
    /// `waiting`, `running`, `interrupted`, `finished`, `diverged` or `failed`.
    pub status: String,
    /// The reason for a failure; null otherwise.
    pub reason: Option<String>,
    /// The epoch in which the run diverged; null otherwise.
    pub diverged_in_epoch: Option<usize>,
    /// The backends and instructions of the run's epochs, such as `flex with avx512`. If there are two, training
    /// continued on another machine and cannot be repeated bit for bit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arithmetics: Vec<String>,
    /// The epoch that provides the results: the last finished epoch, or the best by the selection; null before there
    /// is one.
    pub reported_epoch: Option<usize>,
    /// The finished epochs.
    pub epochs: Vec<EpochMetrics>,
    /// Further fields, such as `noise`: the results of a network under noise.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub extra: Map<String, Json>,
    /// The run's name for messages.
    #[serde(skip)]
    pub name: String,
}

impl RunDocument {
    pub(super) fn of(snapshot: &Snapshot, run: &RunSnapshot) -> Self {
        let (reason, diverged_in_epoch) = match &run.status {
            RunStatus::Failed { reason } => (Some(reason.clone()), None),
            RunStatus::Diverged { epoch } => (None, Some(*epoch)),
            _ => (None, None),
        };
        Self {
            setting: run.key.setting.in_columns(&snapshot.design.axes),
            seed: run.key.seed,
            stage: run.key.stage,
            folder: format!("runs/{}", run.folder),
            planned: run.planned,
            status: run.status.word().to_owned(),
            reason,
            diverged_in_epoch,
            arithmetics: run.arithmetics(),
            reported_epoch: reported_epoch(snapshot, run).map(|epoch| epoch.epoch),
            epochs: run.epochs.to_vec(),
            extra: extensions().iter().flat_map(|by| by.run_document(run)).collect(),
            name: run.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Reported;
    use crate::testing::{example, without_epochs};

    #[test]
    fn every_run_says_which_epoch_counts() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.epochs[2].set("valid_loss", 0.001);
        }
        let reported =
            |snapshot: &Snapshot| RunDocument::of(snapshot, &snapshot.runs[0]).reported_epoch;
        assert_eq!(reported(&snapshot), Some(12));
        snapshot.design.reported = Reported::BestEpoch;
        assert_eq!(reported(&snapshot), Some(3));
        assert_eq!(reported(&without_epochs()), None);
    }
}
