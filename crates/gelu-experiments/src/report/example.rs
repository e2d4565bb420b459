//! A comparison to test reports on: plausible curves, made without training.

use crate::measure::{Criterion, EpochMetrics, Looks, LossKind, Primary, Reported};
use crate::recipe::Recipe;
use crate::runs::{ComparisonSnapshot, RunKey, RunSnapshot, RunStatus, Stage};

const EPOCHS: usize = 12;

/// Two activations × two dropout rates × two learning rates × three seeds; the second learning
/// rate is worse, and one of its runs diverged.
pub(crate) fn example() -> ComparisonSnapshot {
    let mut runs = Vec::new();
    for seed in 1..=3u64 {
        for dropout in [0.0, 0.5] {
            for learning_rate in [1e-3, 1e-4] {
                for (index, activation) in ["gelu", "relu"].into_iter().enumerate() {
                    let slow = if learning_rate < 5e-4 { 2.0 } else { 1.0 };
                    let level =
                        0.05 * slow + 0.01 * index as f64 + 0.1 * dropout + 0.002 * seed as f64;
                    let diverges = slow > 1.0 && seed == 3 && index == 1;
                    let length = if diverges { 4 } else { EPOCHS };
                    runs.push(RunSnapshot {
                        key: RunKey {
                            activation: activation.into(),
                            learning_rate,
                            dropout,
                            seed,
                            stage: Stage::Only,
                        },
                        planned: true,
                        folder: format!(
                            "{activation}-lr{learning_rate}-dropout{dropout}-seed{seed}"
                        ),
                        status: match diverges {
                            true => RunStatus::Diverged { epoch: 5 },
                            false => RunStatus::Finished,
                        },
                        epochs: (1..=length).map(|e| epoch(e, level, learning_rate)).collect(),
                        epochs_planned: EPOCHS,
                        noise: Vec::new(),
                        outcomes: None,
                        progress: None,
                        seconds: 2.0 * length as f64,
                        provenance: Vec::new(),
                        warnings: Vec::new(),
                    });
                }
            }
        }
    }
    let figure = Recipe::named("mnist-classifier").expect("it is built in").figure;
    ComparisonSnapshot {
        experiment: "digits".into(),
        title: "Built-in digits, 8×128 classifier".into(),
        data: "digits".into(),
        data_location: None,
        synthetic: true,
        device: "flex".into(),
        selection: crate::measure::Selection::ValidLoss,
        reported: Reported::LastEpoch,
        loss: LossKind::LogLoss,
        criterion: Criterion {
            primary: Primary::TestError,
            amplitudes: Vec::new(),
            negligible: 0.001,
            baseline: "gelu".into(),
            comparisons: 2,
            looks: Looks::once(3),
        },
        added_looks: Vec::new(),
        test_examples: 1000,
        cut_down: Vec::new(),
        figure,
        runs,
        warnings: Vec::new(),
    }
}

/// The same before anything was trained.
pub(crate) fn without_epochs() -> ComparisonSnapshot {
    let mut snapshot = example();
    snapshot.runs.truncate(12);
    for run in &mut snapshot.runs {
        run.epochs.clear();
        run.status = RunStatus::Waiting;
    }
    snapshot
}

fn epoch(epoch: usize, level: f64, learning_rate: f64) -> EpochMetrics {
    let decay = (-(epoch as f64) / 3.0).exp();
    // Multiples of 2^-16 have few decimals, which survive JSON exactly.
    let short = |value: f64| (value * 65_536.0).round() / 65_536.0;
    let train = level * 0.5 + 0.6 * decay;
    let valid = level + 0.55 * decay + 0.001 * epoch as f64;
    EpochMetrics {
        epoch,
        learning_rate,
        batch_loss: short(train * 1.2),
        train_loss: short(train),
        train_error: Some(short(train / 4.0)),
        valid_loss: Some(short(valid)),
        valid_error: Some(short(valid / 4.0)),
        test_loss: Some(short(valid * 1.05)),
        test_error: Some(short(valid / 3.8)),
    }
}
