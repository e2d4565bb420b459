use crate::TrainingOps;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;

/// `input·weight`, by [`TrainingOps::linear_product`]: the product of a linear layer, without its bias.
///
/// # Shapes
///
/// - input: `[batch, inputs]`
/// - weight: `[inputs, outputs]`, as Burn's `Linear` has it
/// - output: `[batch, outputs]`
///
/// # Panics
///
/// If the inputs differ.
pub fn linear(input: Tensor<2>, weight: Tensor<2>) -> Tensor<2> {
    let ([_, inputs], [expected, _]) = (input.dims(), weight.dims());
    assert_eq!(inputs, expected, "a linear layer of {expected} inputs got {inputs}");
    Tensor::from_dispatch(Dispatch::linear_product(input.into_dispatch(), weight.into_dispatch()))
}
