use crate::TrainingOps;
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind},
};
use burn_core::backend::{ops::ConvOptions, tensor::FloatTensor};

/// The nodes of the input and the weight.
#[derive(Clone, Debug)]
struct Saved {
    input: NodeId,
    weight: NodeId,
    options: ConvOptions<2>,
}

#[derive(Debug)]
struct WithBias;

#[derive(Debug)]
struct WithoutBias;

impl<B: TrainingOps> Backward<B, 3> for WithBias {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 3>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let [input, weight, bias] = ops.parents;
        if let Some(node) = bias {
            grads.register::<B>(node.id, B::convolution_bias_gradient(gradient.clone()));
        }
        let nodes = [input, weight].map(|node| node.map(|node| node.id));
        register::<B>(ops.state, nodes, gradient, grads, checkpointer);
    }
}

impl<B: TrainingOps> Backward<B, 2> for WithoutBias {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 2>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register::<B>(ops.state, nodes, gradient, grads, checkpointer);
    }
}

/// Registers the gradients for input and weight, as far as they are needed.
fn register<B: TrainingOps>(
    saved: Saved,
    [input, weight]: [Option<NodeId>; 2],
    gradient: FloatTensor<B>,
    grads: &mut Gradients,
    checkpointer: &mut Checkpointer,
) {
    let x = checkpointer.retrieve_node_output::<FloatTensor<B>>(saved.input);
    let w = checkpointer.retrieve_node_output::<FloatTensor<B>>(saved.weight);
    if let Some(node) = input {
        let (x, w, options) = (x.clone(), w.clone(), saved.options.clone());
        let gradient = B::convolution_input_gradient(x, w, gradient.clone(), options);
        grads.register::<B>(node, gradient);
    }
    if let Some(node) = weight {
        grads.register::<B>(node, B::convolution_weight_gradient(x, w, gradient, saved.options));
    }
}

/// Applies the convolution, and registers its backward pass.
pub(super) fn tracked<B: TrainingOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    weight: FloatTensor<Autodiff<B, C>>,
    options: ConvOptions<2>,
) -> FloatTensor<Autodiff<B, C>> {
    match WithoutBias.prepare::<C>([x.node(), weight.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let [input, kept] = [&x, &weight].map(|tensor| prep.checkpoint(tensor));
            let saved = Saved { input, weight: kept, options: options.clone() };
            prep.finish(saved, B::convolution(x.into_primitive(), weight.into_primitive(), options))
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(B::convolution(x.into_primitive(), weight.into_primitive(), options))
        }
    }
}

/// Applies the convolution with its bias, and registers their backward pass.
pub(super) fn tracked_with_bias<B: TrainingOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    weight: FloatTensor<Autodiff<B, C>>,
    bias: FloatTensor<Autodiff<B, C>>,
    options: ConvOptions<2>,
) -> FloatTensor<Autodiff<B, C>> {
    let forward = |x: FloatTensor<Autodiff<B, C>>,
                   weight: FloatTensor<Autodiff<B, C>>,
                   options: ConvOptions<2>| {
        let [x, weight, bias] = [x, weight, bias.clone()].map(|tensor| tensor.into_primitive());
        B::biased_convolution(x, weight, bias, options)
    };
    let nodes = [x.node(), weight.node(), bias.node()];
    match WithBias.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let [input, kept] = [&x, &weight].map(|tensor| prep.checkpoint(tensor));
            let saved = Saved { input, weight: kept, options: options.clone() };
            prep.finish(saved, forward(x, weight, options))
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(x, weight, options)),
    }
}
