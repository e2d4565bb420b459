use crate::TrainingOps;
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::tensor::FloatTensor;
use gelu_core::functional::Unit;

/// The statistics, and the nodes of the inputs.
#[derive(Clone, Debug)]
struct Saved<T> {
    input: NodeId,
    gamma: NodeId,
    beta: NodeId,
    mean: T,
    variance: T,
    epsilon: f64,
    unit: Unit,
}

#[derive(Debug)]
struct BatchNormActivation;

impl<B: TrainingOps> Backward<B, 3> for BatchNormActivation {
    type State = Saved<FloatTensor<B>>;

    fn backward(
        self,
        ops: Ops<Self::State, 3>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let gradient = grads.consume::<B>(&ops.node);
        let Saved { input, gamma, beta, mean, variance, epsilon, unit } = ops.state;
        let [x, gamma, beta] =
            [input, gamma, beta].map(|node| checkpointer.retrieve_node_output(node));
        let gradients = B::batch_norm_activation_gradients(
            x, gamma, beta, mean, variance, gradient, epsilon, unit,
        );
        for (node, gradient) in ops.parents.into_iter().zip(<[_; 3]>::from(gradients)) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

type Tracked<B, C> = FloatTensor<Autodiff<B, C>>;

/// Applies batch norm and the activation, and registers their backward pass. The returned
/// statistics are constants.
pub(super) fn tracked<B: TrainingOps, C: CheckpointStrategy>(
    x: Tracked<B, C>,
    gamma: Tracked<B, C>,
    beta: Tracked<B, C>,
    epsilon: f64,
    unit: Unit,
) -> (Tracked<B, C>, Tracked<B, C>, Tracked<B, C>) {
    let forward = |x: Tracked<B, C>, gamma: Tracked<B, C>, beta: Tracked<B, C>| {
        let [x, gamma, beta] = [x, gamma, beta].map(Tracked::<B, C>::into_primitive);
        B::batch_norm_activation_train(x, gamma, beta, epsilon, unit)
    };
    let (output, mean, variance) = match BatchNormActivation
        .prepare::<C>([x.node(), gamma.node(), beta.node()])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(mut prep) => {
            let [input, kept_gamma, kept_beta] =
                [&x, &gamma, &beta].map(|tensor| prep.checkpoint(tensor));
            let (output, mean, variance) = forward(x, gamma, beta);
            let saved = Saved {
                input,
                gamma: kept_gamma,
                beta: kept_beta,
                mean: mean.clone(),
                variance: variance.clone(),
                epsilon,
                unit,
            };
            (prep.finish(saved, output), mean, variance)
        }
        OpsKind::UnTracked(prep) => {
            let (output, mean, variance) = forward(x, gamma, beta);
            (prep.finish(output), mean, variance)
        }
    };
    (output, constant::<B, C>(mean), constant::<B, C>(variance))
}

fn constant<B: TrainingOps, C: CheckpointStrategy>(tensor: FloatTensor<B>) -> Tracked<B, C> {
    Tracked::<B, C>::new(tensor)
}
