//! Trains a network of gelu-models by hand: gradients come with its default features.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Distribution, Gradients, Tensor};
use gelu_models::{Mlp, MlpConfig};

/// One step of gradient descent.
struct Descend(Gradients);

impl ModuleMapper for Descend {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let slope = parameter.val().grad(&self.0).expect("every parameter is trained");
        parameter.map(|value| {
            Tensor::from_inner(value.without_autodiff() - slope * 0.05).require_grad()
        })
    }
}

fn loss(network: &Mlp, x: &Tensor<2>) -> Tensor<1> {
    let error = network.forward(x.clone()) - x.clone().prod_dim(1);
    error.powf_scalar(2.0).mean()
}

fn main() {
    let device = Device::default().autodiff();
    device.seed(1);
    let x = Tensor::<2>::random([4096, 2], Distribution::Uniform(-1.0, 1.0), &device);
    let mut network = MlpConfig::new(2, 1).with_depth(2).with_width(32).init(&device);
    let before = loss(&network, &x).into_scalar::<f32>();
    for _ in 0..200 {
        let gradients = loss(&network, &x).backward();
        network = network.map(&mut Descend(gradients));
    }
    let after = loss(&network, &x).into_scalar::<f32>();
    println!("loss {before} before training, {after} after, on {device:?}");
    assert!(after < 0.5 * before, "the network should have learnt");
}
