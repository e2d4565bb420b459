//! What is to be trained: a pure function of the experiment and of what is on disk. Whoever computes it
//! comes to the same runs, so nobody has to be the master.

use super::{FurtherSeeds, best_groups, further_seeds};
use crate::runs::{Comparison, ComparisonSnapshot, Design, Experiment, RunKey, RunStatus, Stage};
use std::collections::{HashMap, HashSet};

/// The runs still wanted, in the order they should be trained: the grid; the final runs once tuning
/// is complete; further seeds while verdicts are open; runs that were begun beside the plan. Failed
/// ones are not wanted until somebody takes them up again.
pub fn next<E: Experiment>(
    comparison: &Comparison<E>,
    snapshot: &ComparisonSnapshot,
) -> Vec<RunKey> {
    let status: HashMap<&RunKey, &RunStatus> =
        snapshot.runs.iter().map(|run| (&run.key, &run.status)).collect();
    let wanted = |key: &RunKey| status.get(key).is_none_or(|status| !status.is_over());
    all(comparison, &comparison.recipe.design(), snapshot).into_iter().filter(wanted).collect()
}

/// Whether a run is one of the plan: one of its settings, with a seed up to the last. What
/// else is on disk is shown and finished, and judged by nothing.
pub fn includes<E: Experiment>(comparison: &Comparison<E>, design: &Design, key: &RunKey) -> bool {
    let seeds = match (key.stage, design.tuning_seeds) {
        (Stage::Tuning, Some(seeds)) => seeds,
        (Stage::Final, Some(_)) | (Stage::Only, None) => comparison.last_seed(design),
        _ => 0,
    };
    comparison.planned && key.seed <= seeds && design.includes(&key.setting)
}

/// How many runs can be under way at the same time from now to the end: no more than are wanted now,
/// unless more will be as these end: the final ones after tuning, or further seeds.
pub fn most_at_once<E: Experiment>(
    comparison: &Comparison<E>,
    snapshot: &ComparisonSnapshot,
) -> usize {
    let design = comparison.recipe.design();
    let (plan, last) = (design.plan(), comparison.last_seed(&design));
    let grows = design.tuning_seeds.is_some() || plan.until_decided || last > plan.seeds;
    match next(comparison, snapshot).len() {
        wanted if wanted > 0 && comparison.planned && grows => usize::MAX,
        wanted => wanted,
    }
}

/// Every run that the comparison consists of, as far as that can be said now, each once: what is
/// planned, then what is on disk beside the plan.
pub fn all<E: Experiment>(
    comparison: &Comparison<E>,
    design: &Design,
    snapshot: &ComparisonSnapshot,
) -> Vec<RunKey> {
    let mut keys = Vec::new();
    if comparison.planned {
        keys.extend(grid(design));
        keys.extend(finals(design, snapshot));
        keys.extend(further(design, snapshot));
    }
    keys.extend(snapshot.runs.iter().map(|run| run.key.clone()));
    let mut known = HashSet::new();
    keys.retain(|key| known.insert(key.clone()));
    keys
}

/// Settings × seeds. Where what is reported is trained anew after tuning, these are the runs that tune.
///
/// Seeds come outermost, so that all arms have their first run before any has its second:
/// whoever watches, or stops early, sees a comparison rather than one finished arm.
pub fn grid(design: &Design) -> Vec<RunKey> {
    let (stage, seeds) = match design.tuning_seeds {
        Some(seeds) => (Stage::Tuning, seeds),
        None => (Stage::Only, design.first_seeds()),
    };
    let settings = design.settings();
    let mut keys = Vec::new();
    for seed in 1..=seeds {
        keys.extend(settings.iter().map(|setting| RunKey {
            setting: setting.clone(),
            seed,
            stage,
        }));
    }
    keys
}

/// The runs that follow tuning: every arm in every context at its best tuned setting. None where nothing
/// is trained anew, or a tuning run is not complete.
fn finals(design: &Design, snapshot: &ComparisonSnapshot) -> Vec<RunKey> {
    if design.tuning_seeds.is_none() {
        return Vec::new();
    }
    let planned: HashSet<RunKey> = grid(design).into_iter().collect();
    let mut tuned = snapshot.clone();
    tuned.runs.retain(|run| planned.contains(&run.key) && run.status.is_complete());
    if tuned.runs.len() < planned.len() {
        return Vec::new();
    }
    let mut keys = Vec::new();
    let best = best_groups(&tuned);
    for seed in 1..=design.first_seeds() {
        keys.extend(best.iter().map(|group| RunKey {
            setting: group.runs[0].key.setting.clone(),
            seed,
            stage: Stage::Final,
        }));
    }
    keys
}

/// Further seeds of comparisons that are not decided; see [`further_seeds`].
fn further(design: &Design, snapshot: &ComparisonSnapshot) -> Vec<RunKey> {
    let stage = match design.tuning_seeds {
        Some(_) => Stage::Final,
        None => Stage::Only,
    };
    let of_group = |further: FurtherSeeds| {
        further.seeds.clone().map(move |seed| RunKey {
            setting: further.setting.clone(),
            seed,
            stage,
        })
    };
    let mut keys: Vec<RunKey> = further_seeds(snapshot).into_iter().flat_map(of_group).collect();
    keys.sort_by_key(|key| key.seed);
    keys
}
