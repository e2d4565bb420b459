//! `dy·unit′(x)` as a function of both, for who differentiates by hand and then differentiates that:
//! its gradients are `g·dy·unit″(x)` and `g·unit′(x)`.

use super::Recompute;
use crate::{ActivationOps, Unit, composed};
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{
        base::Checkpointer, retro_forward::RetroForward, state::BackwardStates,
        strategy::CheckpointStrategy,
    },
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::FloatTensor;
use core::marker::PhantomData;

/// The unit, and where its two inputs are kept.
#[derive(Clone, Debug)]
struct SavedSlope<B> {
    unit: Unit,
    input: NodeId,
    factor: NodeId,
    _backend: PhantomData<B>,
}

#[derive(Debug)]
struct BackwardSlope;

impl<B: ActivationOps> Backward<B, 2> for BackwardSlope {
    type State = SavedSlope<B>;

    fn backward(
        self,
        ops: Ops<SavedSlope<B>, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let SavedSlope { unit, input, factor, .. } = ops.state;
        let x = checkpointer.retrieve_node_output::<FloatTensor<B>>(input);
        let gradient = grads.consume::<B>(&ops.node);
        let [input, of_factor] = ops.parents;
        if let Some(node) = input {
            let dy = checkpointer.retrieve_node_output(factor);
            let (x, gradient) = (x.clone(), gradient.clone());
            grads.register::<B>(node.id, composed::backward_backward::<B>(x, dy, gradient, unit));
        }
        if let Some(node) = of_factor {
            grads.register::<B>(node.id, B::activation_backward(x, gradient, unit));
        }
    }
}

impl<B: ActivationOps> RetroForward for Recompute<SavedSlope<B>> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let SavedSlope { unit, input, factor, .. } = self.0;
        let x = states.get_state::<FloatTensor<B>>(&input);
        let dy = states.get_state::<FloatTensor<B>>(&factor);
        states.save(output, B::activation_backward(x, dy, unit));
    }
}

/// `dy·unit′(x)` with its backward pass.
pub(super) fn scaled<B: ActivationOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    dy: FloatTensor<Autodiff<B, C>>,
    unit: Unit,
) -> FloatTensor<Autodiff<B, C>> {
    let (input, factor) = (x.id(), dy.id());
    let saved = SavedSlope::<B> { unit, input, factor, _backend: PhantomData };
    match BackwardSlope
        .prepare::<C>([x.node(), dy.node()])
        .memory_bound()
        .retro_forward(Recompute(saved.clone()))
        .parents([&x, &dy])
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            prep.checkpoint(&x);
            if x.is_tracked() {
                prep.checkpoint(&dy);
            }
            let output = B::activation_backward(x.into_primitive(), dy.into_primitive(), unit);
            prep.finish(saved, output)
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(B::activation_backward(x.into_primitive(), dy.into_primitive(), unit))
        }
    }
}
