use crate::AdamStep;
use crate::cohort::{CohortOps, SliceUnits};
use burn_autodiff::{
    Autodiff, NodeId,
    checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
    grads::Gradients,
    ops::{Backward, Ops, OpsKind, unary},
};
use burn_core::backend::{TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::Shape;
use std::sync::Arc;

impl<B: CohortOps, C: CheckpointStrategy> CohortOps for Autodiff<B, C> {
    fn cohort_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        product::<B, C>(x, weight)
    }

    fn cohort_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        units: SliceUnits,
    ) -> FloatTensor<Self> {
        activation::<B, C>(x, bias, units)
    }

    fn cohort_means(x: FloatTensor<Self>) -> FloatTensor<Self> {
        means::<B, C>(x)
    }

    fn cohort_adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        steps: Arc<[AdamStep]>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        crate::cohort::composed::adam_step::<Self>(
            [parameter, gradient, moment_1, moment_2],
            &steps,
        )
    }
}

/// Where the factors are kept: each if the other's gradient is wanted.
#[derive(Clone, Debug)]
struct Factors {
    input: Option<NodeId>,
    weight: Option<NodeId>,
}

#[derive(Debug)]
struct Product;

impl<B: CohortOps> Backward<B, 2> for Product {
    type State = Factors;

    fn backward(
        self,
        ops: Ops<Factors, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let gradient = grads.consume::<B>(&ops.node);
        let [x, w] = [ops.state.input, ops.state.weight]
            .map(|kept| kept.map(|kept| checkpointer.retrieve_node_output(kept)));
        let [input, weight] = ops.parents;
        if let (Some(node), Some(w)) = (input, w) {
            grads.register::<B>(node.id, B::cohort_product_input_gradient(w, gradient.clone()));
        }
        if let (Some(node), Some(x)) = (weight, x) {
            grads.register::<B>(node.id, B::cohort_product_weight_gradient(x, gradient));
        }
    }
}

fn product<B: CohortOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    weight: FloatTensor<Autodiff<B, C>>,
) -> FloatTensor<Autodiff<B, C>> {
    match Product.prepare::<C>([x.node(), weight.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let saved = Factors {
                input: weight.is_tracked().then(|| prep.checkpoint(&x)),
                weight: x.is_tracked().then(|| prep.checkpoint(&weight)),
            };
            prep.finish(saved, B::cohort_product(x.into_primitive(), weight.into_primitive()))
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(B::cohort_product(x.into_primitive(), weight.into_primitive()))
        }
    }
}

#[derive(Debug)]
struct Activation;

impl<B: CohortOps> Backward<B, 2> for Activation {
    /// Where input and bias are kept.
    type State = (SliceUnits, [NodeId; 2]);

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let (units, kept) = ops.state;
        let [x, bias] = kept.map(|kept| checkpointer.retrieve_node_output(kept));
        let gradient = grads.consume::<B>(&ops.node);
        let (dx, dbias) = B::cohort_activation_gradients(x, bias, gradient, units);
        for (node, gradient) in ops.parents.into_iter().zip([dx, dbias]) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

fn activation<B: CohortOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    bias: FloatTensor<Autodiff<B, C>>,
    units: SliceUnits,
) -> FloatTensor<Autodiff<B, C>> {
    match Activation.prepare::<C>([x.node(), bias.node()]).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let kept = [prep.checkpoint(&x), prep.checkpoint(&bias)];
            let saved = (units.clone(), kept);
            let output = B::cohort_activation(x.into_primitive(), bias.into_primitive(), units);
            prep.finish(saved, output)
        }
        OpsKind::UnTracked(prep) => {
            prep.finish(B::cohort_activation(x.into_primitive(), bias.into_primitive(), units))
        }
    }
}

#[derive(Debug)]
struct Means;

impl<B: CohortOps> Backward<B, 1> for Means {
    type State = Shape;

    fn backward(self, ops: Ops<Shape, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let shape = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |gradient| {
            let [slices, numbers] = [shape[0], shape[1]];
            let share = B::float_mul_scalar(gradient, (1.0 / numbers as f64).into());
            B::float_expand(B::float_reshape(share, Shape::from([slices, 1])), shape)
        });
    }
}

fn means<B: CohortOps, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
) -> FloatTensor<Autodiff<B, C>> {
    match Means.prepare::<C>([x.node()]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            prep.finish(x.primitive().shape(), B::cohort_means(x.into_primitive()))
        }
        OpsKind::UnTracked(prep) => prep.finish(B::cohort_means(x.into_primitive())),
    }
}
