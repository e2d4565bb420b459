use super::*;
use crate::measure::EpochMetrics;
use crate::program::{ProgramRecipe, ProgramSpec};
use crate::runs::examples::{claim, die_in_session, folder, plan, specs};
use crate::runs::{Comparison, Environment, Plan};
use crate::worker::conclude;
use std::sync::Mutex;

/// A trainer that records the runs it is given, in order.
struct Notes<'a>(&'a Mutex<Vec<RunKey>>);

impl Trainer for Notes<'_> {
    type Recipe = ProgramRecipe;

    fn environment(&self, _: &Plan<ProgramRecipe>, _: usize) -> Environment {
        Environment::of_this_machine()
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun<ProgramSpec>>,
        _: &Plan<ProgramRecipe>,
        _: &Environment,
        _: &Control,
    ) -> Result<RunStatus> {
        self.0.lock().unwrap().push(run.spec().key());
        let epoch = EpochMetrics::new(1).with("test_error", 0.5);
        conclude(run, Ok(RunStatus::Finished), &[epoch], 1.0)
    }
}

/// Lets a worker train a comparison in whose runs processes have died without a message: `deaths` for each run.
/// Returns the trained runs in order, and the status of each run.
fn trained(deaths: [usize; 2]) -> (Vec<RunKey>, Vec<RunStatus>) {
    let parent = tempfile::tempdir().unwrap();
    let (made, _) = Comparison::create(parent.path(), &plan(), |_, _| false).unwrap();
    for (spec, deaths) in specs().iter().zip(deaths) {
        let folder = made.run(spec).unwrap();
        (0..deaths).for_each(|_| die_in_session(&folder, spec, 0, ""));
    }
    let (reader, notes) = (SnapshotReader::open(parent.path()).unwrap(), Mutex::default());
    let outcome = Worker::new(reader, Notes(&notes), Control::default()).work().unwrap();
    assert_eq!(outcome, Outcome::Done);
    let status = |spec: &ProgramSpec| made.run(spec).unwrap().status().unwrap().status;
    (notes.into_inner().unwrap(), specs().iter().map(status).collect())
}

/// A trainer that trains any runs as one, up to `most`, and records how many it is given at a time.
struct Together<'a> {
    given: &'a Mutex<Vec<usize>>,
    most: usize,
    panics: bool,
}

impl Trainer for Together<'_> {
    type Recipe = ProgramRecipe;

    fn environment(&self, _: &Plan<ProgramRecipe>, _: usize) -> Environment {
        Environment::of_this_machine()
    }

    fn cohort(&self, _: &ProgramSpec, _: usize) -> usize {
        self.most
    }

    fn join(&self, _: &ProgramSpec, _: &ProgramSpec) -> bool {
        true
    }

    fn train_together(
        &mut self,
        runs: &[Arc<ClaimedRun<ProgramSpec>>],
        plan: &Plan<ProgramRecipe>,
        environment: &Environment,
        control: &Control,
    ) -> Vec<Result<RunStatus>> {
        self.given.lock().unwrap().push(runs.len());
        assert!(!self.panics, "on purpose");
        let keys = Mutex::default();
        let mut alone = Notes(&keys);
        runs.iter().map(|run| alone.train(run, plan, environment, control)).collect()
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun<ProgramSpec>>,
        plan: &Plan<ProgramRecipe>,
        environment: &Environment,
        control: &Control,
    ) -> Result<RunStatus> {
        self.given.lock().unwrap().push(1);
        Notes(&Mutex::default()).train(run, plan, environment, control)
    }
}

