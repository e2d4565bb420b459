//! Tests of the plan of a recipe.

use crate::data::DataSource;
use crate::recipe::Recipe;
use crate::runs::Comparison;
use gelu_compare::comparison::plan::{all, grid, includes, most_at_once, next};
use gelu_compare::measure::UntilDecided;
use gelu_compare::runs::RunSnapshot;
use gelu_compare::runs::{ComparisonSnapshot, Experiment, RunKey, RunStatus, Spec, Stage};
use gelu_compare::testing::example;
use std::collections::HashSet;

fn comparison(name: &str) -> Comparison {
    let data = DataSource::new("some", None, true, [b"content"]);
    Comparison::new(Recipe::named(name).unwrap(), data, "flex", "flex")
}

/// Returns a snapshot of a folder with these runs in these states.
fn on_disk(runs: impl IntoIterator<Item = (RunKey, RunStatus)>) -> ComparisonSnapshot {
    let mut snapshot = example();
    let measured = snapshot.runs[0].clone();
    let run = |(key, status)| RunSnapshot { key, status, planned: true, ..measured.clone() };
    snapshot.runs = runs.into_iter().map(run).collect();
    snapshot
}

#[test]
fn every_combination_is_one_run_and_first_seeds_come_first() {
    let mut comparison = comparison("mnist-classifier");
    comparison.recipe.comparison.seeds = 2;
    let keys = next(&comparison, &on_disk([]));
    assert_eq!(keys.len(), 3 * 3 * 2 * 2);
    assert!(keys.iter().map(|key| key.seed).is_sorted());
    let first: Vec<String> = keys[..3].iter().map(|key| key.setting.text("activation")).collect();
    assert_eq!(first, ["gelu", "relu", "elu"]);
    let folders: HashSet<String> =
        keys.iter().map(|key| comparison.spec(key).unwrap().folder_name()).collect();
    assert_eq!(folders.len(), keys.len());
}

#[test]
fn what_is_over_is_not_wanted_and_the_rest_is() {
    let comparison = comparison("digits");
    let grid = grid(&comparison.recipe.design());
    let states = [
        RunStatus::Finished,
        RunStatus::Diverged { epoch: 2 },
        RunStatus::Failed { reason: "x".into() },
        RunStatus::Interrupted,
        RunStatus::Running,
    ];
    let disk = on_disk(grid.iter().cloned().zip(states));
    assert_eq!(next(&comparison, &disk), grid[3..]);
    assert_eq!(most_at_once(&comparison, &disk), grid.len() - 3);
    assert_eq!(all(&comparison, &comparison.recipe.design(), &disk), grid);
}

#[test]
fn the_same_setting_twice_is_one_run() {
    let mut comparison = comparison("digits");
    let activations = &mut comparison.recipe.comparison.activations;
    activations.extend(activations.clone());
    let keys = next(&comparison, &on_disk([]));
    assert_eq!(keys.len(), 3 * comparison.recipe.comparison.seeds as usize);
}

#[test]
fn runs_beside_the_plan_are_shown_and_finished_and_nothing_else_where_nothing_is_planned() {
    let mut comparison = comparison("digits");
    comparison.planned = false;
    let mut key = grid(&comparison.recipe.design()).remove(0);
    key.seed = 77;
    let begun = on_disk([(key.clone(), RunStatus::Interrupted)]);
    assert_eq!(next(&comparison, &begun), [key.clone()]);
    let done = on_disk([(key.clone(), RunStatus::Finished)]);
    assert_eq!(next(&comparison, &done), []);
    comparison.planned = true;
    let keys = all(&comparison, &comparison.recipe.design(), &done);
    assert_eq!(
        (keys.len(), keys.last()),
        (grid(&comparison.recipe.design()).len() + 1, Some(&key))
    );
}

