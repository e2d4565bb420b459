use crate::AdamStep;
use crate::cohort::{CohortOps, SliceDropout, SliceUnit, SliceUnits, composed};
use crate::kernels::cohort::{self, CohortSizes};
use crate::kernels::linear::Sizes;
use burn_core::backend::{Flex, ops::FloatTensorOps, tensor::FloatTensor};
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, elements_mut, tensor};
use gelu_kernels::Pass;
use gelu_kernels::random::Mask;
use std::sync::Arc;

fn has_kernel<const COUNT: usize>(tensors: [&FlexTensor; COUNT]) -> bool {
    tensors.iter().all(|x| x.dtype() == DType::F32)
}

impl CohortOps for Flex {
    fn cohort_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        if !has_kernel([&x, &weight]) {
            return Self::float_matmul(x, weight);
        }
        let [x, weight] = [x, weight].map(contiguous);
        let ([slices, batch, inputs], [_, _, outputs]) = (dims(&x), dims(&weight));
        let sizes = CohortSizes { slices, layer: Sizes { batch, inputs, outputs } };
        let values = sizes.forward(elements(&x), elements(&weight));
        tensor(values, Shape::from([slices, batch, outputs]))
    }

    fn cohort_product_input_gradient(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        if !has_kernel([&weight, &gradient]) {
            return Self::float_matmul(gradient, Self::float_transpose(weight));
        }
        let [weight, gradient] = [weight, gradient].map(contiguous);
        let ([slices, inputs, outputs], [_, batch, _]) = (dims(&weight), dims(&gradient));
        let sizes = CohortSizes { slices, layer: Sizes { batch, inputs, outputs } };
        let values = sizes.input_gradient(elements(&weight), elements(&gradient));
        tensor(values, Shape::from([slices, batch, inputs]))
    }

    fn cohort_product_weight_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        if !has_kernel([&x, &gradient]) {
            return Self::float_matmul(Self::float_transpose(x), gradient);
        }
        let [x, gradient] = [x, gradient].map(contiguous);
        let ([slices, batch, inputs], [_, _, outputs]) = (dims(&x), dims(&gradient));
        let sizes = CohortSizes { slices, layer: Sizes { batch, inputs, outputs } };
        let values = sizes.weight_gradient(elements(&x), elements(&gradient));
        tensor(values, Shape::from([slices, inputs, outputs]))
    }

    fn cohort_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        units: SliceUnits,
    ) -> FloatTensor<Self> {
        if !has_kernel([&x, &bias]) {
            return composed::activation::<Self>(x, bias, &units);
        }
        let [x, bias] = [x, bias].map(contiguous);
        let values = cohort::map(&passes(&bias, &units), elements(&x));
        tensor(values, x.layout().shape().clone())
    }

    fn cohort_activation_gradients(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        units: SliceUnits,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if !has_kernel([&x, &bias, &gradient]) {
            return composed::activation_gradients::<Self>(x, bias, gradient, &units);
        }
        let [x, bias, mut gradient] = [x, bias, gradient].map(contiguous);
        let passes = passes(&bias, &units);
        let sums = cohort::scale_in_place(&passes, elements(&x), elements_mut(&mut gradient));
        (gradient, tensor(sums, bias.layout().shape().clone()))
    }

    /// By Burn's own mean of each slice, whose bits it has.
    fn cohort_means(x: FloatTensor<Self>) -> FloatTensor<Self> {
        of_each(&x, Self::float_mean)
    }

    fn cohort_sums(x: FloatTensor<Self>) -> FloatTensor<Self> {
        of_each(&x, Self::float_sum)
    }

    fn cohort_adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        steps: Arc<[AdamStep]>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let tensors = [parameter, gradient, moment_1, moment_2];
        if !has_kernel(tensors.each_ref()) {
            return composed::adam_step::<Self>(tensors, &steps);
        }
        let [parameter, mut gradient, mut moment_1, mut moment_2] = tensors.map(contiguous);
        cohort::adam_each(
            elements(&parameter),
            elements_mut(&mut gradient),
            elements_mut(&mut moment_1),
            elements_mut(&mut moment_2),
            &steps,
        );
        (gradient, moment_1, moment_2)
    }
}

fn dims(x: &FlexTensor) -> [usize; 3] {
    x.layout().shape().dims()
}

/// What follows the product of each network, with its row of `[slices, 1, columns]`.
fn passes(bias: &FlexTensor, units: &SliceUnits) -> Vec<Pass<f32>> {
    let [_, _, columns] = dims(bias);
    let biases = elements(bias).chunks_exact(columns.max(1));
    let pass = |(&SliceUnit { unit, dropout }, bias)| {
        let mask = dropout.map(|SliceDropout { draw, threshold }| Mask::below(threshold, draw));
        Pass::new(unit).with(bias, mask)
    };
    units.slices().iter().zip(biases).map(pass).collect()
}

/// One number of each row.
fn of_each(x: &FlexTensor, number: impl Fn(FlexTensor) -> FlexTensor) -> FlexTensor {
    let [slices, _] = x.layout().shape().dims();
    let row = |index| number(x.narrow(0, index, 1));
    Flex::float_cat((0..slices).map(row).collect(), 0)
}
