//! Example runs for tests, and processes that die while they hold a run.

use super::ClaimedRun;
use crate::comparison::plan;
use crate::program::{ProgramRecipe, ProgramSpec, example};

use crate::runs::{DataSource, Environment, Plan, Recipe, RunFolder, Spec, Watch};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Returns a comparison with two runs of a command.
pub(crate) fn plan() -> Plan<ProgramRecipe> {
    let mut recipe = example();
    recipe.seeds = 1;
    Plan::new(recipe, DataSource::default(), "", "")
}

/// Returns the specifications of the two runs.
pub(crate) fn specs() -> Vec<ProgramSpec> {
    let plan = plan();
    let keys = plan::grid(&plan.recipe.design());
    keys.iter().map(|key| plan.spec(key).unwrap()).collect()
}

/// Creates the folder of the first run.
pub(crate) fn folder(parent: &Path) -> (RunFolder, ProgramSpec) {
    let spec = specs().swap_remove(0);
    (RunFolder::create(parent, &spec).unwrap(), spec)
}

pub(crate) fn claim<S: Spec>(folder: &RunFolder, spec: &S) -> ClaimedRun<S> {
    let claimed = ClaimedRun::claim(folder, spec, &mut Watch::default(), Duration::from_secs(600));
    claimed.unwrap().unwrap()
}

/// Leaves a run's folder in the state that a killed process of this machine leaves.
pub(crate) fn die<S: Spec>(run: ClaimedRun<S>) {
    let (folder, generation) = (run.folder().clone(), run.lease().generation());
    let held = folder.file(&format!("lease-{generation:04}"));
    let holder = fs::read(held.join("holder.json")).unwrap();
    let log = fs::read(run.log_file());
    drop(run);
    fs::rename(folder.file(&format!("free-{generation:04}")), &held).unwrap();
    fs::write(held.join("holder.json"), holder).unwrap();
    if let Ok(log) = log {
        fs::write(held.join("worker.log"), log).unwrap();
    }
}

/// Begins a session after `epochs` epochs and dies in it. `word` is the text in its log, which may be empty.
pub(crate) fn die_in_session<S: Spec>(folder: &RunFolder, spec: &S, epochs: usize, word: &str) {
    let run = claim(folder, spec);
    run.begin_session(&Environment::of_this_machine(), epochs).unwrap();
    if !word.is_empty() {
        fs::write(run.log_file(), word).unwrap();
    }
    die(run);
}
