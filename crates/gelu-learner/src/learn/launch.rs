//! Training through Burn, in a thread of its own.

use super::aside::Aside;
use super::{Lesson, ShownMetrics};
use crate::checkpoint::{EveryEpoch, PartCheckpointer, Parts, numbered};
use crate::epochs::EpochByEpoch;
use crate::randomness::{Purpose, device_seed};
use crate::session::Session;
use crate::silent::Silent;
use crate::{Error, Result, Trainable};
use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::{Learner, SupervisedTraining, TrainingStrategy};
use gelu_compare::runs::{Checkpoint, Spec};
use rayon::ThreadPool;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Trains in a thread of its own: a panic ends that alone, and a display of Burn's that has lost
/// its terminal, and never ends, is left behind.
pub(super) fn carry_out<S: Spec, M: Trainable>(
    session: &Arc<Session<S>>,
    device: &Device,
    checkpoint: Option<Checkpoint>,
    kernels: ThreadPool,
    lesson: impl FnOnce(usize) -> Result<Lesson<M>> + Send + 'static,
) {
    let (device, of_thread) = (device.clone(), session.clone());
    let (ended, end) = channel::<()>();
    let thread = std::thread::Builder::new().name("training".to_owned()).spawn(move || {
        let _ended = ended;
        kernels.install(|| {
            if let Err(error) = launch(&of_thread, &device, checkpoint.as_ref(), lesson) {
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

/// Trains through Burn until the strategy ends it; how, the session knows.
fn launch<S: Spec, M: Trainable>(
    session: &Arc<Session<S>>,
    device: &Device,
    checkpoint: Option<&Checkpoint>,
    lesson: impl FnOnce(usize) -> Result<Lesson<M>>,
) -> Result<()> {
    let done = checkpoint.map_or(0, |found| found.epoch);
    let seed = session.spec().key().seed;
    device.seed(device_seed(seed, Purpose::Weights));
    let Lesson { model, optimizer, rates, epochs, train, measuring, clock, shown } = lesson(done)?;
    session.set_epochs(epochs);
    if done == epochs {
        return Ok(());
    }
    if done > epochs {
        return Err(Error::Usage(format!(
            "the run has {done} epochs already, and {epochs} are asked for now; name another folder with \
             --out"
        )));
    }
    let model = numbered(model);
    if let Some(checkpoint) = checkpoint {
        check_fit(&model, checkpoint)?;
    }
    // Burn wants one: that of its display, where there is one.
    let beside = [&measuring.valid, &measuring.test].into_iter().flatten().next().cloned();
    let beside = beside.unwrap_or_else(|| train.to_device(device));
    let parts = Arc::new(Parts::default());
    let [model_part, optimizer_part, scheduler] =
        PartCheckpointer::all(&parts, checkpoint.map(|found| found.path.as_path()));
    let mut training = SupervisedTraining::<M>::new(session.run.folder().path(), train, beside)
        .num_epochs(epochs)
        .with_application_logger(None)
        .with_metric_logger(InMemoryMetricLogger::new())
        .with_interrupter(session.interrupter.clone())
        .with_checkpointing_strategy(EveryEpoch)
        .with_custom_checkpointers(model_part, optimizer_part, scheduler)
        .label(&session.spec().name());
    let strategy = EpochByEpoch {
        session: session.clone(),
        parts,
        measuring,
        clock,
        device: device.clone(),
        shown: shown.is_some(),
    };
    training = match shown {
        Some(register) => ShownMetrics::registered(training, register),
        None => training.renderer(Box::new(Silent)),
    };
    if done > 0 {
        training = training.checkpoint(done);
    }
    let _aside = match strategy.shown && std::io::stderr().is_terminal() {
        true => Some(Aside::of(session)?),
        false => None,
    };
    let learner = Learner::new(model.train(), optimizer, rates);
    training.with_training_strategy(TrainingStrategy::Custom(Arc::new(strategy))).launch(learner);
    Ok(())
}

/// Refuses a network that its checkpoint is none of.
fn check_fit<M: Module>(model: &M, checkpoint: &Checkpoint) -> Result<()> {
    let path = checkpoint.path.join("model.bpk");
    let fits = ModuleRecord::load(&path).and_then(|record| model.clone().try_load_record(record));
    fits.map(|_| ()).map_err(|error| {
        Error::Failed(format!(
            "the network that is built now is not the one that was saved after epoch {}: {error}\nThe \
             program has changed since, or the network changes its parameters while it trains, which \
             cannot be gone on from. Name another folder with --out, or delete {}",
            checkpoint.epoch,
            checkpoint.path.parent().unwrap_or(&path).display()
        ))
    })
}
