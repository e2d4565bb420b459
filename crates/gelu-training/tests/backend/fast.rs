//! A network of `Fast` layers beside the same network of Burn's.

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig, PaddingConfig2d,
};
use burn::tensor::{Device, Distribution, Tensor, Tolerance};
use burn_optim::GradientsParams;
use gelu_core::{Activation, Channels};
use gelu_training::{SgdConfig, layers::Fast};

#[derive(Module, Debug)]
struct Burns {
    convolution: Conv2d,
    norm: BatchNorm,
    dropout: Dropout,
    output: Linear,
}

#[derive(Module, Debug)]
struct Ours {
    convolution: Fast<Conv2d>,
    norm: Fast<BatchNorm>,
    dropout: Fast<Dropout>,
    output: Fast<Linear>,
}

impl Burns {
    fn new(device: &Device) -> Self {
        let convolution = Conv2dConfig::new([3, 4], [3, 3]);
        let convolution = convolution.with_padding(PaddingConfig2d::Same).init(device);
        Self {
            convolution,
            norm: BatchNormConfig::new(4).init(device),
            dropout: DropoutConfig::new(0.0).init(),
            output: LinearConfig::new(5, 2).init(device),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.norm.forward(self.convolution.forward(x));
        self.output.forward(self.dropout.forward(x))
    }
}

impl Ours {
    fn of(network: Burns) -> Self {
        let Burns { convolution, norm, dropout, output } = network;
        let (convolution, norm) = (convolution.into(), norm.into());
        Self { convolution, norm, dropout: dropout.into(), output: output.into() }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.norm.forward(self.convolution.forward(x));
        self.output.forward(self.dropout.forward(x))
    }
}

/// The parameters' places in the module.
#[derive(Default)]
struct Paths {
    at: Vec<String>,
    found: Vec<String>,
}

impl ModuleVisitor for Paths {
    fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
        self.found.push(self.at.join("."));
    }

    fn enter_module(&mut self, name: &str, _: &str) {
        self.at.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.at.pop();
    }
}

fn paths(module: &impl Module) -> Vec<String> {
    let mut paths = Paths::default();
    module.visit(&mut paths);
    paths.found
}

#[track_caller]
fn assert_alike<const D: usize>(found: Tensor<D>, expected: Tensor<D>) {
    let tolerance = Tolerance::<f32>::absolute(1e-5);
    found.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
}

fn pictures(device: &Device) -> Tensor<4> {
    Tensor::random([2, 3, 6, 5], Distribution::Normal(0.0, 1.0), device)
}

#[test]
fn layers_of_burn_are_swapped_one_by_one() {
    let device = Device::default().autodiff();
    device.seed(1);
    let burns = Burns::new(&device);
    let ours = Ours::of(burns.clone());
    assert_eq!(paths(&ours), paths(&burns));
    let x = pictures(&device);
    assert_alike(ours.forward(x.clone()), burns.forward(x.clone()));
    // Statistics were moved alike, and evaluation uses them.
    let (ours, burns) = (ours.valid(), burns.valid());
    let x = x.without_autodiff();
    assert_alike(ours.forward(x.clone()), burns.forward(x));
    assert_eq!(ours.num_params(), burns.num_params());
    assert_eq!(ours.norm.epsilon, burns.norm.epsilon);
}

#[test]
fn records_load_both_ways_and_training_goes_on_alike() {
    let device = Device::default().autodiff();
    device.seed(2);
    let trained = Burns::new(&device);
    let mut ours = Ours::of(Burns::new(&device)).load_record(trained.clone().into_record());
    let mut burns = Burns::new(&device).load_record(ours.clone().into_record());
    let x = pictures(&device);
    assert_alike(burns.forward(x.clone()), trained.forward(x.clone()));
    let (mut one, mut two) = (SgdConfig::new().init(), SgdConfig::new().init());
    for _ in 0..3 {
        let gradients = ours.forward(x.clone()).powf_scalar(2.0).mean().backward();
        let gradients = GradientsParams::from_grads(gradients, &ours);
        ours = one.step(0.1, ours, gradients);
        let gradients = burns.forward(x.clone()).powf_scalar(2.0).mean().backward();
        let gradients = GradientsParams::from_grads(gradients, &burns);
        burns = two.step(0.1, burns, gradients);
    }
    assert_alike(ours.forward(x.clone()), burns.forward(x));
}

#[test]
fn they_print_as_the_layer_within() {
    let device = Device::default();
    let layer = LinearConfig::new(3, 2).init(&device);
    assert_eq!(Fast(layer.clone()).to_string(), layer.to_string());
}

#[test]
fn a_norm_takes_its_activation_along() {
    let device = Device::default();
    let layer = Fast(BatchNormConfig::new(3).init(&device));
    let gelu = Activation::Gelu.init(Channels::Shared, &device);
    let x = pictures(&device);
    let found = layer.forward_activation(&gelu, x.clone());
    assert_alike(found, gelu.forward(layer.forward(x)));
}
