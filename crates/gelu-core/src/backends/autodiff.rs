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

/// A function of one tensor: what its backward pass needs besides that tensor.
#[derive(Clone, Debug)]
enum Map<B: ActivationOps> {
    Unit(Unit),
    /// The stochastic map, whose mask is drawn again.
    Stochastic(IntTensor<B>),
    Gated(Unit, GateHalf),
}

impl<B: ActivationOps> Map<B> {
    fn forward(self, x: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Unit(unit) => B::activation(x, unit),
            Self::Stochastic(key) => B::stochastic_map(x, key),
            Self::Gated(unit, gate) => B::gated(x, unit, gate),
        }
    }

    fn backward(self, x: FloatTensor<B>, dy: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Unit(unit) => B::activation_backward(x, dy, unit),
            Self::Stochastic(key) => B::stochastic_map_backward(x, dy, key),
            Self::Gated(unit, gate) => B::gated_backward(x, dy, unit, gate),
        }
    }
}

/// The function, and where its input is kept.
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
        let x = checkpointer.retrieve_node_output(input);
        unary::<B, _>(ops.parents, ops.node, grads, |dy| map.backward(x, dy));
    }
}

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

/// Computes an output again, where gradient checkpointing has dropped it.
#[derive(Debug)]
struct Recompute<S>(S);

impl<B: ActivationOps> RetroForward for Recompute<SavedMap<B>> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let x = states.get_state::<FloatTensor<B>>(&self.0.input);
        states.save(output, self.0.map.clone().forward(x));
    }
}

impl<B: ActivationOps> RetroForward for Recompute<SavedStep<B>> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let x = states.get_state::<FloatTensor<B>>(&self.0.input);
        let bias = states.get_state::<FloatTensor<B>>(&self.0.bias);
        states.save(output, self.0.forward(x, bias));
    }
}

/// Applies `map` with its backward pass.
fn mapped<B: ActivationOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    map: Map<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let saved = SavedMap { map: map.clone(), input: x.id() };
    match BackwardMap
        .prepare::<C>([x.node()])
        .memory_bound()
        .retro_forward(Recompute(saved))
        .parents([&x])
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            let input = prep.checkpoint(&x);
            let output = map.clone().forward(x.into_primitive());
            prep.finish(SavedMap { map, input }, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(map.forward(x.into_primitive())),
    }
}

/// Bias, activation and dropout with their backward pass.
fn step<B: ActivationOps, C: CheckpointStrategy>(
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
            let (input, kept_bias) = (prep.checkpoint(&x), prep.checkpoint(&bias));
            let output = saved.forward(x.into_primitive(), bias.into_primitive());
            prep.finish(SavedStep { input, bias: kept_bias, ..saved }, output)
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(saved.forward(x.into_primitive(), bias.into_primitive()))
        }
    }
}

impl<B: ActivationOps, C: CheckpointStrategy> ActivationOps for Autodiff<B, C> {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Unit(unit))
    }

    fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Gated(unit, gate))
    }

    fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Stochastic(key))
    }

    fn bias_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        step::<B, C>(x, bias, unit, None)
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> FloatTensor<Self> {
        step::<B, C>(x, bias, unit, Some((key, threshold)))
    }
}
