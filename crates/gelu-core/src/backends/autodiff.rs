use crate::{ActivationOps, Draw, DropoutMask, Unit};
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{
        base::Checkpointer, retro_forward::RetroForward, state::BackwardStates,
        strategy::CheckpointStrategy,
    },
    grads::Gradients,
    ops::{Backward, Ops, OpsKind, unary},
};
use burn_core::backend::tensor::FloatTensor;
use core::marker::PhantomData;

/// An elementwise function of one tensor: what its backward pass needs besides that tensor.
#[derive(Clone, Copy, Debug)]
enum Map {
    Unit(Unit),
    /// The stochastic map, whose mask is drawn again.
    Stochastic(Draw),
}

impl Map {
    fn forward<B: ActivationOps>(self, x: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Unit(unit) => B::activation(x, unit),
            Self::Stochastic(draw) => B::stochastic_map(x, draw),
        }
    }

    fn backward<B: ActivationOps>(self, x: FloatTensor<B>, dy: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Unit(unit) => B::activation_backward(x, dy, unit),
            Self::Stochastic(draw) => B::stochastic_map_backward(x, dy, draw),
        }
    }
}

/// The function, and where its input is kept.
#[derive(Clone, Debug)]
struct SavedMap {
    map: Map,
    input: NodeId,
}

#[derive(Debug)]
struct BackwardMap;

impl<B: ActivationOps> Backward<B, 1> for BackwardMap {
    type State = SavedMap;

    fn backward(
        self,
        ops: Ops<SavedMap, 1>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let SavedMap { map, input } = ops.state;
        let x = checkpointer.retrieve_node_output(input);
        unary::<B, _>(ops.parents, ops.node, grads, |dy| map.backward::<B>(x, dy));
    }
}

/// Bias, activation and dropout, and where the two inputs are kept.
#[derive(Clone, Debug)]
struct SavedStep {
    unit: Unit,
    dropout: Option<DropoutMask>,
    input: NodeId,
    bias: NodeId,
}

#[derive(Debug)]
struct BackwardStep;

impl<B: ActivationOps> Backward<B, 2> for BackwardStep {
    type State = SavedStep;

    fn backward(
        self,
        ops: Ops<SavedStep, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let SavedStep { unit, dropout, input, bias } = ops.state;
        let x = checkpointer.retrieve_node_output(input);
        let bias = checkpointer.retrieve_node_output(bias);
        let dy = grads.consume::<B>(&ops.node);
        let (dx, dbias) = B::bias_activation_dropout_backward(x, bias, dy, unit, dropout);
        let [input, bias] = ops.parents;
        if let Some(node) = input {
            grads.register::<B>(node.id, dx);
        }
        if let Some(node) = bias {
            grads.register::<B>(node.id, dbias);
        }
    }
}

/// Computes an output again, where gradient checkpointing has dropped it.
#[derive(Debug)]
struct Recompute<B, S> {
    saved: S,
    _backend: PhantomData<B>,
}

impl<B, S> Recompute<B, S> {
    fn new(saved: S) -> Self {
        Self { saved, _backend: PhantomData }
    }
}

impl<B: ActivationOps> RetroForward for Recompute<B, SavedMap> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let x = states.get_state::<FloatTensor<B>>(&self.saved.input);
        states.save(output, self.saved.map.forward::<B>(x));
    }
}

impl<B: ActivationOps> RetroForward for Recompute<B, SavedStep> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let SavedStep { unit, dropout, input, bias } = &self.saved;
        let x = states.get_state::<FloatTensor<B>>(input);
        let bias = states.get_state::<FloatTensor<B>>(bias);
        states.save(output, B::bias_activation_dropout(x, bias, *unit, *dropout));
    }
}

/// Applies `map` with its backward pass.
fn mapped<B: ActivationOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    map: Map,
) -> FloatTensor<Autodiff<B, C>> {
    let saved = SavedMap { map, input: x.id() };
    match BackwardMap
        .prepare::<C>([x.node()])
        .memory_bound()
        .retro_forward(Recompute::<B, _>::new(saved.clone()))
        .parents([&x])
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            let input = prep.checkpoint(&x);
            let output = map.forward::<B>(x.into_primitive());
            prep.finish(SavedMap { input, ..saved }, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(map.forward::<B>(x.into_primitive())),
    }
}

impl<B: ActivationOps, C: CheckpointStrategy> ActivationOps for Autodiff<B, C> {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Unit(unit))
    }

    fn stochastic_map(x: FloatTensor<Self>, draw: Draw) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Stochastic(draw))
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<DropoutMask>,
    ) -> FloatTensor<Self> {
        let saved = SavedStep { unit, dropout, input: x.id(), bias: bias.id() };
        let forward = |x: FloatTensor<Self>, bias: FloatTensor<Self>| {
            B::bias_activation_dropout(x.into_primitive(), bias.into_primitive(), unit, dropout)
        };
        match BackwardStep
            .prepare::<C>([x.node(), bias.node()])
            .memory_bound()
            .retro_forward(Recompute::<B, _>::new(saved.clone()))
            .parents([&x, &bias])
            .stateful()
        {
            OpsKind::Tracked(mut prep) => {
                let (input, kept_bias) = (prep.checkpoint(&x), prep.checkpoint(&bias));
                let output = forward(x, bias);
                prep.finish(SavedStep { input, bias: kept_bias, ..saved }, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(forward(x, bias)),
        }
    }
}
