//! Tests gradient checkpointing, which drops tensors that are cheap to recompute: inputs of these
//! layers, and outputs of the cheap layers among them.

use burn::module::{Module, ModuleMapper, Param};
use burn::nn::conv::Conv2dConfig;
use burn::nn::pool::MaxPool2dConfig;
use burn::nn::{BatchNormConfig, LayerNormConfig, LinearConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use gelu_core::{Activation, Channels, HiddenLayerConfig};
use gelu_training::layers;

/// Gives every layer the same weights, whatever random numbers other tests use in the meantime.
struct Waves;

impl ModuleMapper for Waves {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (shape, device) = (param.lazy_shape(), param.lazy_device());
        let count = shape.num_elements() as i64;
        let values = Tensor::<1, Int>::arange(0..count, &device).float() * 0.7;
        Param::from_tensor((values.sin() * 0.5).reshape(shape).detach())
    }
}

type Layer = (&'static str, Box<dyn Fn(Tensor<4>) -> Tensor<4>>);

/// Returns eight rows as two images.
fn pictures(x: Tensor<2>) -> Tensor<4> {
    let columns = x.dims()[1];
    x.reshape([2, 1, 4, columns])
}

/// Returns every layer, as a function of images of `[2, 3, 4, 4]`.
fn every_layer(device: &Device) -> Vec<Layer> {
    let rows = |x: Tensor<4>| x.reshape([8, 12]);
    let linear = LinearConfig::new(12, 5).init(device).map(&mut Waves);
    let hidden = HiddenLayerConfig::new(12, 6).init(device).map(&mut Waves);
    let convolution = Conv2dConfig::new([3, 4], [3, 3]).init(device).map(&mut Waves);
    let pool = MaxPool2dConfig::new([2, 2]).init();
    let norm = BatchNormConfig::new(3).init(device).map(&mut Waves);
    let gelu = Activation::Gelu.init(Channels::First(3), device);
    let layer_norm = LayerNormConfig::new(4).init(device).map(&mut Waves);
    let (of_linear, of_norm) = (linear.clone(), gelu.clone());
    vec![
        ("linear", Box::new(move |x| pictures(layers::linear(&linear, rows(x))))),
        (
            "linear and activation",
            Box::new(move |x| pictures(layers::linear_activation(&of_linear, &gelu, rows(x)))),
        ),
        ("hidden layer", Box::new(move |x| pictures(layers::hidden_layer(&hidden, rows(x))))),
        ("convolution", Box::new(move |x| layers::conv2d(&convolution, x))),
        ("max pool", Box::new(move |x| layers::max_pool2d(&pool, x))),
        ("layer norm", Box::new(move |x| layers::layer_norm(&layer_norm, 1e-5, x))),
        (
            "attention",
            Box::new(|x| {
                pictures(layers::causal_attention(x.reshape([2, 4, 12]), 2).reshape([8, 4]))
            }),
        ),
        ("batch norm", Box::new(move |x| layers::batch_norm_activation(&norm, &of_norm, x))),
    ]
}

#[test]
fn every_layer_has_the_same_gradients_with_gradient_checkpointing() {
    let plain = Device::default().autodiff();
    let gradients = |device: &Device| -> Vec<(&'static str, TensorData)> {
        let of = |(name, layer): Layer| {
            let values = Tensor::<1, Int>::arange(0..96, device).float().sin();
            let x = values.reshape([2, 3, 4, 4]).detach().require_grad();
            let y = layer(x.clone() * 1.0);
            let gradients = (y.clone() * y).sum().backward();
            (name, x.grad(&gradients).unwrap().into_data())
        };
        every_layer(device).into_iter().map(of).collect()
    };
    let recomputed = gradients(&plain.clone().gradient_checkpointing());
    for ((name, kept), (_, again)) in gradients(&plain).iter().zip(&recomputed) {
        assert!(kept.iter::<f32>().any(|slope| slope != 0.0), "{name}");
        assert_eq!(again, kept, "{name}");
    }
}
