//! `reference.json` holds random results, with ties, diverged and missing runs, and what scipy makes
//! of them; `reference.py` beside it says how.

use gelu_experiments::comparison::Verdict;
use gelu_experiments::measure::{
    Criterion, EpochMetrics, Looks, LossKind, Primary, Reported, Selection,
};
use gelu_experiments::report::Document;
use gelu_experiments::runs::{ComparisonSnapshot, RunKey, RunSnapshot, RunStatus, Stage};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    negligible: f64,
    /// By activation, then by seed.
    values: Vec<Vec<Option<Value>>>,
    /// One for every activation but the first.
    expected: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Measured(f64),
    Diverged(#[allow(dead_code, reason = "there is one word")] String),
}

#[derive(Deserialize)]
struct Expected {
    runs: usize,
    mean: Option<f64>,
    interval: Option<[f64; 2]>,
    interval_95: Option<[f64; 2]>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    probability_better: Option<f64>,
    probability_better_interval: Option<[f64; 2]>,
    smallest_detectable: Option<f64>,
    variance_ratio: Option<f64>,
    verdict: Verdict,
}

fn name(activation: usize) -> String {
    format!("activation-{activation}")
}

fn run(activation: usize, seed: usize, value: Option<&Value>) -> RunSnapshot {
    let (status, epochs) = match value {
        Some(Value::Measured(error)) => (RunStatus::Finished, vec![epoch(*error)]),
        Some(Value::Diverged(_)) => (RunStatus::Diverged { epoch: 2 }, vec![epoch(0.9)]),
        // A run that is not complete may have measured something, which does not count.
        None if seed.is_multiple_of(2) => (RunStatus::Interrupted, vec![epoch(0.001)]),
        None => (RunStatus::Failed { reason: "gone".to_owned() }, Vec::new()),
    };
    RunSnapshot {
        key: RunKey {
            activation: name(activation),
            learning_rate: 1e-3,
            dropout: 0.0,
            seed: seed as u64,
            stage: Stage::Only,
        },
        planned: true,
        folder: String::new(),
        status,
        epochs,
        epochs_planned: 1,
        noise: Vec::new(),
        outcomes: None,
        progress: None,
        seconds: 1.0,
        provenance: Vec::new(),
        warnings: Vec::new(),
    }
}

fn epoch(error: f64) -> EpochMetrics {
    EpochMetrics {
        epoch: 1,
        learning_rate: 1e-3,
        batch_loss: 1.0,
        train_loss: 1.0,
        train_error: None,
        valid_loss: Some(1.0),
        valid_error: None,
        test_loss: Some(1.0),
        test_error: Some(error),
    }
}

fn snapshot(case: &Case) -> ComparisonSnapshot {
    let seeds = 0..case.values[0].len();
    let of_seed = |seed: usize| {
        let values = case.values.iter().enumerate();
        values.map(move |(index, values)| run(index, seed + 1, values[seed].as_ref()))
    };
    ComparisonSnapshot {
        experiment: "reference".to_owned(),
        title: "Reference".to_owned(),
        data: "none".to_owned(),
        data_location: None,
        synthetic: true,
        device: "flex".to_owned(),
        selection: Selection::ValidLoss,
        reported: Reported::LastEpoch,
        loss: LossKind::LogLoss,
        criterion: Criterion {
            primary: Primary::TestError,
            amplitudes: Vec::new(),
            negligible: case.negligible,
            baseline: name(0),
            comparisons: case.values.len() - 1,
            looks: Looks::once(case.values[0].len() as u64),
        },
        added_looks: Vec::new(),
        test_examples: 1000,
        cut_down: Vec::new(),
        figure: None,
        warnings: Vec::new(),
        runs: seeds.flat_map(of_seed).collect(),
    }
}

#[track_caller]
fn assert_close(what: &str, found: Option<f64>, expected: Option<f64>, tolerance: f64) {
    match (found, expected) {
        (Some(found), Some(expected)) => {
            let close = (found - expected).abs() <= tolerance * expected.abs().max(1e-3);
            assert!(close, "{what}: {found} beside {expected}");
        }
        _ => assert_eq!(found, expected, "{what}"),
    }
}

#[test]
fn differences_are_those_of_scipy() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("reference.json")).unwrap();
    let (mut compared, mut diverged) = (0, 0);
    for (index, case) in cases.iter().enumerate() {
        let document = Document::of(&snapshot(case));
        // A comparison without a single seed has no runs to tell its activations from.
        let expected = if case.values[0].is_empty() { &[][..] } else { &case.expected };
        assert_eq!(document.differences.len(), expected.len());
        for (found, expected) in document.differences.iter().zip(expected) {
            let what = |field: &str| format!("{field} of {} in case {index}", found.activation);
            let close = |field: &str, found, expected, tolerance| {
                assert_close(&what(field), found, expected, tolerance);
            };
            assert_eq!(found.found.runs, expected.runs, "{}", what("runs"));
            close("mean", found.found.mean, expected.mean, 1e-12);
            for (what, found, expected) in [
                ("interval", found.found.interval, expected.interval),
                ("interval_95", found.found.interval_95, expected.interval_95),
            ] {
                close(what, found.map(|i| i.low), expected.map(|i| i[0]), 1e-9);
                close(what, found.map(|i| i.high), expected.map(|i| i[1]), 1e-9);
            }
            close("p", found.found.p, expected.p, 1e-12);
            close("p_adjusted", found.found.p_adjusted, expected.p_adjusted, 1e-12);
            close("share", found.found.probability_better, expected.probability_better, 1e-12);
            close("variance_ratio", found.found.variance_ratio, expected.variance_ratio, 1e-9);
            if let Some(expected) = expected.smallest_detectable {
                close("detectable", found.found.smallest_detectable, Some(expected), 1e-6);
            }
            if let Some(expected) = expected.probability_better_interval {
                let found = found.found.probability_better_interval.unwrap();
                close("Wilson's low", Some(found[0]), Some(expected[0]), 1e-6);
                close("Wilson's high", Some(found[1]), Some(expected[1]), 1e-6);
            }
            assert_eq!(found.found.verdict, expected.verdict, "{}: {found:?}", what("verdict"));
            compared += 1;
            diverged += usize::from(found.found.diverged + found.found.baseline_diverged > 0);
        }
    }
    assert!(compared > 200 && diverged > 40, "{compared} compared, {diverged} with diverged runs");
}
