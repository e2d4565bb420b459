//! Trains the network of one run into the run's folder; interrupted runs resume exactly.
//!
//! Training uses Burn's [`Learner`](burn::train::Learner) and [`SupervisedTraining`](burn::train::SupervisedTraining)
//! with a custom learning strategy (`epochs`), which measures every split after an epoch and ends the epoch with one
//! atomic checkpoint.

mod finished;
mod keys;
mod launch;
mod redirected_stderr;

pub use finished::FinishedRun;

use crate::checkpoint::verify;
use crate::log::log;
use crate::session::{RunOptions, Session};
use crate::{Error, Result, Trainable, Training};
use burn::tensor::Device;
pub(crate) use finished::finish;
use gelu_compare::runs::{Checkpoint, ClaimedRun, Environment, RunStatus, Spec};
use gelu_compare::worker::Control;
use launch::carry_out;
pub(crate) use launch::check_fit;
use rayon::ThreadPool;
use std::sync::Arc;

/// A run to train, with its options, device and controls.
#[derive(Debug)]
pub struct RunContext<'a, S> {
    /// The run.
    pub run: &'a Arc<ClaimedRun<S>>,
    /// The options for training it.
    pub options: RunOptions,
    /// The device to train on.
    pub device: &'a Device,
    /// Device and machine as the run's folder records them; `threads` is the number of threads of the kernels.
    pub environment: &'a Environment,
    /// The control that stops the run.
    pub control: &'a Control,
    /// Whether steps may be recorded and replayed, where the training [is made for it](Training::captured).
    pub captures: bool,
}

/// Trains a run to its end, or resumes it where an earlier session stopped; a complete run stays as it is.
///
/// `training` creates the training from the number of finished epochs. It runs in the training thread, after the
/// device's generator is seeded for the initial weights. When the run has all its epochs, `keep` saves its results in
/// the run's folder.
///
/// # Errors
///
/// If the results cannot be saved, the device fails, another worker has taken the run over, or `training` or `keep`
/// fails. Saved results of earlier epochs stay.
///
/// # Panics
///
/// If Burn panics; the run then stays as its last epoch left it.
pub fn train_run<S: Spec, M: Trainable>(
    context: RunContext<'_, S>,
    training: impl FnOnce(usize) -> Result<Training<M>> + Send + 'static,
    keep: impl FnOnce(FinishedRun<'_, S>) -> Result<()> + Send,
) -> Result<RunStatus> {
    let (device, environment, captures) = (context.device, context.environment, context.captures);
    let (session, checkpoint) = match begin(context, 1)? {
        Begun::Complete(status) => return Ok(status),
        Begun::Session(session, checkpoint) => (session, checkpoint),
    };
    if !is_trained(&session, checkpoint.as_ref()) {
        let kernels = pool(threads(environment))?;
        let training = move |done| {
            let training = training(done)?;
            Ok(if captures { training } else { training.without_capture() })
        };
        carry_out(&session, device, checkpoint, kernels, training);
    }
    // A display of Burn's that was left behind still holds the earlier threads.
    pool(threads(environment))?.install(|| finish(&session, keep))
}

/// A run after its session began.
pub(crate) enum Begun<S> {
    /// It was complete before.
    Complete(RunStatus),
    /// The session, and the checkpoint to resume from.
    Session(Arc<Session<S>>, Option<Checkpoint>),
}

/// Begins a session of a run, which is one of `sharing` runs that train as one program.
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
    let (run, control, seconds) = (run.clone(), control.clone(), before.seconds);
    let session = Session::new(run, control, metrics, seconds, options, environment.clone());
    Ok(Begun::Session(Arc::new(session.sharing(sharing)), checkpoint))
}

/// Returns whether all epochs are trained.
pub(crate) fn is_trained<S: Spec>(session: &Session<S>, checkpoint: Option<&Checkpoint>) -> bool {
    session.options().epochs == Some(checkpoint.map_or(0, |found| found.epoch))
}

/// Returns the newest checkpoint that can be resumed from, and removes newer, damaged ones.
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

/// Returns the number of threads that a run may use.
pub(crate) fn threads(environment: &Environment) -> usize {
    let threads = environment.0.get("threads").and_then(serde_json::Value::as_u64);
    threads.and_then(|threads| usize::try_from(threads).ok()).unwrap_or(1)
}

/// Creates the thread pool of a run's kernels.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("kernels-{index}"))
        .build();
    pool.map_err(|error| Error::Failed(format!("cannot start {threads} threads: {error}")))
}

#[cfg(test)]
mod tests;