/// Lets a worker train a comparison of two settings and `seeds` seeds, with `deaths` on the first run. Returns how many
/// runs were trained at a time, and the sizes of the cohorts that the runs' sessions record.
fn trained_together(
    seeds: u64,
    most: usize,
    panics: bool,
    deaths: usize,
) -> (Vec<usize>, Vec<u64>) {
    let parent = tempfile::tempdir().unwrap();
    let mut plan = plan();
    plan.recipe.seeds = seeds;
    let (made, _) = Comparison::create(parent.path(), &plan, |_, _| false).unwrap();
    let folder = made.run(&specs()[0]).unwrap();
    (0..deaths).for_each(|_| die_in_session(&folder, &specs()[0], 0, ""));
    let given = Mutex::default();
    let trainer = Together { given: &given, most, panics };
    let reader = SnapshotReader::open(parent.path()).unwrap();
    let outcome = Worker::new(reader, trainer, Control::default()).work().unwrap();
    assert_eq!(outcome, Outcome::Done);
    let runs = SnapshotReader::<ProgramRecipe>::open(parent.path()).unwrap().snapshot().runs;
    assert_eq!(runs.len() as u64, 2 * seeds);
    assert!(runs.iter().all(|run| run.status == RunStatus::Finished), "{runs:?}");
    let cohort = |run: &crate::runs::RunSnapshot| {
        let session = run.provenance.last().unwrap();
        session.environment.0.get("cohort").map_or(1, |cohort| cohort.as_u64().unwrap())
    };
    (given.into_inner().unwrap(), runs.iter().map(cohort).collect())
}

#[test]
fn as_many_runs_are_trained_as_one_as_the_trainer_wants() {
    assert_eq!(trained_together(1, 2, false, 0), (vec![2], vec![2, 2]));
    assert_eq!(trained_together(1, 1, false, 0), (vec![1, 1], vec![1, 1]));
    // No run is left over until the worker looks again.
    let (given, _) = trained_together(6, 4, false, 0);
    assert_eq!(given, [4, 4, 4]);
}

#[test]
fn runs_whose_cohort_panics_are_trained_again_one_by_one() {
    assert_eq!(trained_together(1, 2, true, 0), (vec![2, 1, 1], vec![1, 1]));
}

#[test]
fn a_run_that_processes_have_died_on_is_trained_alone() {
    assert_eq!(trained_together(1, 2, false, 1), (vec![1, 1], vec![1, 1]));
}

#[test]
fn runs_that_processes_have_died_on_come_last() {
    let keys: Vec<RunKey> = specs().iter().map(ProgramSpec::key).collect();
    assert_eq!(trained([0, 0]).0, keys);
    assert_eq!(trained([1, 0]).0, [keys[1].clone(), keys[0].clone()]);
    assert_eq!(trained([1, 2]).0, keys);
}

#[test]
fn a_run_on_which_processes_vanish_again_and_again_is_given_up() {
    let (trained, status) = trained([DEATHS, DEATHS - 1]);
    assert_eq!(trained, [specs()[1].key()]);
    let RunStatus::Failed { reason } = &status[0] else { panic!("{status:?}") };
    assert!(reason.starts_with("25 processes died in the same epoch"), "{reason}");
    assert_eq!(status[1], RunStatus::Finished);
}

/// A process that leaves words has crashed by itself, and few of those suffice; one without may have been killed.
#[test]
fn three_crashes_with_last_words_give_a_run_up() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let after = |words: [&str; 3]| {
        words.iter().for_each(|words| die_in_session(&folder, &spec, 0, words));
        hopeless(&claim(&folder, &spec).deaths_in_this_epoch().unwrap())
    };
    assert_eq!(after(["first", "", "boom"]), None);
    let reason = after(["", "bang", ""]).unwrap();
    assert_eq!(reason, "6 processes died in the same epoch; the last words: bang");
}

#[test]
fn a_run_that_another_worker_ended_meanwhile_is_left_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let take = || take(&folder, &spec, &mut Watch::default(), Duration::from_secs(600)).unwrap();
    let run = claim(&folder, &spec);
    assert!(take().is_none(), "it is held");
    let epoch = EpochMetrics::new(1).with("test_error", 0.5);
    conclude(&run, Ok(RunStatus::Finished), &[epoch], 1.0).unwrap();
    drop(run);
    assert!(take().is_none());
    assert_eq!(folder.status().unwrap().status, RunStatus::Finished);
    std::fs::remove_file(folder.file("metrics.csv")).unwrap();
    assert!(take().is_some(), "its table is gone");
    assert_eq!(folder.status().unwrap().status, RunStatus::Interrupted);
}
