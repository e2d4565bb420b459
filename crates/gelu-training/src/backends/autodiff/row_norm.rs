use crate::TrainingOps;
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::FloatTensor;

/// The nodes of the inputs.
#[derive(Clone, Debug)]
struct Saved {
    input: NodeId,
    gamma: NodeId,
    epsilon: f64,
    centred: bool,
}

#[derive(Debug)]
struct RowNorm;

impl<B: TrainingOps> Backward<B, 2> for RowNorm {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 2>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let Saved { input, gamma, epsilon, centred } = ops.state;
        let [x, gamma] = [input, gamma].map(|node| checkpointer.retrieve_node_output(node));
        let gradients = B::row_norm_gradients(x, gamma, gradient, epsilon, centred);
        for (node, gradient) in ops.parents.into_iter().zip(<[_; 2]>::from(gradients)) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

/// Applies the norm, and registers its backward pass.
pub(super) fn tracked<B: TrainingOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    gamma: FloatTensor<Autodiff<B, C>>,
    epsilon: f64,
    centred: bool,
) -> FloatTensor<Autodiff<B, C>> {
    match RowNorm.prepare::<C>([x.node(), gamma.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let [input, kept_gamma] = [&x, &gamma].map(|tensor| prep.checkpoint(tensor));
            let saved = Saved { input, gamma: kept_gamma, epsilon, centred };
            let out = B::row_norm(x.into_primitive(), gamma.into_primitive(), epsilon, centred);
            prep.finish(saved, out)
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(B::row_norm(x.into_primitive(), gamma.into_primitive(), epsilon, centred))
        }
    }
}
