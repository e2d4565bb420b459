//! Steps that are recorded once and replayed, where network and device can: with the bits of eager steps.

use super::EpochByEpoch;
use crate::capture::{Capture, Form, Steps, gradients};
use crate::log::log;
use crate::split_metrics::MetricSums;
use crate::training::check_rate;
use crate::{BatchMetrics, Error, Result, Trainable};
use burn::module::{ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor};
use burn::train::{InferenceStep, Learner, ValidLoader};
use gelu_compare::runs::Spec;
use gelu_core::random::{Key, note_keys, play_keys};
use gelu_training::{FixedBatch, NotCaptured, can_record};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

type Input<M> = <M as InferenceStep>::Input;

/// Steps of each way that a trial makes: three before the recording, and four replays.
const TRIED: u64 = 7;

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    pub(super) fn form(&self) -> Form {
        Form { clip_norm: self.steps.clip_norm, all_metrics: self.measured.train.is_none() }
    }

    /// Begins to capture steps, where copies of the network show that replays are eager steps. Says once why they
    /// are not; of a device that records nothing, nothing is said.
    pub(super) fn begin_capture(
        &self,
        learner: &mut Learner<M>,
    ) -> Result<Option<Box<dyn Steps<M>>>> {
        let device = self.device.clone().autodiff();
        let Some((capture, optimizer, learning_rate)) =
            self.capture.as_ref().filter(|_| can_record(&device))
        else {
            return Ok(None);
        };
        let new = || {
            let model = learner.model().valid().train().map(&mut Copier);
            Learner::new(model, optimizer.clone(), learning_rate.clone())
        };
        match self.tried(capture, &device, new) {
            Ok(()) => {
                self.session.note("steps", "recorded and replayed")?;
                // A network shares memory with what it was made of, and this one will be written to.
                learner.load_model(learner.model().into_record());
                Ok(Some((capture.begin)(&device)))
            }
            Err(problem) => {
                self.session.note("steps", &format!("eager: {problem}"))?;
                say_once::<S>(&format!("the steps are not recorded and replayed: {problem}"));
                Ok(None)
            }
        }
    }

    /// Makes steps both ways with two `new` learners, copies of the network and of the optimiser before its first
    /// step, on examples that are measured.
    fn tried(
        &self,
        capture: &Capture<M>,
        device: &Device,
        new: impl Fn() -> Learner<M>,
    ) -> std::result::Result<(), NotCaptured> {
        let refuse = |problem: &str| Err(NotCaptured::new(problem));
        if self.steps.grads_accumulation > 1 {
            return refuse("gradients are accumulated over batches");
        }
        if self.shown {
            return refuse("Burn's display needs the output of every batch");
        }
        let splits = &self.measured;
        let mut splits = [&splits.train, &splits.valid, &splits.test].into_iter().flatten();
        let Some(split) = splits.next() else {
            return refuse(
                "there are no examples to try it on; measure some, by .valid(…) for example",
            );
        };
        let batches = batches(split, capture, device)?;
        let (mut eager, mut captured) = (new(), new());
        let mut steps = (capture.begin)(device);
        for number in 0..TRIED {
            let batch = || (capture.copied)(&batches[number as usize % batches.len()]);
            eager.lr_step();
            captured.lr_step();
            device.seed(number);
            let (expected, keys) = note_keys(|| {
                let (gradients, metrics) = gradients(&eager, self.form(), batch());
                eager.optimizer_step(gradients);
                metrics
            });
            if draws_more(number, keys.len(), device) {
                return refuse(
                    "a step draws random numbers that a replay would repeat (Burn's Dropout, Tensor::random); \
                     gelu_training::layers::dropout can be recorded",
                );
            }
            let (found, _) = play_keys(keys, || steps.step(&mut captured, self.form(), batch()));
            let found = found?;
            if let Some(problem) = steps.unsupported() {
                return Err(problem);
            }
            if bits(expected)? != bits(found)? || numbers(&eager) != numbers(&captured) {
                return Err(NotCaptured::new(&format!(
                    "step {} came to other numbers than the eager one in a trial, so the step does something that a \
                     recording cannot know",
                    number + 1
                )));
            }
        }
        Ok(())
    }
}

/// One or two batches of a split, of one shape.
fn batches<M: Trainable>(
    split: &ValidLoader<M>,
    capture: &Capture<M>,
    device: &Device,
) -> std::result::Result<Vec<Input<M>>, NotCaptured> {
    let unreadable = |error: &dyn std::fmt::Display| NotCaptured::new(&error.to_string());
    let loader = split.to_device(device);
    let mut all = loader.iter();
    let first = match all.next() {
        Some(first) => first.map_err(|error| unreadable(&error))?,
        None => return Err(NotCaptured::new("there are no examples to try it on")),
    };
    let second = all.next().transpose().map_err(|error| unreadable(&error))?;
    let second = second.filter(|second| (capture.is_like)(&first, second));
    Ok(std::iter::once(first).chain(second).collect())
}

/// Whether the device's generator has been asked for more than these keys since it was seeded.
fn draws_more(seed: u64, keys: usize, device: &Device) -> bool {
    let next = || Key::next(device).words().into_data();
    let found = next();
    device.seed(seed);
    (0..keys).for_each(|_| drop(next()));
    let (found, expected) = (found.iter::<i64>(), next());
    !found.eq(expected.iter::<i64>())
}

/// What is measured of a batch, as bits.
fn bits(metrics: BatchMetrics) -> std::result::Result<Vec<u64>, NotCaptured> {
    let mut sums = MetricSums::default();
    sums.push(metrics);
    let values = sums.finish().map_err(|error| NotCaptured::new(&error.to_string()))?;
    Ok(values.iter().map(|(_, value)| value.to_bits()).collect())
}

/// All numbers of a network, as bits.
fn numbers<M: Trainable>(learner: &Learner<M>) -> Vec<u64> {
    struct Numbers(Vec<u64>);
    impl ModuleVisitor for Numbers {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.extend(param.val().into_data().iter::<f64>().map(f64::to_bits));
        }
    }
    let mut numbers = Numbers(Vec::new());
    learner.model().valid().visit(&mut numbers);
    numbers.0
}

/// Gives every parameter memory of its own.
struct Copier;

impl ModuleMapper for Copier {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let (is_autodiff, tracked) = (tensor.device().is_autodiff(), tensor.is_require_grad());
            let copy = tensor.without_autodiff().copied();
            let copy = if is_autodiff { Tensor::from_inner(copy) } else { copy };
            if tracked { copy.require_grad() } else { copy }
        })
    }
}

/// Says a line once, however many runs it is true of.
fn say_once<S: Spec>(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned()) {
        log::<S>(line);
    }
}

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    /// Makes a step in memory that stays.
    pub(super) fn captured_step(
        &self,
        steps: &mut dyn Steps<M>,
        learner: &mut Learner<M>,
        batch: Input<M>,
    ) -> Result<BatchMetrics> {
        learner.lr_step();
        check_rate(learner.lr_current().base())?;
        steps.step(learner, self.form(), batch).map_err(|problem| {
            Error::Failed(format!(
                "a step that was recorded cannot be replayed: {problem}; resume the run with --no-capture"
            ))
        })
    }
}
