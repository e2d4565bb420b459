//! What is to be trained: a pure function of the recipe and of what is on disk. Whoever computes it
//! comes to the same runs, so nobody has to be the master.

use super::{FurtherSeeds, best_groups, further_seeds};
use crate::recipe::Recipe;
use crate::runs::{Comparison, ComparisonSnapshot, RunId, RunKey, RunStatus, Stage};
use std::collections::{HashMap, HashSet};

/// The runs still wanted, in the order they should be trained: the grid; the final runs once tuning
/// is complete; further seeds while verdicts are open; runs that were begun beside the plan. Failed
/// ones are not wanted until somebody takes them up again.
pub fn next(comparison: &Comparison, snapshot: &ComparisonSnapshot) -> Vec<RunKey> {
    let status: HashMap<RunId, &RunStatus> =
        snapshot.runs.iter().map(|run| (run.key.id(), &run.status)).collect();
    let wanted = |key: &RunKey| status.get(&key.id()).is_none_or(|status| !status.is_over());
    all(comparison, snapshot).into_iter().filter(wanted).collect()
}

/// Whether a run is one of the plan: one of its settings, with a seed up to the last look. What
/// else is on disk is shown and finished, and judged by nothing.
pub fn includes(comparison: &Comparison, key: &RunKey) -> bool {
    let varied = &comparison.recipe.comparison;
    let seeds = match (key.stage, varied.retrain) {
        (Stage::Tuning, Some(retrain)) => retrain.tuning_seeds,
        (Stage::Final, Some(_)) | (Stage::Only, None) => comparison.looks().last().seeds,
        _ => 0,
    };
    comparison.planned
        && key.seed <= seeds
        && varied.learning_rates.contains(&key.learning_rate)
        && varied.dropout.contains(&key.dropout)
        && varied.activations.iter().any(|activation| activation.to_string() == key.activation)
}

/// How many runs can be under way at the same time from now to the end: no more than are wanted now,
/// unless more will be as these end, the final ones after tuning or the seeds of a further look.
pub fn most_at_once(comparison: &Comparison, snapshot: &ComparisonSnapshot) -> usize {
    let varied = &comparison.recipe.comparison;
    let grows = varied.retrain.is_some() || comparison.looks().iter().count() > 1;
    match next(comparison, snapshot).len() {
        wanted if wanted > 0 && comparison.planned && grows => usize::MAX,
        wanted => wanted,
    }
}

/// Every run that the comparison consists of, as far as that can be said now, each once: what is
/// planned, then what is on disk beside the plan.
pub fn all(comparison: &Comparison, snapshot: &ComparisonSnapshot) -> Vec<RunKey> {
    let mut keys = match comparison.planned {
        true => grid(&comparison.recipe),
        false => Vec::new(),
    };
    keys.extend(finals(comparison, snapshot));
    keys.extend(further(comparison, snapshot));
    keys.extend(snapshot.runs.iter().map(|run| run.key.clone()));
    let mut known = HashSet::new();
    keys.retain(|key| known.insert(key.id()));
    keys
}

/// Activations × dropout rates × learning rates × seeds. Where the recipe retrains after tuning,
/// these are the runs that tune.
///
/// Seeds come outermost, so that all activations have their first run before any has its second:
/// whoever watches, or stops early, sees a comparison rather than one finished activation.
pub fn grid(recipe: &Recipe) -> Vec<RunKey> {
    let varied = &recipe.comparison;
    let (stage, seeds) = match varied.retrain {
        Some(retrain) => (Stage::Tuning, retrain.tuning_seeds),
        None => (Stage::Only, varied.looks().first().seeds),
    };
    let mut keys = Vec::new();
    for seed in 1..=seeds {
        for &dropout in &varied.dropout {
            for &learning_rate in &varied.learning_rates {
                for activation in &varied.activations {
                    let activation = activation.to_string();
                    keys.push(RunKey { activation, learning_rate, dropout, seed, stage });
                }
            }
        }
    }
    keys
}

/// The runs that follow tuning: every activation and dropout rate at its best learning rate, on the
/// whole training set. None where the recipe does not retrain, or a tuning run is not complete.
fn finals(comparison: &Comparison, snapshot: &ComparisonSnapshot) -> Vec<RunKey> {
    let recipe = &comparison.recipe;
    if !comparison.planned || recipe.comparison.retrain.is_none() {
        return Vec::new();
    }
    let planned: HashSet<RunId> = grid(recipe).iter().map(RunKey::id).collect();
    let mut tuned = snapshot.clone();
    tuned.runs.retain(|run| planned.contains(&run.key.id()) && run.status.is_complete());
    if tuned.runs.len() < planned.len() {
        return Vec::new();
    }
    let mut keys = Vec::new();
    for seed in 1..=recipe.comparison.looks().first().seeds {
        keys.extend(best_groups(&tuned).iter().map(|group| RunKey {
            activation: group.activation.to_owned(),
            learning_rate: group.learning_rate,
            dropout: group.dropout,
            seed,
            stage: Stage::Final,
        }));
    }
    keys
}

