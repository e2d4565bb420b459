use super::numbers::{Mode, in_place};
use super::state::{Buffers, placeholders, trained};
use super::{FixedBatch, NotCaptured};
use burn::module::{Module, ParamId};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_core as burn;
use burn_core::backend::{Backend, BackendGraph, Dispatch};
use burn_optim::GradientsParams;
use gelu_core::random::{Key, note_keys, play_keys};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A training whose step can be recorded: a network and its optimiser, one of this crate.
pub trait Recordable {
    /// What a step takes.
    type Batch: FixedBatch;
    /// What is known of a batch afterwards: its loss, for example.
    type Output;
    /// The network, on a device that tracks gradients.
    type Model: Module;

    /// The network as it is: a clone, which shares the memory of its parameters and its running statistics.
    fn model(&self) -> Self::Model;

    /// Makes the forward and the backward pass: the gradients, clipped if they are to be, and the output. Nothing is
    /// read back from the device here.
    fn gradients(&mut self, batch: Self::Batch) -> (GradientsParams, Self::Output);

    /// Makes the optimiser's step, at the learning rate of the moment, and nothing else on the device. In a replayed
    /// step the gradients are not to be looked at: the optimiser counts, and the device steps.
    fn update(&mut self, gradients: GradientsParams);
}

/// Steps before the one that is recorded: Burn needs three to tune kernels and to allocate memory.
const WARM_UP: usize = 3;

/// A training step that runs, is recorded and is replayed: with the bits of the eager step, and in a fraction of its
/// time where launching kernels takes longer than running them.
///
/// While it is there the parameters, the moments and the running statistics stay where they are in memory, and steps
/// overwrite them: **whoever keeps a clone of the network sees it change**. Take copies through a record.
///
/// - The optimisers are [`Adam`](crate::Adam) and [`Sgd`](crate::Sgd) in all their forms. Learning rate, bias corrections
///   and weight decay are computed by the host, as for an eager step, and uploaded before each replay; so schedulers
///   and rates by group work. The limit of [`clip_by_global_norm`](crate::clip_by_global_norm) is recorded.
/// - Dropout is that of [`layers::dropout`](crate::layers::dropout) and gelu-core, whose keys are drawn before each
///   replay, the same as by eager steps. Burn's own `Dropout` takes its seed from the host: **a replay would drop the
///   same elements again**.
/// - Batch norm's running statistics are moved back to where they were, Burn's as well as
///   [`layers::batch_norm`](crate::layers::batch_norm)'s.
/// - A batch of another shape, such as the last of an epoch, is stepped with in place and not recorded.
/// - What the host decides anew in each step, such as which layers to skip or how to weigh a loss, is recorded as it was
///   in the fourth step: compare a few replays with eager steps, as gelu-learner does.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::optim::{GradientsParams, ModuleOptimizer};
/// use burn::tensor::{Device, Tensor};
/// use gelu_training::{AdamConfig, CapturedStep, Recordable};
///
/// struct Fit {
///     model: Linear,
///     optimizer: ModuleOptimizer,
///     rate: f64,
/// }
///
/// impl Recordable for Fit {
///     type Batch = [Tensor<2>; 2];
///     type Output = Tensor<1>;
///     type Model = Linear;
///
///     fn model(&self) -> Linear {
///         self.model.clone()
///     }
///     fn gradients(&mut self, [x, y]: [Tensor<2>; 2]) -> (GradientsParams, Tensor<1>) {
///         let loss = (self.model.forward(x) - y).square().mean();
///         (GradientsParams::from_grads(loss.backward(), &self.model), loss.inner())
///     }
///     fn update(&mut self, gradients: GradientsParams) {
///         self.model = self.optimizer.step(self.rate, self.model.clone(), gradients);
///     }
/// }
///
/// let device = Device::default().autodiff();
/// let model = LinearConfig::new(3, 1).init(&device);
/// let mut fit = Fit { model, optimizer: AdamConfig::new().init(), rate: 0.1 };
/// let mut step = CapturedStep::new(&device);
/// let mut losses = Vec::new();
/// for _ in 0..20 {
///     fit.rate *= 0.9;
///     let batch = [Tensor::ones([8, 3], &device), Tensor::zeros([8, 1], &device)];
///     losses.push(step.step(&mut fit, batch)?.clone().into_scalar::<f32>());
/// }
/// assert!(losses[19] < losses[0]);
/// println!("{} of 20 steps were replays", step.replays());
/// # Ok::<(), gelu_training::NotCaptured>(())
/// ```
pub struct CapturedStep<B: FixedBatch, T> {
    /// Without autodiff: with it Burn records nothing, and says nothing.
    device: Device,
    /// In the memory of the recording.
    batch: Option<B>,
    keys: Vec<Tensor<1, Int>>,
    buffers: Option<Buffers>,
    /// Whose gradients a step computes.
    trained: BTreeSet<ParamId>,
    output: Option<T>,
    stage: Stage<T>,
    replays: usize,
}

