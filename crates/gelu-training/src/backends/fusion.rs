//! Operations under fusion. An optimiser's step is one node of the graph, so that the inner backend runs
//! its own kernel for the node. All other operations are composed, and fusion joins them with their
//! neighbours.

use crate::cohort::CohortOps;
use crate::{AdamStep, SgdStep, TrainingOps};
use burn_core::backend::tensor::FloatTensor;
use burn_fusion::custom::{
    CustomOpIr, HandleContainer, Operation, OperationIr, OperationOutput, StreamId, TensorIr,
};
use burn_fusion::{ExecutionError, Fusion, FusionBackend, FusionRuntime};
use std::marker::PhantomData;

/// A step of a parameter with its gradient and its moments. A step in place takes the device's numbers after these, and
/// the position of its own numbers there.
#[derive(Clone, Copy, Debug)]
enum Step {
    Adam(AdamStep),
    Amsgrad(AdamStep),
    Sgd(SgdStep),
    AdamInPlace(AdamStep, usize),
    AmsgradInPlace(AdamStep, usize),
    SgdInPlace(SgdStep, usize),
}

impl Step {
    fn id(self) -> &'static str {
        match self {
            Self::Adam(_) => "gelu::adam_step",
            Self::Amsgrad(_) => "gelu::amsgrad_step",
            Self::Sgd(_) => "gelu::sgd_step",
            Self::AdamInPlace(..) => "gelu::adam_step_in_place",
            Self::AmsgradInPlace(..) => "gelu::amsgrad_step_in_place",
            Self::SgdInPlace(..) => "gelu::sgd_step_in_place",
        }
    }
}

/// A node of the graph. It holds the numbers of a step outside the description that the graph is cached
/// by, because they change with every step.
#[derive(Debug)]
struct Node<B> {
    step: Step,
    desc: CustomOpIr,
    _backend: PhantomData<B>,
}

impl<B: FusionBackend + TrainingOps> Operation<B::FusionRuntime> for Node<B> {
    fn execute(
        &self,
        handles: &mut HandleContainer<<B::FusionRuntime as FusionRuntime>::FusionHandle>,
    ) -> Result<(), ExecutionError> {
        let mut inputs = self.desc.inputs.iter();
        let mut input = || {
            let input = inputs.next().expect("as many as were registered");
            handles.get_float_tensor::<B>(input)
        };
        let results = match self.step {
            Step::Adam(step) => {
                let (w, m, v) = B::adam_step(input(), input(), input(), input(), step);
                vec![w, m, v]
            }
            Step::Amsgrad(step) => {
                let (w, m, v, maximum) =
                    B::amsgrad_step(input(), input(), input(), input(), input(), step);
                vec![w, m, v, maximum]
            }
            Step::Sgd(step) => {
                let (w, v) = B::sgd_step(input(), input(), input(), step);
                vec![w, v]
            }
            Step::AdamInPlace(step, first) => {
                let (w, m, v) =
                    B::adam_step_in_place(input(), input(), input(), input(), input(), first, step);
                vec![w, m, v]
            }
            Step::AmsgradInPlace(step, first) => {
                let (w, m, v, maximum) = B::amsgrad_step_in_place(
                    input(),
                    input(),
                    input(),
                    input(),
                    input(),
                    input(),
                    first,
                    step,
                );
                vec![w, m, v, maximum]
            }
            Step::SgdInPlace(step, first) => {
                let (w, v) = B::sgd_step_in_place(input(), input(), input(), input(), first, step);
                vec![w, v]
            }
        };
        for (output, result) in self.desc.outputs.iter().zip(results) {
            handles.register_float_tensor::<B>(&output.id, result);
        }
        Ok(())
    }
}

/// Registers the step. The results have the shapes and types of the parameter and its moments.
fn register<B: FusionBackend + TrainingOps, const IN: usize, const OUT: usize>(
    step: Step,
    inputs: [FloatTensor<Fusion<B>>; IN],
) -> [FloatTensor<Fusion<B>>; OUT] {
    let client = inputs[0].client.clone();
    let inputs = inputs.map(|input| input.into_ir());
    let like = |input: &TensorIr| {
        TensorIr::uninit(client.create_empty_handle(), input.shape.clone(), input.dtype)
    };
    let stepped = inputs.iter().enumerate().filter(|(place, _)| *place != GRADIENT);
    let outputs: Vec<TensorIr> = stepped.take(OUT).map(|(_, input)| like(input)).collect();
    let desc = CustomOpIr::new(step.id(), &inputs, &outputs);
    let node = Node::<B> { step, desc: desc.clone(), _backend: PhantomData };
    client.register(StreamId::current(), OperationIr::Custom(desc), node).outputs()
}

