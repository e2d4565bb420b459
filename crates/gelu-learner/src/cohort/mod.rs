//! Many runs of one architecture as one program ([`gelu_training::cohort`]).
//!
//! Each is a run as any other: it has its own session, data, learning rate, metrics, checkpoints and end, and its
//! folder holds what it would hold had it been trained alone. The steps alone are made for all at a time. So a run can
//! begin in one cohort, go on in another, and end alone.

mod member;
mod together;

use crate::learn::{Begun, begin, finish, is_trained, pool, threads};
use crate::session::Session;
use crate::{Error, FinishedRun, Result, RunContext, Trainable, Training};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::train::{InferenceStep, TrainStep};
use gelu_compare::runs::{Checkpoint, RunStatus, Spec};
use gelu_core::random::Draw;
use gelu_training::Adam;
use rayon::ThreadPool;
use std::sync::Arc;
use together::Together;

/// Networks of one architecture that are trained as one program: the first dimension of every parameter is the
/// network.
pub trait Cohort: Module + Send + 'static {
    /// One of the networks.
    type Network: Trainable;

    /// A cohort of these networks.
    ///
    /// # Errors
    ///
    /// If they make none.
    fn of(networks: &[Self::Network]) -> Result<Self>;

    /// One of the networks, its parameters [numbered](crate::numbered).
    fn network(&self, index: usize) -> Self::Network;

    /// How many keys one of the networks draws in a step, for dropout.
    fn draws(&self, index: usize) -> usize;

    /// The gradients of a step with a batch for each network, and what they made of them. `draw` gives a network's
    /// next key.
    ///
    /// # Errors
    ///
    /// If the batches differ in size.
    fn train_step(
        &self,
        batches: Vec<<Self::Network as InferenceStep>::Input>,
        draw: impl FnMut(usize) -> Draw,
    ) -> Result<(GradientsParams, Vec<<Self::Network as TrainStep>::Output>)>;
}

/// Trains runs to their ends as one program, each going on where an earlier session stopped, and says how each went, in
/// their order. `adam` steps them in the place of the optimisers of their trainings, which have to be the same.
/// `training` and `keep` are as for [`train_run`](crate::train_run), given a run's number as well.
///
/// A run that has more or fewer epochs than the first is left as it is,
/// [`Interrupted`](RunStatus::Interrupted). One that diverges, or whose results cannot be saved, ends, and the others
/// go on. Device, environment and control are the first run's.
///
/// # Panics
///
/// When Burn does; the runs are then as their last epochs left them.
pub fn train_cohort<S: Spec, C: Cohort>(
    runs: Vec<RunContext<'_, S>>,
    adam: Adam,
    training: impl Fn(usize, usize) -> Result<Training<C::Network>> + Send + 'static,
    mut keep: impl FnMut(usize, FinishedRun<'_, S>) -> Result<()> + Send,
) -> Vec<Result<RunStatus>> {
    let Some(first) = runs.first() else { return Vec::new() };
    let (device, threads, count) = (first.device.clone(), threads(first.environment), runs.len());
    let begun: Vec<Result<Begun<S>>> = runs.into_iter().map(|run| begin(run, count)).collect();
    let sessions = begun.iter().enumerate().filter_map(|(index, begun)| match begun {
        Ok(Begun::Session(session, checkpoint)) if !is_trained(session, checkpoint.as_ref()) => {
            Some((index, session.clone(), checkpoint.clone()))
        }
        _ => None,
    });
    let sessions: Vec<Beginner<S>> = sessions.collect();
    if !sessions.is_empty() {
        let all: Vec<_> = sessions.iter().map(|(_, session, _)| session.clone()).collect();
        let trained = pool(threads).and_then(|kernels| {
            in_a_thread(kernels, move || {
                let trained = Together::<S, C>::of(sessions, &device, adam, training);
                trained.and_then(|together| together.map_or(Ok(()), Together::train))
            })
        });
        if let Err(error) = trained {
            let problem = error.to_string();
            all.iter().for_each(|session| session.end(Err(Error::Failed(problem.clone()))));
        }
    }
    let end = |(index, begun): (usize, Result<Begun<S>>)| match begun? {
        Begun::Complete(status) => Ok(status),
        Begun::Session(session, _) => {
            pool(threads)?.install(|| finish(&session, |run| keep(index, run)))
        }
    };
    begun.into_iter().enumerate().map(end).collect()
}

/// A run's number, its session, and what it goes on from.
type Beginner<S> = (usize, Arc<Session<S>>, Option<Checkpoint>);

/// What `work` returns, in a thread of its own whose kernels have these threads.
fn in_a_thread<T: Send + 'static>(
    kernels: ThreadPool,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let thread = std::thread::Builder::new().name("training".to_owned());
    let thread = thread.spawn(move || kernels.install(work));
    let thread = thread.map_err(Error::io("start a thread for", "training"))?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
