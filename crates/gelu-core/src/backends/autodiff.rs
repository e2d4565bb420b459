use crate::{ActivationOps, Unit};
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{
        base::Checkpointer, retro_forward::RetroForward, state::BackwardStates,
        strategy::CheckpointStrategy,
    },
    grads::Gradients,
    ops::{Backward, Ops, OpsKind, unary},
};
use burn_core::backend::{Backend, tensor::FloatTensor};
use core::marker::PhantomData;

/// What the backward pass needs: which function, and where its input is kept.
#[derive(Clone, Debug)]
struct Saved {
    unit: Unit,
    input: NodeId,
}

#[derive(Debug)]
struct Activate;

impl<B: Backend + ActivationOps> Backward<B, 1> for Activate {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 1>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let Saved { unit, input } = ops.state;
        let x = checkpointer.retrieve_node_output(input);
        unary::<B, _>(ops.parents, ops.node, grads, |dy| B::activation_backward(x, dy, unit));
    }
}

/// Computes the output again, where gradient checkpointing has dropped it.
#[derive(Debug)]
struct Recompute<B> {
    saved: Saved,
    _backend: PhantomData<B>,
}

impl<B: Backend + ActivationOps> RetroForward for Recompute<B> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let x = states.get_state::<FloatTensor<B>>(&self.saved.input);
        states.save(output, B::activation(x, self.saved.unit));
    }
}

impl<B: Backend + ActivationOps, C: CheckpointStrategy> ActivationOps for Autodiff<B, C> {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        let saved = Saved { unit, input: x.id() };
        let recompute = Recompute::<B> { saved: saved.clone(), _backend: PhantomData };
        match Activate
            .prepare::<C>([x.node()])
            .memory_bound()
            .retro_forward(recompute)
            .parents([&x])
            .stateful()
        {
            OpsKind::Tracked(mut prep) => {
                let input = prep.checkpoint(&x);
                let output = B::activation(x.into_primitive(), unit);
                prep.finish(Saved { input, ..saved }, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::activation(x.into_primitive(), unit)),
        }
    }
}
