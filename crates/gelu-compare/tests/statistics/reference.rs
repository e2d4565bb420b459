//! `reference.json` holds random results, with ties, diverged and missing runs, and what scipy makes
//! of them; `reference.py` beside it says how.

use gelu_compare::comparison::{Contrast, Found, Rules, Verdict, Wording};
use gelu_compare::measure::{Looks, Measure, Unit};
use gelu_compare::report::FoundDocument;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    negligible: f64,
    /// By arm, then by seed.
    values: Vec<Vec<Option<Value>>>,
    /// One for every arm but the first.
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

/// What a run counts with: nothing where it is not complete.
fn cost(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Measured(error) => Some(*error),
        Value::Diverged(_) => Some(f64::INFINITY),
    }
}

/// Every arm beside the first.
fn judged(case: &Case) -> Vec<FoundDocument> {
    let seeds = case.values[0].len();
    // What was never planned for a seed is no comparison.
    let arms = if seeds == 0 { 0..0 } else { 1..case.values.len() };
    let rules = Rules {
        comparisons: case.values.len() - 1,
        looks: Looks::once(seeds as u64),
        negligible: case.negligible,
    };
    let wording = Wording::of(&Measure {
        words: "test error".to_owned(),
        unit: Unit::points(),
        ..Measure::named("test_error")
    });
    let found = |arm: usize| {
        let pair = |seed: usize| {
            let cost = |arm: usize| cost(case.values[arm][seed].as_ref());
            Some((1 + seed as u64, [cost(arm)?, cost(0)?]))
        };
        let found = Found {
            arm: format!("arm {arm}"),
            baseline: "arm 0".to_owned(),
            ruling: rules.rule(&Contrast { by_seed: (0..seeds).filter_map(pair).collect() }),
            rules: rules.clone(),
            outstanding: 0,
            outcomes: Vec::new(),
            without_outcomes: false,
            built_differently: false,
        };
        FoundDocument::of(&found, &wording)
    };
    arms.map(found).collect()
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
        let judged = judged(case);
        let expected = if case.values[0].is_empty() { &[][..] } else { &case.expected };
        assert_eq!(judged.len(), expected.len());
        for ((arm, found), expected) in (1..).zip(&judged).zip(expected) {
            let what = |field: &str| format!("{field} of arm {arm} in case {index}");
            let close = |field: &str, found, expected, tolerance| {
                assert_close(&what(field), found, expected, tolerance);
            };
            assert_eq!(found.runs, expected.runs, "{}", what("runs"));
            close("mean", found.mean, expected.mean, 1e-12);
            for (what, found, expected) in [
                ("interval", found.interval, expected.interval),
                ("interval_95", found.interval_95, expected.interval_95),
            ] {
                close(what, found.map(|i| i.low), expected.map(|i| i[0]), 1e-9);
                close(what, found.map(|i| i.high), expected.map(|i| i[1]), 1e-9);
            }
            close("p", found.p, expected.p, 1e-12);
            close("p_adjusted", found.p_adjusted, expected.p_adjusted, 1e-12);
            close("share", found.probability_better, expected.probability_better, 1e-12);
            close("variance_ratio", found.variance_ratio, expected.variance_ratio, 1e-9);
            if let Some(expected) = expected.smallest_detectable {
                close("detectable", found.smallest_detectable, Some(expected), 1e-6);
            }
            if let Some(expected) = expected.probability_better_interval {
                let found = found.probability_better_interval.unwrap();
                close("Wilson's low", Some(found[0]), Some(expected[0]), 1e-6);
                close("Wilson's high", Some(found[1]), Some(expected[1]), 1e-6);
            }
            assert_eq!(found.verdict, expected.verdict, "{}: {found:?}", what("verdict"));
            compared += 1;
            diverged += usize::from(found.diverged + found.baseline_diverged > 0);
        }
    }
    assert!(compared > 200 && diverged > 40, "{compared} compared, {diverged} with diverged runs");
}
