use super::*;
use gelu_compare::comparison::statistics::Schedule;
use gelu_compare::comparison::{Verdict, differences};
use gelu_compare::extension::{Extras, extend};
use gelu_compare::runs::RunStatus;
use gelu_compare::testing::example;

/// Returns runs of GELU and ReLU at `seeds` seeds each; `shift` is the excess of ReLU's test error at a seed.
fn two(seeds: u64, shift: impl Fn(u64) -> f64) -> Snapshot {
    extend(&[&Networks]);
    let mut snapshot = example();
    let pattern = snapshot.runs[0].clone();
    snapshot.criterion.comparisons = 1;
    snapshot.criterion.schedule = Schedule::fixed(seeds);
    snapshot.runs.clear();
    for seed in 1..=seeds {
        for activation in ["gelu", "relu"] {
            let mut run = pattern.clone();
            run.key.seed = seed;
            run.key.setting.set("activation", activation);
            let worse = if activation == "relu" { shift(seed) } else { 0.0 };
            let error = 0.02 + 1e-4 * (seed % 5) as f64 + worse;
            run.epochs.last_mut().unwrap().set("test_error", error);
            snapshot.runs.push(run);
        }
    }
    snapshot
}

fn with(run: &mut RunSnapshot, read: ReadRun) {
    run.extras = Extras::default().with(read);
}

#[test]
fn under_noise_the_mean_over_all_declared_amplitudes_is_compared() {
    let mut snapshot = two(8, |_| 0.0);
    snapshot.criterion.primary = "noisy-test-error".to_owned();
    snapshot.design.extra.insert(AMPLITUDES.to_owned(), serde_json::json!([1.0, 2.0]));
    snapshot.design.measures.push(Measure {
        name: "noisy-test-error".to_owned(),
        of_run: true,
        ..Measure::named("noisy_test_error")
    });
    for run in &mut snapshot.runs {
        let worse = if run.key.setting.text("activation") == "relu" { 0.02 } else { 0.0 };
        let seed = if worse == 0.0 { 0.0 } else { 1e-4 * (run.key.seed as f64 - 4.5) };
        let at = |amplitude: f64, error| NoiseMetrics {
            amplitude,
            test_loss: 1.0,
            test_error: Some(error),
        };
        let error = 0.3 + worse + seed;
        let noise = vec![at(0.0, error), at(1.0, 0.1), at(2.0, error)];
        with(run, ReadRun { noise, ..ReadRun::default() });
    }
    let found = &differences(&snapshot)[0].finding;
    assert!((found.mean.unwrap() - 0.01).abs() < 1e-12, "{found:?}");
    assert_eq!(found.verdict, Verdict::Worse);
    let document = gelu_compare::report::Document::of(&snapshot).to_json();
    assert!(document.contains("\"noisy_test_error\"") && document.contains("\"noise\""));
    let read = snapshot.runs[0].extras.get::<ReadRun>().unwrap();
    let noise = read.noise[..2].to_vec();
    with(&mut snapshot.runs[0], ReadRun { noise, ..ReadRun::default() });
    assert_eq!(differences(&snapshot)[0].finding.seeds, 7, "seed 1 lacks an amplitude");
    snapshot.runs[0].status = RunStatus::Diverged { epoch: 3 };
    let found = &differences(&snapshot)[0].finding;
    assert_eq!((found.seeds, found.diverged + found.baseline_diverged), (8, 1));
}

#[test]
fn a_difference_has_an_interval_for_new_examples() {
    let mut snapshot = two(8, |seed| 0.002 + 1e-3 * (seed % 3) as f64);
    snapshot.design.examples = "words".to_owned();
    for run in &mut snapshot.runs {
        let error = run.epochs.last().unwrap().get("test_error").unwrap();
        let wrong = (0..1000).map(|i| (i as f64 + 0.5) < 1000.0 * error).collect();
        let outcomes = Outcomes::of_errors(12, TestGroups::singles(1000), wrong);
        with(run, ReadRun { outcomes: Some(outcomes), ..ReadRun::default() });
    }
    let found = &differences(&snapshot)[0].finding;
    let wider = found.wider_interval.as_ref().unwrap();
    let [low, high] = found.interval.unwrap().ends();
    assert!(wider.low <= low && high <= wider.high, "{found:?}");
    assert_eq!(wider.of, "new words");
    let doubt = "on these 1,000 words; with a new test set the difference could be zero";
    assert_eq!(wider.doubt, doubt);
    let said = if wider.low <= 0.0 { doubt } else { "on new words" };
    assert!(found.sentence.contains(said), "{}", found.sentence);
}

#[test]
fn where_runs_saved_no_outcomes_a_reason_is_given() {
    let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
    let reason = |snapshot: &Snapshot| differences(snapshot)[0].finding.no_wider_interval.clone();
    assert_eq!(
        reason(&snapshot).unwrap(),
        "There is no interval for new test examples: runs have not saved what they made of each."
    );
    // No reason is given if the metric is not one of test examples.
    snapshot.criterion.primary = "train-loss".to_owned();
    assert_eq!(reason(&snapshot), None);
    snapshot.criterion.primary = "test-error".to_owned();
    snapshot.test_examples = 0;
    assert_eq!(reason(&snapshot), None);
}

#[test]
fn thousands_are_told_apart() {
    assert_eq!([1, 999, 7152, 1_000_000].map(in_thousands), ["1", "999", "7,152", "1,000,000"]);
}
