use crate::TrainingOps;
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::FloatTensor;

#[derive(Debug)]
struct MaxPool;

impl<B: TrainingOps> Backward<B, 1> for MaxPool {
    /// The node of the images.
    type State = NodeId;

    fn backward(self, ops: Ops<NodeId, 1>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let x = checkpointer.retrieve_node_output(ops.state);
        if let [Some(node)] = ops.parents {
            grads.register::<B>(node.id, B::max_pool_2x2_gradient(x, gradient));
        }
    }
}

/// Applies the pool, and registers its backward pass.
pub(super) fn tracked<B: TrainingOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
) -> FloatTensor<Autodiff<B, C>> {
    match MaxPool.prepare::<C>([x.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let kept = prep.checkpoint(&x);
            prep.finish(kept, B::max_pool_2x2(x.into_primitive()))
        }
        OpsKind::UnTracked(prep) => prep.finish(B::max_pool_2x2(x.into_primitive())),
    }
}
