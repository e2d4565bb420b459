//! Trains a network of `GeluLayer` and `HiddenLayer` on the CPU, and meets a backend that gelu-core
//! was not given.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Tensor};
use gelu_core::{GeluLayer, HiddenLayer, HiddenLayerConfig};

#[derive(Module, Debug)]
struct Network {
    first: Linear,
    activation: GeluLayer,
    second: HiddenLayer,
    output: Linear,
}

impl Network {
    fn new(device: &Device) -> Self {
        Self {
            first: LinearConfig::new(2, 16).init(device),
            activation: GeluLayer::new(),
            second: HiddenLayerConfig::new(16, 16).init(device),
            output: LinearConfig::new(16, 1).init(device),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = self.activation.forward(self.first.forward(x));
        self.output.forward(self.second.forward(x))
    }
}

fn main() {
    let device = Device::flex().autodiff();
    device.seed(1);
    let x = Tensor::<2>::random([256, 2], Distribution::Uniform(-1.0, 1.0), &device);
    // The product of the two coordinates, which no linear network can learn.
    let target = x.clone().prod_dim(1);
    let mut network = Network::new(&device);
    let mut optimizer = AdamConfig::new().init();
    let mut losses = Vec::new();
    for _ in 0..200 {
        let error = network.forward(x.clone()) - target.clone();
        let loss = error.powf_scalar(2.0).mean();
        losses.push(loss.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = optimizer.step(1e-2, network, gradients);
    }
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    println!("loss {first} before training, {last} after");
    assert!(last < 0.02 * first, "the network should have learnt");

    #[allow(deprecated)]
    let ndarray = Device::ndarray();
    let x = Tensor::<1>::ones([2], &ndarray);
    let refused = std::panic::catch_unwind(|| gelu_core::gelu(x)).unwrap_err();
    let message = refused.downcast_ref::<String>().expect("a panic with a message");
    println!("on NdArray: {message}");
    assert!(message.contains("features = [\"ndarray\"]"), "{message}");
}