#[test]
fn the_plan_has_its_settings_and_its_seeds_up_to_the_last_look() {
    let mut comparison = comparison("digits");
    let key = grid(&comparison.recipe.design()).pop().unwrap();
    let seeds = comparison.recipe.comparison.seeds;
    let included = |comparison: &Comparison, change: &dyn Fn(&mut RunKey)| {
        let mut key = key.clone();
        change(&mut key);
        includes(comparison, &comparison.recipe.design(), &key)
    };
    assert!(included(&comparison, &|_| ()));
    assert!(!included(&comparison, &|key| key.setting.set("lr", 0.5)));
    assert!(!included(&comparison, &|key| key.setting.set("dropout", 0.77)));
    assert!(!included(&comparison, &|key| key.setting.set("activation", "mish")));
    assert!(!included(&comparison, &|key| key.stage = Stage::Tuning));
    assert!(!included(&comparison, &|key| key.seed = seeds + 1));
    comparison.add_seeds(seeds + 1, "today");
    assert!(included(&comparison, &|key| key.seed = seeds + 1));
    comparison.planned = false;
    assert!(!included(&comparison, &|_| ()));
}

#[test]
fn further_seeds_follow_while_a_comparison_is_open() {
    let mut comparison = comparison("digits");
    let varied = &mut comparison.recipe.comparison;
    varied.activations.truncate(2);
    varied.until_decided = Some(UntilDecided { max_seeds: 15 });
    let first = grid(&comparison.recipe.design());
    assert_eq!(first.len(), 2 * 8);
    // Runs without a difference decide nothing, and more of them would not help; alternating differences leave the
    // comparison open.
    let finished =
        |keys: &[RunKey]| on_disk(keys.iter().cloned().map(|key| (key, RunStatus::Finished)));
    let decide = |disk: &mut ComparisonSnapshot| {
        disk.criterion = comparison.criterion();
    };
    let mut same = finished(&first);
    decide(&mut same);
    assert_eq!(next(&comparison, &same), []);
    let mut open = finished(&first);
    decide(&mut open);
    for run in open.runs.iter_mut().filter(|run| run.key.setting.text("activation") == "relu") {
        let shift = if run.key.seed.is_multiple_of(2) { 0.01 } else { -0.01 };
        let last = run.epochs.last_mut().unwrap();
        let error = last.get("test_error").map(|error| error + shift);
        last.set("test_error", error);
    }
    let further = next(&comparison, &open);
    let seeds: Vec<(String, u64)> =
        further.iter().map(|key| (key.setting.text("activation"), key.seed)).collect();
    let of_seed = |seed| ["gelu", "relu"].map(|name| (name.to_owned(), seed));
    assert_eq!(seeds, of_seed(9));
    // One of the two new runs is finished. Until the other is, nothing else is planned.
    open.runs.extend(finished(&further[..1]).runs);
    assert_eq!(next(&comparison, &open), further[1..]);
    assert_eq!(most_at_once(&comparison, &open), usize::MAX);
    open.runs.extend(finished(&further[1..]).runs);
    for seed in 10..=15 {
        let further = next(&comparison, &open);
        assert!(further.iter().all(|key| key.seed == seed) && further.len() == 2, "{further:?}");
        open.runs.extend(finished(&further).runs);
    }
    assert_eq!(next(&comparison, &open), [], "15 seeds are the most");
    assert_eq!(most_at_once(&comparison, &open), 0);
}

#[test]
fn final_runs_follow_when_the_last_tuning_run_is_complete() {
    let comparison = comparison("cifar10-cnn");
    let tuning = grid(&comparison.recipe.design());
    assert!(tuning.iter().all(|key| key.stage == Stage::Tuning));
    let last = tuning.len() - 1;
    let complete = |count: usize| {
        on_disk(tuning[..count].iter().cloned().map(|key| (key, RunStatus::Finished)))
    };
    assert_eq!(next(&comparison, &complete(last)), tuning[last..]);
    assert_eq!(most_at_once(&comparison, &complete(last)), usize::MAX);
    let finals = next(&comparison, &complete(last + 1));
    let varied = &comparison.recipe.comparison;
    let expected = varied.activations.len() * varied.dropout.len() * varied.seeds as usize;
    assert_eq!(finals.len(), expected);
    assert!(finals.iter().all(|key| key.stage == Stage::Final));
    let mut disk = complete(last + 1);
    disk.runs.extend(on_disk([(finals[0].clone(), RunStatus::Finished)]).runs);
    assert_eq!(next(&comparison, &disk), finals[1..]);
}
