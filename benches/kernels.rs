//! Forward and backward of the activations on tensors, beside Burn's own GELU and a copy.
//!
//! ```text
//! cargo bench --bench kernels
//! ```

use burn::tensor::{Device, Distribution, Tensor};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gelu_core::Activation;

const SIZES: [usize; 3] = [1 << 12, 1 << 14, 1 << 20];
/// Burn's own exact GELU, to compare with.
const BURN: &str = "burn::gelu";
/// Reads and writes the same bytes, computes nothing.
const COPY: &str = "copy";

const FUNCTIONS: [&str; 8] =
    ["gelu", BURN, "gelu-tanh", "gelu-sigmoid", "silu", "elu", "relu", COPY];

fn main() {
    divan::main();
}

fn function(name: &str) -> Box<dyn Fn(Tensor<1>) -> Tensor<1>> {
    match name {
        BURN => Box::new(burn::tensor::activation::gelu),
        COPY => Box::new(|x| x * 1.0),
        name => {
            let activation: Activation = name.parse().expect("FUNCTIONS names activations");
            Box::new(move |x| activation.forward(x))
        }
    }
}

fn input(size: usize, device: &Device) -> Tensor<1> {
    device.seed(1);
    Tensor::random([size], Distribution::Normal(0.0, 2.0), device)
}

#[divan::bench(args = FUNCTIONS, consts = SIZES)]
fn forward<const SIZE: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let (device, function) = (Device::default(), function(name));
    let x = input(SIZE, &device);
    bencher.counter(ItemsCount::new(SIZE)).bench_local(|| {
        let y = function(black_box(x.clone()));
        // Inside the timed region: a device that works in the background has to be waited for.
        device.sync().expect("the device works");
        y
    });
}

#[divan::bench(args = FUNCTIONS, consts = SIZES)]
fn forward_and_backward<const SIZE: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let (device, function) = (Device::default().autodiff(), function(name));
    let x = input(SIZE, &device).require_grad();
    bencher.counter(ItemsCount::new(SIZE)).bench_local(|| {
        let gradients = function(black_box(x.clone())).sum().backward();
        device.sync().expect("the device works");
        gradients
    });
}
