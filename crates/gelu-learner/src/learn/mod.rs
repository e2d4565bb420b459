//! One run: training a network into its folder, exactly resumable.
//!
//! Training goes through Burn's [`Learner`](burn::train::Learner) and
//! [`SupervisedTraining`](burn::train::SupervisedTraining) with a learning strategy of its own (`epochs`), which
//! measures every split after an epoch and ends the epoch with one atomic checkpoint.

mod finished;
mod keys;
mod launch;
mod redirected_stderr;

pub use finished::FinishedRun;

use crate::checkpoint::verify;
use crate::session::{RunOptions, Session};
use crate::{Error, Result, Trainable, Training};
use burn::tensor::Device;
pub(crate) use finished::finish;
use gelu_compare::output::complain;
use gelu_compare::runs::{Checkpoint, ClaimedRun, Environment, RunStatus, Spec};
use gelu_compare::worker::Control;
use launch::carry_out;
pub(crate) use launch::check_fit;
use rayon::ThreadPool;
use std::sync::Arc;

/// A run to train, and where.
#[derive(Debug)]
pub struct RunContext<'a, S> {
    /// The run.
    pub run: &'a Arc<ClaimedRun<S>>,
    /// What it has to have.
    pub options: RunOptions,
    /// The device to train on.
    pub device: &'a Device,
    /// What the run's folder says of device and machine; its `threads` are those of the kernels.
    pub environment: &'a Environment,
    /// How the run is stopped.
    pub control: &'a Control,
}

/// Trains a run to its end and resumes it where an earlier session stopped; a complete run is left as it is.
/// `training` puts the training together, given the number of epochs that are done: in the thread that trains,
/// with the device's generator seeded for the initial weights. `keep` puts what is left of a run that has all its
/// epochs into its folder.
///
/// # Errors
///
/// When its results cannot be saved, the device fails, or another worker has taken the run over; those of
/// `training` and `keep`. What an earlier epoch saved stays.
///
/// # Panics
///
/// When Burn does; the run is then as its last epoch left it.
pub fn train_run<S: Spec, M: Trainable>(
    context: RunContext<'_, S>,
    training: impl FnOnce(usize) -> Result<Training<M>> + Send + 'static,
    keep: impl FnOnce(FinishedRun<'_, S>) -> Result<()> + Send,
) -> Result<RunStatus> {
    let (device, environment) = (context.device, context.environment);
    let (session, checkpoint) = match begin(context, 1)? {
        Begun::Complete(status) => return Ok(status),
        Begun::Session(session, checkpoint) => (session, checkpoint),
    };
    if !is_trained(&session, checkpoint.as_ref()) {
        let kernels = pool(threads(environment))?;
        carry_out(&session, device, checkpoint, kernels, training);
    }
    // Other threads than before: a display of Burn's that was left behind holds those.
    pool(threads(environment))?.install(|| finish(&session, keep))
}

/// A run that a session has begun of.
pub(crate) enum Begun<S> {
    /// It was complete before.
    Complete(RunStatus),
    /// The session, and what it goes on from.
    Session(Arc<Session<S>>, Option<Checkpoint>),
}

/// Begins a session of a run, one of so many that train as one program.
pub(crate) fn begin<S: Spec>(context: RunContext<'_, S>, sharing: usize) -> Result<Begun<S>> {
    gelu_kernels::keep_memory();
    let RunContext { run, options, environment, control, .. } = context;
    let before = run.status();
    if before.status.is_complete() {
        return Ok(Begun::Complete(before.status));
    }
    let checkpoint = sound_checkpoint(run)?;
    let metrics = checkpoint.as_ref().map_or_else(Vec::new, |found| found.metrics.clone());
    run.begin_session(environment, metrics.len())?;
    run.publish_metrics(&metrics)?;
    run.set_status(RunStatus::Running, before.seconds)?;
    let session = Session::new(run.clone(), control.clone(), metrics, before.seconds, options);
    Ok(Begun::Session(Arc::new(session.sharing(sharing)), checkpoint))
}

/// Whether nothing is left to be trained.
pub(crate) fn is_trained<S: Spec>(session: &Session<S>, checkpoint: Option<&Checkpoint>) -> bool {
    session.options().epochs == Some(checkpoint.map_or(0, |found| found.epoch))
}

/// The newest checkpoint that can be resumed from. Damaged ones that are newer are removed.
fn sound_checkpoint<S: Spec>(run: &ClaimedRun<S>) -> Result<Option<Checkpoint>> {
    loop {
        let (checkpoint, damaged) = run.folder().checkpoint()?;
        for error in damaged {
            log::<S>(&format!("a checkpoint is damaged and left out: {error}"));
        }
        let epoch = checkpoint.as_ref().map_or(0, |found| found.epoch);
        run.discard_checkpoints_after(epoch)?;
        let Some(found) = checkpoint else { return Ok(None) };
        match verify(&found.path) {
            Ok(()) => return Ok(Some(found)),
            Err(error) => {
                log::<S>(&format!("a checkpoint cannot be loaded and is left out: {error}"));
                run.discard_checkpoints([found.epoch])?;
            }
        }
    }
}

/// Writes a line into a run's log.
pub fn log<S: Spec>(line: &str) {
    complain(&format!("{}: {line}\n", S::TOOL));
}

/// The threads that a run may use.
pub(crate) fn threads(environment: &Environment) -> usize {
    let threads = environment.0.get("threads").and_then(serde_json::Value::as_u64);
    threads.and_then(|threads| usize::try_from(threads).ok()).unwrap_or(1)
}

/// Threads that a run's kernels share.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("kernels-{index}"))
        .build();
    pool.map_err(|error| Error::Failed(format!("cannot start {threads} threads: {error}")))
}

#[cfg(test)]
mod tests;
