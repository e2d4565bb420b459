//! Tests of the plan of a recipe.

use crate::data::DataSource;
use crate::recipe::Recipe;
use crate::runs::Plan;
use gelu_compare::comparison::plan::{all, grid, includes, most_at_once, next};
use gelu_compare::measure::UntilDecided;
use gelu_compare::runs::RunSnapshot;
use gelu_compare::runs::{Recipe as _, RunKey, RunStatus, Snapshot, Spec, Stage};
use gelu_compare::testing::example;
use std::collections::HashSet;

fn plan(name: &str) -> Plan {
    let data = DataSource::new("some", None, true, [b"content"]);
    Plan::new(Recipe::named(name).unwrap(), data, "flex", "flex")
}

/// Returns a snapshot of a folder with these runs in these states.
fn on_disk(runs: impl IntoIterator<Item = (RunKey, RunStatus)>) -> Snapshot {
    let mut snapshot = example();
    let measured = snapshot.runs[0].clone();
    let run = |(key, status)| RunSnapshot { key, status, planned: true, ..measured.clone() };
    snapshot.runs = runs.into_iter().map(run).collect();
    snapshot
}

#[test]
fn every_combination_is_one_run_and_first_seeds_come_first() {
    let mut plan = plan("mnist-classifier");
    plan.recipe.comparison.seeds = 2;
    let keys = next(&plan, &on_disk([]));
    assert_eq!(keys.len(), 3 * 3 * 2 * 2);
    assert!(keys.iter().map(|key| key.seed).is_sorted());
    let first: Vec<String> = keys[..3].iter().map(|key| key.setting.text("activation")).collect();
    assert_eq!(first, ["gelu", "relu", "elu"]);
    let folders: HashSet<String> =
        keys.iter().map(|key| plan.spec(key).unwrap().folder_name()).collect();
    assert_eq!(folders.len(), keys.len());
}

#[test]
fn what_is_over_is_not_wanted_and_the_rest_is() {
    let plan = plan("digits");
    let grid = grid(&plan.recipe.design());
    let states = [
        RunStatus::Finished,
        RunStatus::Diverged { epoch: 2 },
        RunStatus::Failed { reason: "x".into() },
        RunStatus::Interrupted,
        RunStatus::Running,
    ];
    let disk = on_disk(grid.iter().cloned().zip(states));
    assert_eq!(next(&plan, &disk), grid[3..]);
    assert_eq!(most_at_once(&plan, &disk), grid.len() - 3);
    assert_eq!(all(&plan, &plan.recipe.design(), &disk), grid);
}

#[test]
fn the_same_setting_twice_is_one_run() {
    let mut plan = plan("digits");
    let activations = &mut plan.recipe.comparison.activations;
    activations.extend(activations.clone());
    let keys = next(&plan, &on_disk([]));
    assert_eq!(keys.len(), 3 * plan.recipe.comparison.seeds as usize);
}

#[test]
fn runs_beside_the_plan_are_shown_and_finished_and_nothing_else_where_nothing_is_planned() {
    let mut plan = plan("digits");
    plan.planned = false;
    let mut key = grid(&plan.recipe.design()).remove(0);
    key.seed = 77;
    let begun = on_disk([(key.clone(), RunStatus::Interrupted)]);
    assert_eq!(next(&plan, &begun), [key.clone()]);
    let done = on_disk([(key.clone(), RunStatus::Finished)]);
    assert_eq!(next(&plan, &done), []);
    plan.planned = true;
    let keys = all(&plan, &plan.recipe.design(), &done);
    assert_eq!((keys.len(), keys.last()), (grid(&plan.recipe.design()).len() + 1, Some(&key)));
}

