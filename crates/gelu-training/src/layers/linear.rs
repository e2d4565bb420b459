use super::dropout::masked;
use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::Linear;
use gelu_core::dispatch::reshaped;
use gelu_core::functional::{self, Unit};
use gelu_core::random::DropoutMask;
use gelu_core::{ActivationLayer, HiddenLayer};

/// Returns the same as `layer.forward(input)`, with the product computed by
/// [`TrainingOps::linear_product`]. On Flex, [subnormal numbers](crate#subnormal-numbers) in input and
/// gradient count as 0.
///
/// # Shapes
///
/// - input: `[..., inputs]`
/// - output: `[..., outputs]`
///
/// # Panics
///
/// If the last dimension of the input is not the layer's number of inputs.
pub fn linear<const D: usize>(layer: &Linear, input: Tensor<D>) -> Tensor<D> {
    rows(input, |input| {
        let product = product(layer, input);
        match &layer.bias {
            Some(bias) => {
                functional::bias_activation_dropout(product, bias.val(), Unit::Identity, None)
            }
            None => product,
        }
    })
}

/// Returns `activation.forward(layer.forward(input))`. Bias and activation are one pass over memory.
///
/// # Shapes
///
/// - input: `[..., inputs]`
/// - output: `[..., outputs]`
///
/// # Panics
///
/// If the last dimension of the input is not the layer's number of inputs.
pub fn linear_activation<const D: usize>(
    layer: &Linear,
    activation: &ActivationLayer,
    input: Tensor<D>,
) -> Tensor<D> {
    activated(layer, activation, None, input)
}

/// Returns the same as `layer.forward(input)`, with the product computed by
/// [`TrainingOps::linear_product`]. On Flex, [subnormal numbers](crate#subnormal-numbers) in input and
/// gradient count as 0.
///
/// # Shapes
///
/// - input: `[..., inputs]`
/// - output: `[..., outputs]`
///
/// # Panics
///
/// If the last dimension of the input is not the layer's number of inputs.
pub fn hidden_layer<const D: usize>(layer: &HiddenLayer, input: Tensor<D>) -> Tensor<D> {
    let HiddenLayer { linear, activation, dropout } = layer;
    let mask = DropoutMask::due(dropout, &input);
    activated(linear, activation, mask, input)
}

/// Returns `dropout(activation(layer(input)))`. Everything after the product is one pass if there is a
/// bias and the activation is a [`Unit`].
fn activated<const D: usize>(
    layer: &Linear,
    activation: &ActivationLayer,
    mask: Option<DropoutMask>,
    input: Tensor<D>,
) -> Tensor<D> {
    match (activation.fusible(), &layer.bias) {
        (Some(unit), Some(bias)) => rows(input, |input| {
            functional::bias_activation_dropout(product(layer, input), bias.val(), unit, mask)
        }),
        _ => masked(activation.forward(linear(layer, input)), mask),
    }
}

/// Applies `compute` to the rows of a tensor of any rank, and returns the result in that rank.
pub(super) fn rows<const D: usize>(
    input: Tensor<D>,
    compute: impl FnOnce(Tensor<2>) -> Tensor<2>,
) -> Tensor<D> {
    let mut dims = input.dims();
    let inputs = dims[D - 1];
    let rows = dims[..D - 1].iter().product();
    if D == 2 {
        let output = compute(Tensor::from_dispatch(input.into_dispatch()));
        return Tensor::from_dispatch(output.into_dispatch());
    }
    let output = compute(reshaped(input, [rows, inputs]));
    dims[D - 1] = output.dims()[1];
    reshaped(output, dims)
}

/// Returns the input times the weights.
fn product(layer: &Linear, input: Tensor<2>) -> Tensor<2> {
    let weight = layer.weight.val();
    let ([_, inputs], [expected, _]) = (input.dims(), weight.dims());
    assert_eq!(inputs, expected, "a linear layer of {expected} inputs got {inputs}");
    Tensor::from_dispatch(Dispatch::linear_product(dispatched(input), dispatched(weight)))
}
