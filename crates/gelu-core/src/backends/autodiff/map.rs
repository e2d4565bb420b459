use super::Recompute;
use crate::{ActivationOps, GateHalf, Unit};
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{
        base::Checkpointer, retro_forward::RetroForward, state::BackwardStates,
        strategy::CheckpointStrategy,
    },
    grads::Gradients,
    ops::{Backward, Ops, OpsKind, unary},
};
use burn_core::backend::tensor::{FloatTensor, IntTensor};

/// A function of one tensor, with what its backward pass needs besides that tensor.
#[derive(Clone, Debug)]
pub(super) enum Map<B: ActivationOps> {
    Unit(Unit),
    /// Dropout: the key, and the threshold below which numbers drop. The backward pass computes the
    /// mask again.
    Dropout(IntTensor<B>, u32),
    /// The stochastic map: its key. The backward pass computes the mask again.
    Stochastic(IntTensor<B>),
    Gated(Unit, GateHalf),
}

impl<B: ActivationOps> Map<B> {
    fn forward(self, x: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Unit(unit) => B::activation(x, unit),
            Self::Dropout(key, threshold) => B::dropout(x, key, threshold),
            Self::Stochastic(key) => B::stochastic_map(x, key),
            Self::Gated(unit, gate) => B::gated(x, unit, gate),
        }
    }

    /// Returns whether the backward pass needs the input.
    fn keeps_input(&self) -> bool {
        !matches!(self, Self::Dropout(..))
    }

    fn backward(self, x: impl FnOnce() -> FloatTensor<B>, dy: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Unit(unit) => B::activation_backward(x(), dy, unit),
            Self::Dropout(key, threshold) => B::dropout(dy, key, threshold),
            Self::Stochastic(key) => B::stochastic_map_backward(x(), dy, key),
            Self::Gated(unit, gate) => B::gated_backward(x(), dy, unit, gate),
        }
    }
}

/// The function, and the node of its input.
#[derive(Clone, Debug)]
struct SavedMap<B: ActivationOps> {
    map: Map<B>,
    input: NodeId,
}

#[derive(Debug)]
struct BackwardMap;

impl<B: ActivationOps> Backward<B, 1> for BackwardMap {
    type State = SavedMap<B>;

    fn backward(
        self,
        ops: Ops<SavedMap<B>, 1>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let SavedMap { map, input } = ops.state;
        let x = || checkpointer.retrieve_node_output(input);
        unary::<B, _>(ops.parents, ops.node, grads, |dy| map.backward(x, dy));
    }
}

impl<B: ActivationOps> RetroForward for Recompute<SavedMap<B>> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let x = states.get_state::<FloatTensor<B>>(&self.0.input);
        states.save(output, self.0.map.clone().forward(x));
    }
}

/// Applies `map`, and registers its backward pass.
pub(super) fn mapped<B: ActivationOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    map: Map<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let saved = SavedMap { map: map.clone(), input: x.id() };
    match BackwardMap
        .prepare::<C>([x.node()])
        .memory_bound()
        .retro_forward(Recompute(saved.clone()))
        .parents([&x])
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            if map.keeps_input() {
                prep.checkpoint(&x);
            }
            let output = map.forward(x.into_primitive());
            prep.finish(saved, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(map.forward(x.into_primitive())),
    }
}