/// Registers a step in place. The graph knows nothing of operations that write to their inputs, so all that was
/// registered before and may read these runs first.
fn register_in_place<B: FusionBackend + TrainingOps, const IN: usize, const OUT: usize>(
    step: Step,
    inputs: [FloatTensor<Fusion<B>>; IN],
) -> [FloatTensor<Fusion<B>>; OUT] {
    inputs[0].client.sync(|| ());
    register::<B, IN, OUT>(step, inputs)
}

/// The position of the gradient among the inputs.
const GRADIENT: usize = 1;

impl<B: FusionBackend + TrainingOps> CohortOps for Fusion<B> {}

impl<B: FusionBackend + TrainingOps> TrainingOps for Fusion<B> {
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        register::<B, _, _>(Step::Adam(step), [parameter, gradient, moment_1, moment_2]).into()
    }

    fn amsgrad_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let inputs = [parameter, gradient, moment_1, moment_2, maximum];
        register::<B, _, _>(Step::Amsgrad(step), inputs).into()
    }

    fn sgd_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        register::<B, _, _>(Step::Sgd(step), [parameter, gradient, velocity]).into()
    }

    fn adam_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let inputs = [parameter, gradient, moment_1, moment_2, numbers];
        register_in_place::<B, _, _>(Step::AdamInPlace(step, first), inputs).into()
    }

    fn amsgrad_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let inputs = [parameter, gradient, moment_1, moment_2, maximum, numbers];
        register_in_place::<B, _, _>(Step::AmsgradInPlace(step, first), inputs).into()
    }

    fn sgd_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let inputs = [parameter, gradient, velocity, numbers];
        register_in_place::<B, _, _>(Step::SgdInPlace(step, first), inputs).into()
    }
}

#[cfg(all(test, feature = "fusion", feature = "wgpu"))]
mod tests {
    use crate::{AdamConfig, SgdConfig};
    use burn::tensor::{Device, Tensor};
    use burn_core as burn;
    use burn_fusion::custom::OperationIr;
    use burn_fusion::observer::{BlockOperations, FusionObservation, FusionObserver};
    use burn_optim::Optimizer;
    use std::sync::{Arc, Mutex};

    /// The operations that a fused device received.
    #[derive(Default)]
    struct Asked(Mutex<Vec<String>>);

    impl FusionObserver for Asked {
        fn registered(&self, operation: &OperationIr) {
            let name = match operation {
                OperationIr::Custom(desc) => desc.id.clone(),
                OperationIr::Drop(_) => return,
                _ => "another".to_owned(),
            };
            self.0.lock().expect("nobody panics with it").push(name);
        }

        fn block_starts(&self, _: BlockOperations<'_>) {}

        fn block_ran(&self) {}
    }

    #[test]
    fn a_step_on_a_fused_device_is_one_operation() {
        let device = Device::wgpu(burn::tensor::DeviceKind::DefaultDevice);
        let numbers = || Tensor::<1>::from_floats([1.0, -2.0, 3.0], &device);
        let asked = Arc::new(Asked::default());
        let (adam, sgd) = (AdamConfig::new().build(), SgdConfig::new().build());
        // The optimisers have a state before the test observes the second steps.
        let (weight, of_adam) = adam.step(0.1, numbers(), numbers(), None);
        let (weight, of_sgd) = sgd.step(0.1, weight, numbers(), None);
        let (one, two) = (numbers(), numbers());
        device.sync().unwrap();
        let observation = FusionObservation::new(asked.clone());
        let (weight, _) = adam.step(0.1, weight, one, of_adam);
        let (weight, _) = sgd.step(0.1, weight, two, of_sgd);
        device.sync().unwrap();
        drop(observation);
        assert_eq!(*asked.0.lock().unwrap(), ["gelu::adam_step", "gelu::sgd_step"]);
        assert!(weight.into_data().iter::<f32>().all(f32::is_finite));
    }
}