#[test]
fn the_plan_has_its_settings_and_its_seeds_up_to_the_last_look() {
    let mut plan = plan("digits");
    let key = grid(&plan.recipe.design()).pop().unwrap();
    let seeds = plan.recipe.comparison.seeds;
    let included = |plan: &Plan, change: &dyn Fn(&mut RunKey)| {
        let mut key = key.clone();
        change(&mut key);
        includes(plan, &plan.recipe.design(), &key)
    };
    assert!(included(&plan, &|_| ()));
    assert!(!included(&plan, &|key| key.setting.set("lr", 0.5)));
    assert!(!included(&plan, &|key| key.setting.set("dropout", 0.77)));
    assert!(!included(&plan, &|key| key.setting.set("activation", "mish")));
    assert!(!included(&plan, &|key| key.stage = Stage::Tuning));
    assert!(!included(&plan, &|key| key.seed = seeds + 1));
    plan.add_seeds(seeds + 1, "today");
    assert!(included(&plan, &|key| key.seed = seeds + 1));
    plan.planned = false;
    assert!(!included(&plan, &|_| ()));
}

#[test]
fn further_seeds_follow_while_a_comparison_is_open() {
    let mut plan = plan("digits");
    let varied = &mut plan.recipe.comparison;
    varied.activations.truncate(2);
    varied.until_decided = Some(UntilDecided { max_seeds: 15 });
    let first = grid(&plan.recipe.design());
    assert_eq!(first.len(), 2 * 8);
    // Runs without a difference decide nothing, and more of them would not help; alternating differences leave the
    // comparison open.
    let finished =
        |keys: &[RunKey]| on_disk(keys.iter().cloned().map(|key| (key, RunStatus::Finished)));
    let decide = |disk: &mut Snapshot| {
        disk.criterion = plan.criterion();
    };
    let mut same = finished(&first);
    decide(&mut same);
    assert_eq!(next(&plan, &same), []);
    let mut open = finished(&first);
    decide(&mut open);
    for run in open.runs.iter_mut().filter(|run| run.key.setting.text("activation") == "relu") {
        let shift = if run.key.seed.is_multiple_of(2) { 0.01 } else { -0.01 };
        let last = run.epochs.last_mut().unwrap();
        let error = last.get("test_error").map(|error| error + shift);
        last.set("test_error", error);
    }
    let further = next(&plan, &open);
    let seeds: Vec<(String, u64)> =
        further.iter().map(|key| (key.setting.text("activation"), key.seed)).collect();
    let of_seed = |seed| ["gelu", "relu"].map(|name| (name.to_owned(), seed));
    assert_eq!(seeds, of_seed(9));
    // One of the two new runs is finished. Until the other is, nothing else is planned.
    open.runs.extend(finished(&further[..1]).runs);
    assert_eq!(next(&plan, &open), further[1..]);
    assert_eq!(most_at_once(&plan, &open), usize::MAX);
    open.runs.extend(finished(&further[1..]).runs);
    for seed in 10..=15 {
        let further = next(&plan, &open);
        assert!(further.iter().all(|key| key.seed == seed) && further.len() == 2, "{further:?}");
        open.runs.extend(finished(&further).runs);
    }
    assert_eq!(next(&plan, &open), [], "15 seeds are the most");
    assert_eq!(most_at_once(&plan, &open), 0);
}

#[test]
fn final_runs_follow_when_the_last_tuning_run_is_complete() {
    let plan = plan("cifar10-cnn");
    let tuning = grid(&plan.recipe.design());
    assert!(tuning.iter().all(|key| key.stage == Stage::Tuning));
    let last = tuning.len() - 1;
    let complete = |count: usize| {
        on_disk(tuning[..count].iter().cloned().map(|key| (key, RunStatus::Finished)))
    };
    assert_eq!(next(&plan, &complete(last)), tuning[last..]);
    assert_eq!(most_at_once(&plan, &complete(last)), usize::MAX);
    let finals = next(&plan, &complete(last + 1));
    let varied = &plan.recipe.comparison;
    let expected = varied.activations.len() * varied.dropout.len() * varied.seeds as usize;
    assert_eq!(finals.len(), expected);
    assert!(finals.iter().all(|key| key.stage == Stage::Final));
    let mut disk = complete(last + 1);
    disk.runs.extend(on_disk([(finals[0].clone(), RunStatus::Finished)]).runs);
    assert_eq!(next(&plan, &disk), finals[1..]);
}
