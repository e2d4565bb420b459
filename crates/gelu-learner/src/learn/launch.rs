//! Runs Burn's training in a separate thread.

use super::keys::KeyReader;
use super::redirected_stderr::RedirectedStderr;
use crate::checkpoint::{EveryEpoch, PartCheckpointer, Parts, numbered};
use crate::epochs::EpochByEpoch;
use crate::randomness::{Purpose, device_seed};
use crate::session::Session;
use crate::silent::Silent;
use crate::training::Prepared;
use crate::{Error, Result, Trainable, Training};
use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::{Learner, SupervisedTraining, TrainingStrategy};
use gelu_compare::runs::{Checkpoint, RunStatus, Spec};
use rayon::ThreadPool;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Trains in a separate thread. A panic ends only that thread, and the caller leaves the thread behind if Burn's
/// display has lost its terminal and never ends.
pub(super) fn carry_out<S: Spec, M: Trainable>(
    session: &Arc<Session<S>>,
    device: &Device,
    checkpoint: Option<Checkpoint>,
    kernels: ThreadPool,
    training: impl FnOnce(usize) -> Result<Training<M>> + Send + 'static,
) {
    let (device, of_thread) = (device.clone(), session.clone());
    let (ended, end) = channel::<()>();
    let thread = std::thread::Builder::new().name("training".to_owned()).spawn(move || {
        let _ended = ended;
        kernels.install(|| {
            if let Err(error) = launch(&of_thread, &device, checkpoint.as_ref(), training) {
                of_thread.end(Err(error));
            }
        });
    });
    let thread = match thread {
        Ok(thread) => thread,
        Err(error) => {
            return session.end(Err(Error::io("start a thread for", "training")(error)));
        }
    };
    while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(Duration::from_millis(100)) {
        if session.control.has_no_terminal() && session.has_ended() {
            return;
        }
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Trains through Burn until the strategy ends the training; the session records how it ended.
fn launch<S: Spec, M: Trainable>(
    session: &Arc<Session<S>>,
    device: &Device,
    checkpoint: Option<&Checkpoint>,
    training: impl FnOnce(usize) -> Result<Training<M>>,
) -> Result<()> {
    let done = checkpoint.map_or(0, |found| found.epoch);
    let seed = session.spec().key().seed;
    device.seed(device_seed(seed, Purpose::Weights));
    let mut prepared = training(done)?.prepared(seed, done, device, &session.options().higher)?;
    let epochs = prepared.num_epochs;
    session.set_epochs(epochs);
    let stopped = prepared.early_stopping.as_ref();
    if done == epochs || stopped.is_some_and(|strategy| strategy.should_stop(&session.metrics())) {
        session.end(Ok(RunStatus::Finished));
        return Ok(());
    }
    if done > epochs {
        return Err(Error::Usage(format!(
            "the run has {done} epochs already, and {epochs} are asked for now; name another folder with \
             --out"
        )));
    }
    let shown = prepared.has_display();
    let model = numbered(prepared.model.clone());
    if let Some(checkpoint) = checkpoint {
        check_fit(&model, checkpoint)?;
    }
    // Burn requires a validation loader: the one on its display, if there is one.
    let valid = [&prepared.measured.valid, &prepared.measured.test].into_iter().flatten().next();
    let valid = valid.cloned().unwrap_or_else(|| prepared.train.to_device(device));
    let parts = Arc::new(Parts::with(std::mem::take(&mut prepared.metadata)));
    let [model_part, optimizer_part, scheduler] =
        PartCheckpointer::all(&parts, checkpoint.map(|found| found.path.as_path()));
    let folder = session.run.folder().path();
    let mut training = SupervisedTraining::<M>::new(folder, prepared.train.clone(), valid)
        .num_epochs(epochs)
        .with_application_logger(None)
        .with_metric_logger(InMemoryMetricLogger::new())
        .with_interrupter(session.interrupter.clone())
        .with_checkpointing_strategy(EveryEpoch)
        .with_custom_checkpointers(model_part, optimizer_part, scheduler)
        .label(&session.spec().name());
    training = match shown {
        true => prepared.registered(training),
        false => training.renderer(Box::new(Silent)),
    };
    let Prepared {
        optimizer,
        learning_rate,
        steps,
        measured,
        early_stopping,
        on_epoch,
        capture,
        ..
    } = prepared;
    let strategy = EpochByEpoch {
        session: session.clone(),
        parts,
        steps,
        measured,
        early_stopping,
        on_epoch,
        device: device.clone(),
        shown,
        capture: capture.map(|capture| (capture, optimizer.clone(), learning_rate.clone())),
    };
    if done > 0 {
        training = training.checkpoint(done);
    }
    let _redirected = match shown && std::io::stderr().is_terminal() {
        true => Some(RedirectedStderr::of(session)?),
        false => None,
    };
    let _keys = (shown && std::io::stdin().is_terminal()).then(KeyReader::start);
    let learner = Learner::new(model.train(), optimizer, learning_rate);
    training.with_training_strategy(TrainingStrategy::Custom(Arc::new(strategy))).launch(learner);
    Ok(())
}

/// Checks that the checkpoint belongs to this network.
pub(crate) fn check_fit<M: Module>(model: &M, checkpoint: &Checkpoint) -> Result<()> {
    let path = checkpoint.path.join("model.bpk");
    let fits = ModuleRecord::load(&path).and_then(|record| model.clone().try_load_record(record));
    fits.map(|_| ()).map_err(|error| {
        Error::Failed(format!(
            "the network that is built now is not the one that was saved after epoch {} ({error}), because the program \
             has changed since, or the network changes its parameters while it trains; name another folder with \
             --out, or delete {}",
            checkpoint.epoch,
            checkpoint.path.parent().unwrap_or(&path).display()
        ))
    })
}
