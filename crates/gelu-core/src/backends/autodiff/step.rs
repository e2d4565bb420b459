use super::Recompute;
use crate::{ActivationOps, Unit};
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{
        base::Checkpointer, retro_forward::RetroForward, state::BackwardStates,
        strategy::CheckpointStrategy,
    },
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::{FloatTensor, IntTensor};

/// Bias, activation and dropout, and where the two inputs are kept.
#[derive(Clone, Debug)]
struct SavedStep<B: ActivationOps> {
    unit: Unit,
    /// The key, and the threshold below which its numbers drop.
    dropout: Option<(IntTensor<B>, u32)>,
    input: NodeId,
    bias: NodeId,
}

impl<B: ActivationOps> SavedStep<B> {
    fn forward(&self, x: FloatTensor<B>, bias: FloatTensor<B>) -> FloatTensor<B> {
        match self.dropout.clone() {
            Some((key, threshold)) => {
                B::bias_activation_dropout(x, bias, key, self.unit, threshold)
            }
            None => B::bias_activation(x, bias, self.unit),
        }
    }
}

#[derive(Debug)]
struct BackwardStep;

impl<B: ActivationOps> Backward<B, 2> for BackwardStep {
    type State = SavedStep<B>;

    fn backward(
        self,
        ops: Ops<SavedStep<B>, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let SavedStep { unit, dropout, input, bias } = ops.state;
        let x = checkpointer.retrieve_node_output(input);
        let bias = checkpointer.retrieve_node_output(bias);
        let dy = grads.consume::<B>(&ops.node);
        let (dx, dbias) = match dropout {
            Some((key, threshold)) => {
                B::bias_activation_dropout_backward(x, bias, dy, key, unit, threshold)
            }
            None => B::bias_activation_backward(x, bias, dy, unit),
        };
        let [input, bias] = ops.parents;
        if let Some(node) = input {
            grads.register::<B>(node.id, dx);
        }
        if let Some(node) = bias {
            grads.register::<B>(node.id, dbias);
        }
    }
}

impl<B: ActivationOps> RetroForward for Recompute<SavedStep<B>> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let x = states.get_state::<FloatTensor<B>>(&self.0.input);
        let bias = states.get_state::<FloatTensor<B>>(&self.0.bias);
        states.save(output, self.0.forward(x, bias));
    }
}

/// Bias, activation and dropout with their backward pass.
pub(super) fn step<B: ActivationOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    bias: FloatTensor<Autodiff<B, C>>,
    unit: Unit,
    dropout: Option<(IntTensor<B>, u32)>,
) -> FloatTensor<Autodiff<B, C>> {
    let saved = SavedStep::<B> { unit, dropout, input: x.id(), bias: bias.id() };
    match BackwardStep
        .prepare::<C>([x.node(), bias.node()])
        .memory_bound()
        .retro_forward(Recompute(saved.clone()))
        .parents([&x, &bias])
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            prep.checkpoint(&x);
            prep.checkpoint(&bias);
            let output = saved.forward(x.into_primitive(), bias.into_primitive());
            prep.finish(saved, output)
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(saved.forward(x.into_primitive(), bias.into_primitive()))
        }
    }
}