enum Stage<T> {
    /// So many steps with batches of the shape that is recorded have been made.
    WarmUp(usize),
    Recorded(Box<Recording<T>>),
    /// The device cannot: steps are made in place.
    Unsupported(NotCaptured),
}

struct Recording<T> {
    graph: BackendGraph<Dispatch>,
    /// Where the optimisers' numbers are read.
    numbers: Tensor<1>,
    /// Of each replay, in the same memory.
    output: T,
}

impl<B: FixedBatch, T> std::fmt::Debug for CapturedStep<B, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CapturedStep").field("replays", &self.replays).finish_non_exhaustive()
    }
}

impl<B: FixedBatch, T> CapturedStep<B, T> {
    /// A step on this device, which is recorded after three that are not.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone().inner(),
            batch: None,
            keys: Vec::new(),
            buffers: None,
            trained: BTreeSet::new(),
            output: None,
            stage: match can_record(device) {
                true => Stage::WarmUp(0),
                false => Stage::Unsupported(NotCaptured(format!("{device:?} records nothing"))),
            },
            replays: 0,
        }
    }

    /// How many steps were replays.
    pub fn replays(&self) -> usize {
        self.replays
    }

    /// Why the device records nothing; `None` where it does, or has not been asked yet.
    pub fn unsupported(&self) -> Option<&NotCaptured> {
        match &self.stage {
            Stage::Unsupported(reason) => Some(reason),
            _ => None,
        }
    }

    /// Makes a step: its output, which the next step overwrites.
    ///
    /// # Errors
    ///
    /// When the step cannot be recorded. The training may be damaged then: go on from a record of it.
    ///
    /// # Panics
    ///
    /// As the training's own methods do.
    pub fn step<S: Recordable<Batch = B, Output = T>>(
        &mut self,
        training: &mut S,
        batch: B,
    ) -> Result<&T, NotCaptured> {
        if let Stage::Unsupported(_) = self.stage {
            return self.run_eagerly(training, batch);
        }
        let fits = match &mut self.batch {
            Some(fixed) if fixed.is_like(&batch) => {
                fixed.overwrite(batch.clone())?;
                true
            }
            Some(_) => false,
            None => {
                self.batch = Some(batch.copied());
                true
            }
        };
        let Some(batch) = self.batch.clone().filter(|_| fits) else {
            return self.run(training, batch);
        };
        match &mut self.stage {
            Stage::Recorded(_) => {
                drop(batch);
                self.replay(training)
            }
            Stage::WarmUp(steps) if *steps == WARM_UP => self.record(training, batch),
            Stage::WarmUp(steps) => {
                *steps += 1;
                if *steps == 1 {
                    // An error here is found again, and said, where the recording begins.
                    let _ = Dispatch::graph_prepare(self.device.as_dispatch());
                }
                self.run(training, batch)?;
                self.device.sync().map_err(failed)?;
                self.last_output()
            }
            Stage::Unsupported(_) => self.run_eagerly(training, batch),
        }
    }

    /// Makes an ordinary step.
    fn run_eagerly<S: Recordable<Batch = B, Output = T>>(
        &mut self,
        training: &mut S,
        batch: B,
    ) -> Result<&T, NotCaptured> {
        let (gradients, output) = training.gradients(batch);
        training.update(gradients);
        Ok(self.output.insert(output))
    }

    fn last_output(&self) -> Result<&T, NotCaptured> {
        let output = match &self.stage {
            Stage::Recorded(recording) => Some(&recording.output),
            _ => self.output.as_ref(),
        };
        output.ok_or_else(|| NotCaptured("no step has been made yet".to_owned()))
    }

    /// Makes a step in place, kernel by kernel.
    fn run<S: Recordable<Batch = B, Output = T>>(
        &mut self,
        training: &mut S,
        batch: B,
    ) -> Result<&T, NotCaptured> {
        // Of the step before, so that its memory can be taken again.
        self.output = None;
        let (result, keys) = note_keys(|| self.launch(training, batch, Mode::Run));
        let (output, numbers) = result?;
        if self.keys.is_empty() {
            self.keys = keys.iter().map(|key| key.words().copied()).collect();
        }
        if numbers.len() != super::WIDTH * self.trained.len() {
            return Err(NotCaptured(format!(
                "{} of {} parameters are stepped by an optimiser that cannot be recorded; gelu_training's Adam, AdamW \
                 and Sgd can",
                self.trained.len() - numbers.len() / super::WIDTH,
                self.trained.len()
            )));
        }
        Ok(self.output.insert(output))
    }

    /// Launches a step, in memory that stays: its output and the optimisers' numbers.
    fn launch<S: Recordable<Batch = B, Output = T>>(
        &mut self,
        training: &mut S,
        batch: B,
        mode: Mode,
    ) -> Result<(T, Vec<f32>), NotCaptured> {
        // A copy, which the training may keep: the next batch overwrites the original.
        let (gradients, output) = training.gradients(batch.copied());
        if self.buffers.is_none() {
            self.trained = trained(&training.model(), &gradients);
        }
        let ((), numbers) = in_place(mode, || training.update(gradients))?;
        let model = training.model();
        match &mut self.buffers {
            // What the first step left is what the next one reads.
            None => self.buffers = Some(Buffers::of(&model, &self.trained)),
            Some(buffers) => buffers.put_back(&model)?,
        }
        Ok((output, numbers))
    }

    /// Records a step, and makes it by the first replay.
    fn record<S: Recordable<Batch = B, Output = T>>(
        &mut self,
        training: &mut S,
        batch: B,
    ) -> Result<&T, NotCaptured> {
        self.output = None;
        self.draw_keys()?;
        let count = super::WIDTH * self.trained.len();
        let mut numbers = Tensor::zeros([count], (&self.device, DType::F32));
        self.device.sync().map_err(failed)?;
        let device = self.device.clone();
        let keys = self.keys.iter().cloned().map(Key::of_words).collect();
        if let Err(error) = Dispatch::graph_start_capture(device.as_dispatch()) {
            self.stage = Stage::Unsupported(failed(error));
            return play_keys(keys, || self.run_eagerly(training, batch)).0;
        }
        let mode = Mode::Record(Box::new(numbers.clone()));
        let launched = catch_unwind(AssertUnwindSafe(|| {
            play_keys(keys, || self.launch(training, batch, mode))
        }));
        // Whatever happened, or the device would go on recording.
        let graph = Dispatch::graph_stop_capture(device.as_dispatch());
        let (launched, lacking) = launched.unwrap_or_else(|panic| (Err(panicked(&*panic)), 0));
        let (output, values) = launched?;
        let graph = graph.map_err(failed)?;
        if lacking != 0 {
            return Err(NotCaptured(
                "it does not draw equally many masks in every step".to_owned(),
            ));
        }
        write(&mut numbers, values)?;
        self.stage = Stage::Recorded(Box::new(Recording { graph, numbers, output }));
        self.replayed()
    }

    /// Replays the recorded step: the host counts and computes what optimisers compute, and draws keys.
    fn replay<S: Recordable<Batch = B, Output = T>>(
        &mut self,
        training: &mut S,
    ) -> Result<&T, NotCaptured> {
        self.draw_keys()?;
        let gradients = placeholders(&training.model(), &self.trained);
        let ((), values) = in_place(Mode::Advance, || training.update(gradients))?;
        if let Stage::Recorded(recording) = &mut self.stage {
            write(&mut recording.numbers, values)?;
        }
        self.replayed()
    }

    /// Runs the recording with the numbers, keys and batch that are there.
    fn replayed(&mut self) -> Result<&T, NotCaptured> {
        if let Stage::Recorded(recording) = &self.stage {
            // SAFETY: this holds batch, keys, numbers, running statistics and output; the training holds parameters and
            // moments. What is between them is guarded by the recording. All is used on this thread's stream.
            #[allow(unsafe_code, reason = "Burn knows no other way to replay")]
            unsafe { Dispatch::graph_replay(self.device.as_dispatch(), &recording.graph) }
                .map_err(failed)?;
            self.replays += 1;
        }
        self.last_output()
    }

    /// Draws as many keys as the step does, in its order, to where the recording reads them.
    fn draw_keys(&mut self) -> Result<(), NotCaptured> {
        for words in &mut self.keys {
            let key = Key::next(&words.device());
            words.overwrite(key.words())?;
        }
        Ok(())
    }
}

