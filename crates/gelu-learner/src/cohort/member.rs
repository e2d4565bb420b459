use super::Beginner;
use crate::checkpoint::{Metadata, Parts, Records};
use crate::epochs::EpochByEpoch;
use crate::learn::check_fit;
use crate::randomness::{Purpose, device_seed};
use crate::session::{Measured, Session, Tested};
use crate::split_metrics::MetricSums;
use crate::training::{Prepared, check_rate};
use crate::{Error, ModelOutput, Result, Trainable, Training, numbered};
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::tensor::{Bytes, Device};
use burn::train::TrainLoader;
use gelu_compare::runs::{Phase, RunStatus, Spec};
use gelu_core::random::{Draw, Key};
use gelu_training::cohort::AdamMoments;
use std::ops::ControlFlow;
use std::sync::Arc;

/// One run of a cohort: all that it has of its own while the networks are stepped together.
pub(super) struct Member<S, M: Trainable> {
    /// What measures and ends its epochs.
    strategy: EpochByEpoch<M, S>,
    train: TrainLoader<M>,
    learning_rate: ModuleLrScheduler,
    metadata: Metadata,
    num_epochs: usize,
    /// The rate of its last step.
    rate: f64,
    /// What its batches measured in this epoch.
    sums: MetricSums,
    /// The keys that are left of this epoch's.
    draws: std::vec::IntoIter<Draw>,
}

/// What a run has of an epoch before it is saved.
pub(super) struct Unsaved {
    measured: Measured,
    parts: [Bytes; 3],
    /// Whether the run has all its epochs then.
    is_last: bool,
}

impl Unsaved {
    /// Saves it; returns how the run ends, if it does.
    pub(super) fn save<S: Spec>(self, session: &Session<S>) -> Result<Option<RunStatus>> {
        session.end_epoch(self.measured, self.parts)?;
        Ok(match session.stops_after_epoch() {
            _ if self.is_last => Some(RunStatus::Finished),
            true => Some(RunStatus::Interrupted),
            false => None,
        })
    }
}

/// A member with its network and the state of its optimiser.
pub(super) type Joined<S, M> = (Member<S, M>, M, AdamMoments<M>);

impl<S: Spec, M: Trainable> Member<S, M> {
    /// Puts a run's training together; `None` where nothing of it is left to be trained.
    pub(super) fn join(
        (_, session, checkpoint): &Beginner<S>,
        device: &Device,
        training: impl FnOnce(usize) -> Result<Training<M>>,
    ) -> Result<Option<Joined<S, M>>> {
        let done = checkpoint.as_ref().map_or(0, |found| found.epoch);
        let seed = session.spec().key().seed;
        device.seed(device_seed(seed, Purpose::Weights));
        let prepared = training(done)?.prepared(seed, done, device, &session.options().higher)?;
        session.set_epochs(prepared.num_epochs);
        let Prepared { model, learning_rate, num_epochs, train, steps, measured, .. } = prepared;
        let Prepared { early_stopping, on_epoch, metadata, .. } = prepared;
        let stopped = early_stopping.as_ref();
        if done >= num_epochs || stopped.is_some_and(|rule| rule.should_stop(&session.metrics())) {
            session.end(Ok(RunStatus::Finished));
            return Ok(None);
        }
        let network = numbered(model);
        let (network, moments, learning_rate) = match checkpoint {
            Some(checkpoint) => {
                check_fit(&network, checkpoint)?;
                let Records { model, optimizer, scheduler } = Records::load(&checkpoint.path)?;
                let network = network.load_record(model);
                let moments = AdamMoments::of_record(optimizer, &network);
                (network, moments, learning_rate.load_record(scheduler))
            }
            None => {
                let moments = AdamMoments::new(&network);
                (network, moments, learning_rate)
            }
        };
        let strategy = EpochByEpoch {
            session: session.clone(),
            parts: Arc::new(Parts::default()),
            steps,
            measured,
            early_stopping,
            on_epoch,
            device: device.clone(),
            shown: false,
            capture: None,
        };
        let train = train.to_device(&device.clone().autodiff());
        let (rate, sums, draws) = (0.0, MetricSums::default(), Vec::new().into_iter());
        let member =
            Self { strategy, train, learning_rate, metadata, num_epochs, rate, sums, draws };
        Ok(Some((member, network.train(), moments)))
    }

