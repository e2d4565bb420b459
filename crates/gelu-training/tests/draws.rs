//! Tests layers with random numbers, on the default device. They are in a file of their own because tests of one
//! file share the device's generator.
//!
//! ```text
//! cargo test --release -p gelu-training --test draws
//! ```

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Distribution, Tensor, Tolerance};
use gelu_core::{Activation, HiddenLayer};
use gelu_training::layers;

/// Bias, activation and dropout work as in gelu-core's own layer, for any rank, and without a bias.
#[test]
fn hidden_layers_are_gelu_cores() {
    let device = Device::default().autodiff();
    device.seed(1);
    let uniform = Distribution::Uniform(-1.0, 1.0);
    for (name, dropout) in
        [("gelu", 0.0), ("relu", 0.5), ("soi", 0.5), ("learnable-gelu", 0.0), ("identity", 0.3)]
    {
        let activation: Activation = name.parse().unwrap();
        for bias in [true, false] {
            // The weights are created here, because a layer that Burn initialises creates its weights on first
            // use.
            let linear = Linear {
                weight: Param::from_tensor(Tensor::random([6, 5], uniform, &device)),
                bias: bias.then(|| Param::from_tensor(Tensor::random([5], uniform, &device))),
            };
            let hidden = HiddenLayer::new(linear, &activation, dropout);
            let x = Tensor::<2>::random([8, 6], uniform, &device);
            assert_is_gelu_cores(&hidden, x.clone());
            assert_is_gelu_cores(&hidden, x.clone().reshape([2, 4, 6]));
            assert_is_gelu_cores(&hidden, x.clone().reshape([2, 1, 4, 6]));
            assert_is_gelu_cores(&hidden, x.narrow(0, 0, 1).reshape([6]));
        }
    }
}

#[track_caller]
fn assert_is_gelu_cores<const D: usize>(hidden: &HiddenLayer, x: Tensor<D>) {
    let device = x.device();
    device.seed(3);
    let found = layers::hidden_layer(hidden, x.clone());
    device.seed(3);
    let expected = hidden.forward(x.clone());
    let tolerance = Tolerance::<f32>::absolute(1e-6);
    found.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
    if hidden.dropout.prob == 0.0 {
        let found = layers::linear_activation(&hidden.linear, &hidden.activation, x.clone());
        let expected = hidden.activation.forward(hidden.linear.forward(x.clone()));
        found.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
        let found = layers::linear(&hidden.linear, x.clone());
        let expected = hidden.linear.forward(x);
        found.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
    }
}
