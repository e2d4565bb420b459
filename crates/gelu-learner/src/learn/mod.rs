//! One run: training a network into its folder, exactly resumable.
//!
//! Training goes through Burn's [`Learner`](burn::train::Learner) and
//! [`SupervisedTraining`](burn::train::SupervisedTraining) with a learning strategy of its own (`epochs`), which
//! measures every split after an epoch and ends the epoch with one atomic checkpoint.

mod aside;
mod launch;
mod learned;
mod lesson;
mod shown;

pub use learned::Learned;
pub use lesson::Lesson;
pub use shown::{Shown, ShownMetrics};

use crate::checkpoint::verify;
use crate::session::{Plan, Session};
use crate::{Error, Result, Trainable};
use burn::tensor::Device;
use gelu_compare::output::complain;
use gelu_compare::runs::{Checkpoint, ClaimedRun, Environment, RunStatus, Spec};
use gelu_compare::worker::Control;
use launch::carry_out;
use learned::finish;
use rayon::ThreadPool;
use std::sync::Arc;

/// A run, and what it is trained on and asked to do.
#[derive(Debug)]
pub struct Class<'a, S> {
    /// The run.
    pub run: &'a Arc<ClaimedRun<S>>,
    /// What it is to have.
    pub plan: Plan,
    /// What it is trained on.
    pub device: &'a Device,
    /// The same for its folder; the `threads` of it are those of the kernels.
    pub environment: &'a Environment,
    /// How it is stopped.
    pub control: &'a Control,
}

/// Trains a run to its end, going on where an earlier session stopped; a complete run is left as it is.
/// `lesson` makes what is trained, after so many epochs that are done: with the device's generator seeded
/// for the initial weights, in the thread that trains. `keep` puts what is left of a run that has all its
/// epochs into its folder.
///
/// # Errors
///
/// When its results cannot be saved, the device fails, or another worker has taken the run over; those of
/// `lesson` and `keep`. What an earlier epoch saved stays.
///
/// # Panics
///
/// When Burn does; the run is then as its last epoch left it.
pub fn learn<S: Spec, M: Trainable>(
    class: Class<'_, S>,
    lesson: impl FnOnce(usize) -> Result<Lesson<M>> + Send + 'static,
    keep: impl FnOnce(Learned<'_, S>) -> Result<()> + Send,
) -> Result<RunStatus> {
    gelu_kernels::keep_memory();
    let Class { run, plan, device, environment, control } = class;
    let before = run.status();
    if before.status.is_complete() {
        return Ok(before.status);
    }
    let checkpoint = sound_checkpoint(run)?;
    let metrics = checkpoint.as_ref().map_or_else(Vec::new, |found| found.metrics.clone());
    run.begin_session(environment, metrics.len())?;
    run.publish_metrics(&metrics)?;
    run.set_status(RunStatus::Running, before.seconds)?;

    let epochs = plan.epochs;
    let done = checkpoint.as_ref().map_or(0, |found| found.epoch);
    let session = Session::new(run.clone(), control.clone(), metrics, before.seconds, plan);
    let session = Arc::new(session);
    if epochs != Some(done) {
        let kernels = pool(threads(environment))?;
        carry_out(&session, device, checkpoint, kernels, lesson);
    }
    // Other threads than before: a display of Burn's that was left behind holds those.
    pool(threads(environment))?.install(|| finish(&session, keep))
}

/// The newest checkpoint that can be gone on from. Damaged ones that are newer are removed.
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

/// Says something in a run's log.
pub fn log<S: Spec>(line: &str) {
    complain(&format!("{}: {line}\n", S::TOOL));
}

/// The threads that a run may use.
fn threads(environment: &Environment) -> usize {
    let threads = environment.0.get("threads").and_then(serde_json::Value::as_u64);
    threads.and_then(|threads| usize::try_from(threads).ok()).unwrap_or(1)
}

/// Threads that a run's kernels share.
fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("kernels-{index}"))
        .build();
    pool.map_err(|error| Error::Failed(format!("cannot start {threads} threads: {error}")))
}

#[cfg(test)]
mod tests;
