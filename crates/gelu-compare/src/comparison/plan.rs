//! The runs to train, as a pure function of the recipe and of what is on disk. Every process computes the same
//! runs, so no process has to lead the others.

use super::{FurtherSeeds, best_groups, further_seeds};
use crate::runs::{Design, Plan, Recipe, RunKey, RunStatus, Snapshot, Stage};
use std::collections::{HashMap, HashSet};

/// Returns the runs that are left to train, in order: the grid; the final runs once tuning is complete; further seeds
/// while verdicts are open; runs outside the plan that were begun. Failed runs are not included until the user
/// retries them.
pub fn next<R: Recipe>(plan: &Plan<R>, snapshot: &Snapshot) -> Vec<RunKey> {
    let status: HashMap<&RunKey, &RunStatus> =
        snapshot.runs.iter().map(|run| (&run.key, &run.status)).collect();
    let wanted = |key: &RunKey| status.get(key).is_none_or(|status| !status.is_over());
    all(plan, &plan.recipe.design(), snapshot).into_iter().filter(wanted).collect()
}

/// Returns whether a run is part of the plan: it has one of the settings, and a seed up to the last. Other runs on
/// disk are shown and finished, but no verdict uses them.
pub fn includes<R: Recipe>(plan: &Plan<R>, design: &Design, key: &RunKey) -> bool {
    let seeds = match (key.stage, design.tuning_seeds) {
        (Stage::Tuning, Some(seeds)) => seeds,
        (Stage::Final, Some(_)) | (Stage::Only, None) => plan.last_seed(design),
        _ => 0,
    };
    plan.planned && key.seed <= seeds && design.includes(&key.setting)
}

/// Returns how many runs can be under way at the same time from now to the end. That is the number of runs left to
/// train, or unlimited if more will follow: the final runs after tuning, or further seeds.
pub fn most_at_once<R: Recipe>(plan: &Plan<R>, snapshot: &Snapshot) -> usize {
    let design = plan.recipe.design();
    let (schedule, last) = (design.schedule(), plan.last_seed(&design));
    let grows = design.tuning_seeds.is_some() || schedule.until_decided || last > schedule.seeds;
    match next(plan, snapshot).len() {
        wanted if wanted > 0 && plan.planned && grows => usize::MAX,
        wanted => wanted,
    }
}

/// Returns all runs of the comparison that are known by now, each once: the planned ones, then those on disk that are
/// not in the plan.
pub fn all<R: Recipe>(plan: &Plan<R>, design: &Design, snapshot: &Snapshot) -> Vec<RunKey> {
    let mut keys = Vec::new();
    if plan.planned {
        keys.extend(grid(design));
        keys.extend(finals(design, snapshot));
        keys.extend(further(design, snapshot));
    }
    keys.extend(snapshot.runs.iter().map(|run| run.key.clone()));
    let mut known = HashSet::new();
    keys.retain(|key| known.insert(key.clone()));
    keys
}

/// Returns the runs of all settings with all seeds. If the reported runs are trained anew after tuning, these are the
/// tuning runs.
///
/// Seeds are the outer loop, so that all arms have their first run before any has its second. If you watch or stop
/// early, you see a comparison instead of one finished arm.
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

/// Returns the runs that follow tuning: every arm in every context at its best tuned setting. Returns none if nothing
/// is trained anew, or if a tuning run is not complete.
fn finals(design: &Design, snapshot: &Snapshot) -> Vec<RunKey> {
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

/// Returns the runs with further seeds of undecided comparisons; see [`further_seeds`].
fn further(design: &Design, snapshot: &Snapshot) -> Vec<RunKey> {
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
