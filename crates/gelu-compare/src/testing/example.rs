//! A comparison to test reports with: plausible curves, made without training.

use crate::comparison::statistics::Schedule;
use crate::extension::Extras;
use crate::measure::{Criterion, EpochMetrics, Measure, Unit};
use crate::runs::{Design, FigureSpec, RunKey, RunSnapshot, RunStatus, Snapshot, Stage};
use crate::setting::{Axis, AxisWords, Label, Role, Setting, Value};

const EPOCHS: usize = 12;

/// Returns two activations × two dropout rates × two learning rates × three seeds. The second learning rate is worse,
/// and one of its runs diverged.
pub fn example() -> Snapshot {
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
                            setting: setting(activation, learning_rate, dropout),
                            seed,
                            stage: Stage::Only,
                        },
                        name: format!(
                            "{activation} lr {learning_rate} dropout {dropout} seed {seed}"
                        ),
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
                        extras: Extras::default(),
                        progress: None,
                        seconds: 2.0 * length as f64,
                        provenance: Vec::new(),
                        warnings: Vec::new(),
                    });
                }
            }
        }
    }
    Snapshot {
        design: Design {
            title: "Built-in digits, 8×128 classifier".into(),
            measures: measures(),
            selection: "valid-loss".into(),
            seeds: 3,
            negligible: 0.001,
            epochs: Some(12),
            examples: "pictures".into(),
            figure: FigureSpec {
                name: "figure-2".into(),
                quantity: "loss".into(),
                axis: "log loss".into(),
                ..FigureSpec::default()
            },
            ..Design::new("digits", axes(), Measure::named("test-error"))
        },
        data: "digits".into(),
        data_location: None,
        synthetic: true,
        device: "flex".into(),
        criterion: Criterion {
            primary: "test-error".into(),
            negligible: 0.001,
            baseline: Setting::new([("activation", "gelu")]),
            comparisons: 2,
            no_worse: None,
            over: None,
            alpha: 0.05,
            schedule: Schedule::fixed(3),
            judgement: None,
        },
        choosing_seeds: 8,
        added_seeds: Vec::new(),
        later_measures: Vec::new(),
        test_examples: 1000,
        runs,
        warnings: Vec::new(),
    }
}

/// Returns the first 12 runs of the [`example`] before any training.
pub fn without_epochs() -> Snapshot {
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
    EpochMetrics::new(epoch)
        .with("learning_rate", learning_rate)
        .with("batch_loss", short(train * 1.2))
        .with("train_loss", short(train))
        .with("train_error", short(train / 4.0))
        .with("valid_loss", short(valid))
        .with("valid_error", short(valid / 4.0))
        .with("test_loss", short(valid * 1.05))
        .with("test_error", short(valid / 3.8))
}

/// Returns the setting of an activation, a learning rate and a dropout rate.
pub fn setting(activation: &str, rate: f64, dropout: f64) -> Setting {
    let values = [Value::from(activation), rate.into(), dropout.into()];
    Setting::new(["activation", "lr", "dropout"].into_iter().zip(values))
}

fn axes() -> Vec<Axis> {
    let words = |column: &'static str,
                 title: &'static str,
                 plural: &'static str,
                 short: &'static str,
                 by| {
        AxisWords {
            column: column.into(),
            title: title.into(),
            plural: plural.into(),
            short_plural: short.into(),
            label: Label::By(by),
        }
    };
    let name = |value: &Value| value.to_string().to_uppercase().replace("RELU", "ReLU");
    let rate = |value: &Value| format!("{:e}", value.as_number().unwrap_or(f64::NAN));
    vec![
        Axis::new("activation", Role::Compared, ["gelu", "relu"]).with_words(words(
            "activation",
            "activation",
            "activations",
            "activations",
            name,
        )),
        Axis::new("lr", Role::Tuned, [1e-3, 1e-4]).with_words(words(
            "learning_rate",
            "learning rate",
            "learning rates",
            "rates",
            rate,
        )),
        Axis::new("dropout", Role::Each, [0.0, 0.5]),
    ]
}

fn measures() -> Vec<Measure> {
    let of = |split: &str, quantity: &str| {
        let unit = if quantity == "error" { Unit::points() } else { Unit::own(4) };
        let words = format!("{split} {quantity}");
        Measure {
            name: format!("{split}-{quantity}"),
            words: words.replace("train ", "training "),
            unit,
            ..Measure::named(&format!("{split}_{quantity}"))
        }
    };
    let splits = ["train", "valid", "test"].into_iter();
    splits.flat_map(|split| [of(split, "loss"), of(split, "error")]).collect()
}
