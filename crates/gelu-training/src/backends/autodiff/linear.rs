use crate::TrainingOps;
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::FloatTensor;

/// The nodes of the two factors. Each is only stored if the other factor needs a gradient.
#[derive(Clone, Debug)]
struct Saved {
    input: Option<NodeId>,
    weight: Option<NodeId>,
}

#[derive(Debug)]
struct Linear;

impl<B: TrainingOps> Backward<B, 2> for Linear {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 2>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let [x, w] = [ops.state.input, ops.state.weight]
            .map(|kept| kept.map(|kept| checkpointer.retrieve_node_output(kept)));
        let [input, weight] = ops.parents;
        if let (Some(node), Some(w)) = (input, w) {
            grads.register::<B>(node.id, B::linear_input_gradient(w, gradient.clone()));
        }
        if let (Some(node), Some(x)) = (weight, x) {
            grads.register::<B>(node.id, B::linear_weight_gradient(x, gradient));
        }
    }
}

/// Computes the product, and registers its backward pass.
pub(super) fn tracked<B: TrainingOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    weight: FloatTensor<Autodiff<B, C>>,
) -> FloatTensor<Autodiff<B, C>> {
    match Linear.prepare::<C>([x.node(), weight.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let saved = Saved {
                input: weight.is_tracked().then(|| prep.checkpoint(&x)),
                weight: x.is_tracked().then(|| prep.checkpoint(&weight)),
            };
            prep.finish(saved, B::linear_product(x.into_primitive(), weight.into_primitive()))
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(B::linear_product(x.into_primitive(), weight.into_primitive()))
        }
    }
}
