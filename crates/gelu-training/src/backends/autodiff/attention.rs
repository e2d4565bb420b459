use crate::TrainingOps;
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::FloatTensor;

/// The attention weights, and the node of queries, keys and values.
#[derive(Clone, Debug)]
struct Saved<T> {
    qkv: NodeId,
    weights: T,
    heads: usize,
}

#[derive(Debug)]
struct CausalAttention;

impl<B: TrainingOps> Backward<B, 1> for CausalAttention {
    type State = Saved<FloatTensor<B>>;

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let gradient = grads.consume::<B>(&ops.node);
        let Saved { qkv, weights, heads } = ops.state;
        let qkv = checkpointer.retrieve_node_output(qkv);
        let [parent] = ops.parents;
        if let Some(node) = parent {
            let gradient = B::causal_attention_gradient(qkv, weights, gradient, heads);
            grads.register::<B>(node.id, gradient);
        }
    }
}

/// Applies attention, and registers its backward pass.
pub(super) fn tracked<B: TrainingOps, C: CheckpointStrategy>(
    qkv: FloatTensor<Autodiff<B, C>>,
    heads: usize,
) -> FloatTensor<Autodiff<B, C>> {
    match CausalAttention.prepare::<C>([qkv.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let kept = prep.checkpoint(&qkv);
            let (out, weights) = B::causal_attention_train(qkv.into_primitive(), heads);
            prep.finish(Saved { qkv: kept, weights, heads }, out)
        }
        OpsKind::UnTracked(prep) => prep.finish(B::causal_attention(qkv.into_primitive(), heads)),
    }
}
