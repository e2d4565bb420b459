//! Burn gives the tensors of an optimiser's record to nobody but an optimiser, so these are optimisers that step
//! nothing: they take states out, or put them in.

use crate::AdamState;
use crate::optimizer::zeros;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_optim::{GradientsParams, LearningRate, ModuleOptimizer, Optimizer, OptimizerRecord};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What [`Adam`](crate::Adam) keeps of one network, in a form that joins a [`CohortAdam`](super::CohortAdam) and
/// leaves it: the number of steps, and the network with its moments in the place of its parameters.
///
/// ```
/// use burn::nn::LinearConfig;
/// use burn::optim::GradientsParams;
/// use burn::tensor::{Device, Tensor};
/// use gelu_training::AdamConfig;
/// use gelu_training::cohort::AdamMoments;
///
/// let device = Device::default().autodiff();
/// let layer = LinearConfig::new(3, 2).init(&device);
/// let loss = layer.forward(Tensor::<2>::ones([1, 3], &device)).sum();
/// let gradients = GradientsParams::from_grads(loss.backward(), &layer);
/// let mut adam = AdamConfig::new().init();
/// let layer = adam.step(0.1, layer, gradients);
/// let AdamMoments { time, moments: [first, _] } = AdamMoments::of_record(adam.to_record(), &layer);
/// assert_eq!(time, 1);
/// // A tenth of the gradients, which are 1.
/// assert!((first.weight.val().sum().into_scalar::<f32>() - 0.6).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct AdamMoments<M> {
    /// The steps so far.
    pub time: usize,
    /// The first moments and the second, not tracked by autodiff.
    pub moments: [M; 2],
}

impl<M: Module> AdamMoments<M> {
    /// Before the first step.
    pub fn new(network: &M) -> Self {
        Self::of_record(OptimizerRecord::default(), network)
    }

    /// Takes a record of [`Adam`](crate::Adam), or of Burn's own, apart. `network` is that whose parameters it steps;
    /// of a parameter that the record does not know the moments are 0.
    pub fn of_record(record: OptimizerRecord, network: &M) -> Self {
        let taking = Taking::default();
        let optimizer = ModuleOptimizer::from(taking.clone()).load_record(record);
        let moments = [0, 1].map(|which| {
            taking.which.store(which, Ordering::Relaxed);
            let network = network.clone().map(&mut Tracked(true));
            let gradients = tensors(&network);
            optimizer.clone().step(0.0, network, gradients).map(&mut Tracked(false))
        });
        Self { time: taking.time.load(Ordering::Relaxed), moments }
    }

    /// The record of the optimiser that steps the network alone.
    pub fn into_record(self) -> OptimizerRecord {
        let [first, second] = self.moments;
        let mut optimizer = ModuleOptimizer::from(Placing { time: self.time });
        let gradients = tensors(&first);
        let _ = optimizer.step(0.0, second.map(&mut Tracked(true)), gradients);
        optimizer.to_record()
    }
}

/// Returns one of the two moments as the parameter after the step.
#[derive(Clone, Debug, Default)]
struct Taking {
    which: Arc<AtomicUsize>,
    time: Arc<AtomicUsize>,
}

impl Optimizer for Taking {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        _: LearningRate,
        parameter: Tensor<D>,
        _: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let Some(AdamState { time, moment_1, moment_2, .. }) = state else {
            return (zeros(&parameter), None);
        };
        self.time.store(time, Ordering::Relaxed);
        let moment = if self.which.load(Ordering::Relaxed) == 0 { moment_1 } else { moment_2 };
        (moment, None)
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        crate::Adam::to_device(state, device)
    }
}

/// Keeps the gradient as the first moment, and the parameter as the second.
#[derive(Clone, Debug)]
struct Placing {
    time: usize,
}

impl Optimizer for Placing {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        _: LearningRate,
        parameter: Tensor<D>,
        gradient: Tensor<D>,
        _: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let (moment_1, moment_2) = (gradient, parameter.clone());
        (parameter, Some(AdamState { time: self.time, moment_1, moment_2, max_moment_2: None }))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        crate::Adam::to_device(state, device)
    }
}

/// The parameters of a network as if they were its gradients.
fn tensors(network: &impl Module) -> GradientsParams {
    struct Tensors(GradientsParams);
    impl ModuleVisitor for Tensors {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.register(param.id, param.val().without_autodiff());
        }
    }
    let mut tensors = Tensors(GradientsParams::new());
    network.visit(&mut tensors);
    tensors.0
}

/// Parameters on a device that tracks gradients, as a step wants them, or on the device beneath it.
struct Tracked(bool);

impl ModuleMapper for Tracked {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let tensor = match (self.0, tensor.is_autodiff()) {
            (true, false) => tensor.autodiff(),
            (false, true) => tensor.without_autodiff(),
            _ => tensor,
        };
        Param::from_mapped_value(id, tensor, mapper)
    }
}
