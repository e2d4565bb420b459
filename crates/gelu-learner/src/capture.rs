//! How steps are recorded in memory that stays, and replayed.

use crate::{BatchMetrics, ModelOutput, Trainable};
use burn::optim::GradientsParams;
use burn::tensor::Device;
use burn::train::{InferenceStep, Learner};
use gelu_training::{CapturedStep, FixedBatch, NotCaptured, Recordable, clip_by_global_norm};

type Input<M> = <M as InferenceStep>::Input;

/// What a training says of captured steps: how they are made of its batches.
#[derive(Clone, Copy)]
pub(crate) struct Capture<M: Trainable> {
    pub(crate) begin: fn(&Device) -> Box<dyn Steps<M>>,
    pub(crate) copied: fn(&Input<M>) -> Input<M>,
    pub(crate) is_like: fn(&Input<M>, &Input<M>) -> bool,
}

impl<M: Trainable> Capture<M>
where
    Input<M>: FixedBatch,
{
    pub(crate) fn new() -> Self {
        Self {
            begin: |device| Box::new(CapturedStep::<Input<M>, BatchMetrics>::new(device)),
            copied: Input::<M>::copied,
            is_like: Input::<M>::is_like,
        }
    }
}

/// What the steps of a training are like.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) clip_norm: Option<f64>,
    /// Whether all metrics of a batch are wanted, or its loss alone.
    pub(crate) all_metrics: bool,
}

/// Makes the steps of a training in memory that stays.
pub(crate) trait Steps<M: Trainable> {
    /// Makes a step: what is measured of the batch, in memory of its own.
    fn step(
        &mut self,
        learner: &mut Learner<M>,
        form: Form,
        batch: Input<M>,
    ) -> std::result::Result<BatchMetrics, NotCaptured>;

    /// Why the device records nothing, where that has turned out.
    fn unsupported(&self) -> Option<NotCaptured>;
}

impl<M: Trainable> Steps<M> for CapturedStep<Input<M>, BatchMetrics>
where
    Input<M>: FixedBatch,
{
    fn step(
        &mut self,
        learner: &mut Learner<M>,
        form: Form,
        batch: Input<M>,
    ) -> std::result::Result<BatchMetrics, NotCaptured> {
        Ok(self.step(&mut Learning { learner, form }, batch)?.copied())
    }

    fn unsupported(&self) -> Option<NotCaptured> {
        self.unsupported().cloned()
    }
}

/// A learner whose learning rate has been stepped already.
struct Learning<'a, M: Trainable> {
    learner: &'a mut Learner<M>,
    form: Form,
}

impl<M: Trainable> Recordable for Learning<'_, M>
where
    Input<M>: FixedBatch,
{
    type Batch = Input<M>;
    type Output = BatchMetrics;
    type Model = M;

    fn model(&self) -> M {
        self.learner.model()
    }

    fn gradients(&mut self, batch: Input<M>) -> (GradientsParams, BatchMetrics) {
        gradients(self.learner, self.form, batch)
    }

    fn update(&mut self, gradients: GradientsParams) {
        self.learner.optimizer_step(gradients);
    }
}

/// The gradients of a batch, clipped, and what is measured of it.
pub(crate) fn gradients<M: Trainable>(
    learner: &Learner<M>,
    form: Form,
    batch: Input<M>,
) -> (GradientsParams, BatchMetrics) {
    let output = learner.train_step(batch);
    let gradients = match form.clip_norm {
        Some(largest) => clip_by_global_norm(output.grads, &learner.model(), largest),
        None => output.grads,
    };
    let mut metrics = match form.all_metrics {
        true => output.item.measure(),
        false => output.item.measure_loss(),
    };
    metrics.take_loss();
    (gradients, metrics)
}
