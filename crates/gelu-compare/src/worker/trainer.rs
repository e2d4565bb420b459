use super::Control;
use crate::Result;
use crate::runs::{ClaimedRun, Environment, Plan, Recipe, RunStatus};
use std::sync::Arc;

/// Trains the runs of a recipe, in a worker's process.
pub trait Trainer {
    /// The recipe whose runs it trains.
    type Recipe: Recipe;

    /// Checks that a run can be trained here, before the run gets a folder.
    ///
    /// # Errors
    ///
    /// Returns the reason if the run cannot be trained.
    fn check(&self, _spec: &SpecOf<Self>) -> Result<()> {
        Ok(())
    }

    /// Returns the environment for training a run, when `left` runs remain, this one included.
    fn environment(&self, plan: &Plan<Self::Recipe>, left: usize) -> Environment;

    /// How many runs like this one it trains as one program, at most, where so many are left.
    fn cohort(&self, _spec: &SpecOf<Self>, _left: usize) -> usize {
        1
    }

    /// Whether it trains two runs as one.
    fn join(&self, _first: &SpecOf<Self>, _other: &SpecOf<Self>) -> bool {
        false
    }

    /// Trains runs that [`join`](Self::join) as one program, each as [`train`](Self::train) does; how each went, in
    /// their order.
    fn train_together(
        &mut self,
        runs: &[Arc<ClaimedRun<SpecOf<Self>>>],
        plan: &Plan<Self::Recipe>,
        environment: &Environment,
        control: &Control,
    ) -> Vec<Result<RunStatus>> {
        runs.iter().map(|run| self.train(run, plan, environment, control)).collect()
    }

    /// Trains a run to its end, continuing where an earlier session stopped. Writes the outcome to the run's folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the results cannot be saved, or if another worker has taken the run over.
    ///
    /// # Panics
    ///
    /// Panics if the training code panics; the run then has the state of its last epoch.
    fn train(
        &mut self,
        run: &Arc<ClaimedRun<SpecOf<Self>>>,
        plan: &Plan<Self::Recipe>,
        environment: &Environment,
        control: &Control,
    ) -> Result<RunStatus>;
}

/// The type from which the runs of a [`Trainer`] are made.
pub(crate) type SpecOf<T> = <<T as Trainer>::Recipe as Recipe>::Spec;
