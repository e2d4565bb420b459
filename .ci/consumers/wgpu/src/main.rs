//! `GeluLayer` on Burn's wgpu backend as its default features make it: fused, and tuned.

use burn::nn::Gelu;
use burn::tensor::{Device, DeviceKind, Tensor};
use gelu_core::{Activation, GeluLayer, HiddenLayerConfig};

fn main() {
    let device = Device::wgpu(DeviceKind::DefaultDevice).autodiff();
    println!("{device:?}");
    let x = Tensor::<2>::from_floats([[-3.0, -0.5, 0.0], [0.5, 1.0, 40.0]], &device).require_grad();
    let ours = GeluLayer::new().forward(x.clone());
    let gradients = ours.clone().sum().backward();
    let slopes = x.grad(&gradients).expect("x is tracked").into_data();
    // 0.5*math.erfc(-x/math.sqrt(2)) + x*math.exp(-x*x/2)/math.sqrt(2*math.pi) in Python.
    let exact = [-0.011_945_647f32, 0.132_504_88, 0.5, 0.867_495_1, 1.083_315_5, 1.0];
    for (slope, exact) in slopes.iter::<f32>().zip(exact) {
        assert!((slope - exact).abs() <= 1e-6 * exact.abs(), "{slope} for {exact}");
    }
    let burn = Gelu::new().forward(x).into_data();
    for (ours, burn) in ours.into_data().iter::<f32>().zip(burn.iter::<f32>()) {
        assert!((ours - burn).abs() < 1e-5, "GeluLayer {ours}, burn::nn::Gelu {burn}");
    }

    let layer = HiddenLayerConfig::new(3, 4).with_activation(Activation::Silu).init(&device);
    let y = layer.forward(Tensor::<2>::ones([2, 3], &device));
    let bias = layer.linear.bias.as_ref().expect("it has one").val();
    let slopes = bias.grad(&y.sum().backward()).expect("bias is tracked").into_data();
    assert!(slopes.iter::<f32>().all(|slope| slope != 0.0 && slope.is_finite()));
    println!("values and gradients are right");
}