/// The seeds that the looks after the first need, as long as they leave a comparison open; see
/// [`further_seeds`].
fn further(comparison: &Comparison, snapshot: &ComparisonSnapshot) -> Vec<RunKey> {
    if !comparison.planned {
        return Vec::new();
    }
    let stage = match comparison.recipe.comparison.retrain {
        Some(_) => Stage::Final,
        None => Stage::Only,
    };
    let of_group = |further: FurtherSeeds| {
        further.seeds.clone().map(move |seed| RunKey {
            activation: further.activation.clone(),
            learning_rate: further.learning_rate,
            dropout: further.dropout,
            seed,
            stage,
        })
    };
    let mut keys: Vec<RunKey> = further_seeds(snapshot).into_iter().flat_map(of_group).collect();
    keys.sort_by_key(|key| key.seed);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DataSource;
    use crate::measure::UntilDecided;
    use crate::report::example::example;
    use crate::runs::RunSnapshot;

    fn comparison(name: &str) -> Comparison {
        let data = DataSource::new("some", None, true, [b"content"]);
        Comparison::new(Recipe::named(name).unwrap(), data, "flex", "flex")
    }

    /// A folder in which these runs stand like this.
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
        let first: Vec<&str> = keys[..3].iter().map(|key| key.activation.as_str()).collect();
        assert_eq!(first, ["gelu", "relu", "elu"]);
        let folders: HashSet<String> =
            keys.iter().map(|key| comparison.spec(key).unwrap().folder_name()).collect();
        assert_eq!(folders.len(), keys.len());
    }

    #[test]
    fn what_is_over_is_not_wanted_and_the_rest_is() {
        let comparison = comparison("digits");
        let grid = grid(&comparison.recipe);
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
        assert_eq!(all(&comparison, &disk), grid);
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
        let mut key = grid(&comparison.recipe).remove(0);
        key.seed = 77;
        let begun = on_disk([(key.clone(), RunStatus::Interrupted)]);
        assert_eq!(next(&comparison, &begun), [key.clone()]);
        let done = on_disk([(key.clone(), RunStatus::Finished)]);
        assert_eq!(next(&comparison, &done), []);
        comparison.planned = true;
        let keys = all(&comparison, &done);
        assert_eq!((keys.len(), keys.last()), (grid(&comparison.recipe).len() + 1, Some(&key)));
    }

    #[test]
    fn the_plan_has_its_settings_and_its_seeds_up_to_the_last_look() {
        let mut comparison = comparison("digits");
        let key = grid(&comparison.recipe).pop().unwrap();
        let seeds = comparison.recipe.comparison.seeds;
        let included = |comparison: &Comparison, change: &dyn Fn(&mut RunKey)| {
            let mut key = key.clone();
            change(&mut key);
            includes(comparison, &key)
        };
        assert!(included(&comparison, &|_| ()));
        assert!(!included(&comparison, &|key| key.learning_rate = 0.5));
        assert!(!included(&comparison, &|key| key.dropout = 0.77));
        assert!(!included(&comparison, &|key| key.activation = "mish".to_owned()));
        assert!(!included(&comparison, &|key| key.stage = Stage::Tuning));
        assert!(!included(&comparison, &|key| key.seed = seeds + 1));
        comparison.add_look(seeds + 1, "today");
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
        let first = grid(&comparison.recipe);
        assert_eq!(first.len(), 2 * 10);
        // Equal runs, whose differences are 0, are the same at once; seesawing ones stay open.
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
        for run in open.runs.iter_mut().filter(|run| run.key.activation == "relu") {
            let shift = if run.key.seed.is_multiple_of(2) { 0.01 } else { -0.01 };
            let last = run.epochs.last_mut().unwrap();
            last.test_error = last.test_error.map(|error| error + shift);
        }
        let further = next(&comparison, &open);
        let seeds: Vec<(&str, u64)> =
            further.iter().map(|key| (key.activation.as_str(), key.seed)).collect();
        let of_seed = |seed| [("gelu", seed), ("relu", seed)];
        assert_eq!(seeds, [11, 12, 13, 14, 15].map(of_seed).concat());
        // One of them alone is open still: nothing else is wanted until it is there.
        open.runs.extend(finished(&further[..9]).runs);
        assert_eq!(next(&comparison, &open), further[9..]);
        assert_eq!(most_at_once(&comparison, &open), usize::MAX);
        open.runs.extend(finished(&further[9..]).runs);
        assert_eq!(next(&comparison, &open), [], "15 seeds are the most");
        assert_eq!(most_at_once(&comparison, &open), 0);
    }

    #[test]
    fn final_runs_follow_when_the_last_tuning_run_is_complete() {
        let comparison = comparison("cifar10-cnn");
        let tuning = grid(&comparison.recipe);
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
}