impl<B: FixedBatch, T> Drop for CapturedStep<B, T> {
    fn drop(&mut self) {
        // A device that was prepared waits for a recording.
        if matches!(self.stage, Stage::WarmUp(1..)) {
            let _ = Dispatch::graph_stop_capture(self.device.as_dispatch());
        }
    }
}

/// Whether the backend of a device is one that may record steps: those of CubeCL, CUDA, HIP and wgpu among them.
pub fn can_record(device: &Device) -> bool {
    match device.clone().inner().as_dispatch() {
        #[cfg(feature = "cubecl-backend")]
        burn_core::backend::DispatchDevice::Cube(_) => true,
        _ => false,
    }
}

/// Uploads the optimisers' numbers to where the recording reads them.
fn write(numbers: &mut Tensor<1>, values: Vec<f32>) -> Result<(), NotCaptured> {
    let [count] = numbers.dims();
    if values.len() != count {
        return Err(NotCaptured("not every step trains the same parameters".to_owned()));
    }
    let options = (&numbers.device(), DType::F32);
    numbers.overwrite(Tensor::from_data(TensorData::new(values, [count]), options))
}

fn failed(error: impl std::fmt::Display) -> NotCaptured {
    NotCaptured(error.to_string())
}

/// Of a panic while a step was recorded. Most are of reads, which devices refuse then.
fn panicked(panic: &(dyn std::any::Any + Send)) -> NotCaptured {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    let beginning = text.split([':', '\n']).next().unwrap_or(text);
    NotCaptured(format!(
        "a step panics while it is recorded, as one that reads a result from the device does ({beginning})"
    ))
}