    pub(super) fn session(&self) -> &Arc<Session<S>> {
        &self.strategy.session
    }

    /// The largest norm of its gradients.
    pub(super) fn clip_norm(&self) -> Option<f64> {
        self.strategy.steps.clip_norm
    }

    pub(super) fn batches(&self) -> TrainLoader<M> {
        self.train.clone()
    }

    /// Begins an epoch: from here on the device's generator is this run's.
    pub(super) fn begin(&mut self, epoch: usize) {
        self.session().begin_epoch(epoch, &self.strategy.device);
        (self.strategy.on_epoch)(epoch);
        let total = self.train.num_items();
        self.session().progress.update(|progress| {
            (progress.epoch, progress.phase) = (epoch, Phase::Train);
            (progress.done, progress.total) = (0, total);
        });
        self.sums = MetricSums::default();
    }

    /// Draws the keys of an epoch, in the order in which the network would alone.
    pub(super) fn draw(&mut self, keys: usize) {
        let device = &self.strategy.device;
        let draws: Vec<Draw> = (0..keys).map(|_| Key::next(device).draw()).collect();
        self.draws = draws.into_iter();
    }

    pub(super) fn next_draw(&mut self) -> Draw {
        self.draws.next().expect("as many were drawn as an epoch has steps")
    }

    /// The learning rate of the next step.
    pub(super) fn next_rate(&mut self) -> Result<f64> {
        self.rate = self.learning_rate.step().base();
        check_rate(self.rate)?;
        Ok(self.rate)
    }

    /// Takes in what its network made of a batch, `done` examples of the epoch being seen.
    pub(super) fn push(&mut self, output: &impl ModelOutput, done: usize) -> Result<()> {
        self.sums.push(match self.strategy.measured.train {
            None => output.measure(),
            Some(_) => output.measure_loss(),
        });
        let progress = &self.strategy.session.progress;
        if progress.is_due() {
            let loss = self.sums.finish()?.loss();
            progress.update(|progress| (progress.done, progress.batch_loss) = (done, Some(loss)));
        }
        Ok(())
    }

    /// Measures the network, and returns what is saved of it and of its optimiser; or how the run ends, if nothing is.
    pub(super) fn measure(
        &mut self,
        epoch: usize,
        network: M,
        moments: AdamMoments<M>,
    ) -> Result<ControlFlow<RunStatus, Unsaved>> {
        let strategy = &self.strategy;
        if strategy.session.stops_now() {
            return Ok(ControlFlow::Break(RunStatus::Interrupted));
        }
        let trained = self.sums.finish()?;
        let is_measured = epoch.is_multiple_of(strategy.measured.every) || epoch == self.num_epochs;
        let (mut metrics, tested) = match is_measured {
            true => strategy.measure(epoch, trained, None, &network, self.rate)?,
            false => (strategy.trained_alone(epoch, &trained, self.rate), Tested::default()),
        };
        if strategy.has_diverged(&metrics, is_measured)? {
            return Ok(ControlFlow::Break(RunStatus::Diverged { epoch }));
        }
        let is_last = strategy.stops_early(&mut metrics, is_measured)? || epoch == self.num_epochs;
        let records = Records {
            model: network.into_record(),
            optimizer: moments.into_record(),
            scheduler: self.learning_rate.to_record(),
        };
        let parts = records.into_parts(&self.metadata)?;
        Ok(ControlFlow::Continue(Unsaved { measured: (metrics, tested), parts, is_last }))
    }

    /// Whether the steps of another run are made as this one's.
    pub(super) fn steps_as(&self, other: &Self) -> Result<()> {
        let of = |member: &Self| {
            let steps = &member.strategy.steps;
            (steps.grads_accumulation, steps.clip_norm, member.train.num_items())
        };
        match of(self) == of(other) && self.strategy.steps.grads_accumulation == 1 {
            true => Ok(()),
            false => Err(Error::Failed(
                "runs that train as one have as many examples, the same limit of their gradients, and a step for \
                 each batch; train this one alone (--cohort 1)"
                    .to_owned(),
            )),
        }
    }
}
