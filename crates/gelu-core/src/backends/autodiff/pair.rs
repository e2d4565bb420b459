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
use burn_core::backend::tensor::{FloatTensor, IntTensor};

/// A function of two tensors, with what its backward pass needs besides them.
#[derive(Clone, Debug)]
pub(super) enum Pair<B: ActivationOps> {
    /// A function of input and bias, and dropout if there is a key with a threshold. Numbers below
    /// the threshold drop.
    Step(Unit, Option<(IntTensor<B>, u32)>),
    /// A gated unit of a gate and a value.
    Gated(Unit),
    /// `dy·unit′(x)` as a function of x and dy, for programs that compute a gradient by hand and
    /// then differentiate it. Its gradients are `g·dy·unit″(x)` and `g·unit′(x)`.
    Slope(Unit),
}

impl<B: ActivationOps> Pair<B> {
    fn forward(self, first: FloatTensor<B>, second: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Step(unit, None) => B::bias_activation(first, second, unit),
            Self::Step(unit, Some((key, threshold))) => {
                B::bias_activation_dropout(first, second, key, unit, threshold)
            }
            Self::Gated(unit) => B::gated_pair(first, second, unit),
            Self::Slope(unit) => B::activation_backward(first, second, unit),
        }
    }

    /// Returns whether the gradient for the second tensor needs that tensor itself.
    fn keeps_second(&self) -> bool {
        !matches!(self, Self::Slope(_))
    }
}

/// The function, and the nodes of its two inputs.
#[derive(Clone, Debug)]
struct Saved<B: ActivationOps> {
    pair: Pair<B>,
    inputs: [NodeId; 2],
}

#[derive(Debug)]
struct BackwardPair;

impl<B: ActivationOps> Backward<B, 2> for BackwardPair {
    type State = Saved<B>;

    fn backward(
        self,
        ops: Ops<Saved<B>, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let Saved { pair, inputs: [first, second] } = ops.state;
        let x = checkpointer.retrieve_node_output::<FloatTensor<B>>(first);
        let mut second = || checkpointer.retrieve_node_output::<FloatTensor<B>>(second);
        let dy = grads.consume::<B>(&ops.node);
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let gradients: [Option<FloatTensor<B>>; 2] = match pair {
            Pair::Step(unit, None) => some(B::bias_activation_backward(x, second(), dy, unit)),
            Pair::Step(unit, Some((key, threshold))) => {
                some(B::bias_activation_dropout_backward(x, second(), dy, key, unit, threshold))
            }
            Pair::Gated(unit) => some(B::gated_pair_backward(x, second(), dy, unit)),
            Pair::Slope(unit) => [
                wanted[0].then(|| {
                    composed::backward_backward::<B>(x.clone(), second(), dy.clone(), unit)
                }),
                wanted[1].then(|| B::activation_backward(x, dy, unit)),
            ],
        };
        for (node, gradient) in ops.parents.into_iter().zip(gradients) {
            if let (Some(node), Some(gradient)) = (node, gradient) {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

fn some<T>((first, second): (T, T)) -> [Option<T>; 2] {
    [Some(first), Some(second)]
}

impl<B: ActivationOps> RetroForward for Recompute<Saved<B>> {
    fn forward(&self, states: &mut BackwardStates, output: NodeId) {
        let Saved { pair, inputs } = self.0.clone();
        let [first, second] = inputs.map(|input| states.get_state::<FloatTensor<B>>(&input));
        states.save(output, pair.forward(first, second));
    }
}

/// Applies `pair`, and registers its backward pass.
pub(super) fn paired<B: ActivationOps, C: CheckpointStrategy>(
    first: FloatTensor<Autodiff<B, C>>,
    second: FloatTensor<Autodiff<B, C>>,
    pair: Pair<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let saved = Saved { pair: pair.clone(), inputs: [first.id(), second.id()] };
    match BackwardPair
        .prepare::<C>([first.node(), second.node()])
        .memory_bound()
        .retro_forward(Recompute(saved.clone()))
        .parents([&first, &second])
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            prep.checkpoint(&first);
            if first.is_tracked() || pair.keeps_second() {
                prep.checkpoint(&second);
            }
            prep.finish(saved, pair.forward(first.into_primitive(), second.into_primitive()))
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(pair.forward(first.into_primitive(), second.into_primitive()))
        }
    }
}
