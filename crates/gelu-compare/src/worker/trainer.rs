use super::Control;
use crate::Result;
use crate::runs::{ClaimedRun, Comparison, Environment, Experiment, RunStatus};
use std::sync::Arc;

/// What trains the runs of an experiment, in a worker's process.
pub trait Trainer {
    /// Whose runs it trains.
    type Experiment: Experiment;

    /// Refuses a run that cannot be trained here, before it gets a folder.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    fn check(&self, _spec: &SpecOf<Self>) -> Result<()> {
        Ok(())
    }

    /// What a run is to be trained with and on, where so many are left, itself among them.
    fn environment(&self, comparison: &Comparison<Self::Experiment>, left: usize) -> Environment;

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
        comparison: &Comparison<Self::Experiment>,
        environment: &Environment,
        control: &Control,
    ) -> Vec<Result<RunStatus>> {
        runs.iter().map(|run| self.train(run, comparison, environment, control)).collect()
    }

    /// Trains a run to its end, going on where an earlier session stopped, and says in its folder how that
    /// went.
    ///
    /// # Errors
    ///
    /// When its results cannot be saved, or another worker has taken the run over.
    ///
    /// # Panics
    ///
    /// Where training does; the run is then as its last epoch left it.
    fn train(
        &mut self,
        run: &Arc<ClaimedRun<SpecOf<Self>>>,
        comparison: &Comparison<Self::Experiment>,
        environment: &Environment,
        control: &Control,
    ) -> Result<RunStatus>;
}

/// What the runs are made from that something trains.
pub type SpecOf<T> = <<T as Trainer>::Experiment as Experiment>::Spec;
