use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::Linear;
use gelu_core::functional::{self, Unit};
use gelu_core::random::DropoutMask;
use gelu_core::{ActivationLayer, HiddenLayer};

/// What `layer.forward(input)` gives, its product by [`TrainingOps::linear_product`]. On Flex
/// [subnormal numbers](crate#subnormal-numbers) of input and gradient count as 0.
///
/// # Shapes
///
/// - input: `[batch, inputs]`
/// - output: `[batch, outputs]`
///
/// # Panics
///
/// If the inputs are not the layer's.
pub fn linear(layer: &Linear, input: Tensor<2>) -> Tensor<2> {
    let product = product(layer, input);
    match &layer.bias {
        Some(bias) => {
            functional::bias_activation_dropout(product, bias.val(), Unit::Identity, None)
        }
        None => product,
    }
}

/// `activation.forward(layer.forward(input))`, where bias and activation are one pass over memory.
///
/// # Shapes
///
/// - input: `[batch, inputs]`
/// - output: `[batch, outputs]`
///
/// # Panics
///
/// If the inputs are not the layer's.
pub fn linear_activation(
    layer: &Linear,
    activation: &ActivationLayer,
    input: Tensor<2>,
) -> Tensor<2> {
    match (activation.unit(), &layer.bias) {
        (Some(unit), Some(bias)) => {
            functional::bias_activation_dropout(product(layer, input), bias.val(), unit, None)
        }
        _ => activation.forward(linear(layer, input)),
    }
}

/// What `layer.forward(input)` gives, its product by [`TrainingOps::linear_product`]. On Flex
/// [subnormal numbers](crate#subnormal-numbers) of input and gradient count as 0.
///
/// # Shapes
///
/// - input: `[batch, inputs]`
/// - output: `[batch, outputs]`
///
/// # Panics
///
/// If the inputs are not the layer's.
pub fn hidden_layer(layer: &HiddenLayer, input: Tensor<2>) -> Tensor<2> {
    let HiddenLayer { linear, activation, dropout } = layer;
    let (Some(unit), Some(bias)) = (activation.unit(), &linear.bias) else {
        return layer.forward(input);
    };
    let mask = DropoutMask::due(dropout, &input);
    functional::bias_activation_dropout(product(linear, input), bias.val(), unit, mask)
}

/// The input times the weights.
fn product(layer: &Linear, input: Tensor<2>) -> Tensor<2> {
    let weight = layer.weight.val();
    let ([_, inputs], [expected, _]) = (input.dims(), weight.dims());
    assert_eq!(inputs, expected, "a linear layer of {expected} inputs got {inputs}");
    Tensor::from_dispatch(Dispatch::linear_product(dispatched(input), dispatched(weight)))
}
