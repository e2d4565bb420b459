//! Times the forward and backward passes of the activations on tensors, next to Burn's own and a copy, and SwiGLU's
//! block.
//!
//! ```text
//! cargo bench --bench kernels
//! ```

use burn::nn::{LinearConfig, SwiGluConfig};
use burn::tensor::{Device, Distribution, Tensor};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gelu_core::{Activation, GatedFeedForwardConfig};

const SIZES: [usize; 4] = [1 << 12, 1 << 14, 1 << 18, 1 << 20];
/// Reads and writes the same bytes without computing anything.
const COPY: &str = "copy";

const FUNCTIONS: [&str; 10] = [
    "gelu",
    "burn::gelu",
    "gelu-tanh",
    "gelu-sigmoid",
    "silu",
    "burn::silu",
    "elu",
    "relu",
    "burn::relu",
    COPY,
];

fn main() {
    divan::main();
}

fn function(name: &str) -> Box<dyn Fn(Tensor<1>) -> Tensor<1>> {
    match name {
        "burn::gelu" => Box::new(burn::tensor::activation::gelu),
        "burn::silu" => Box::new(burn::tensor::activation::silu),
        "burn::relu" => Box::new(burn::tensor::activation::relu),
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
        // Inside the timed region, because the device may work in the background.
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

/// The number of rows, and the numbers of features outside and inside the block.
const BLOCK: [usize; 3] = [64, 256, 4096];

/// Times SwiGLU's block, `down(silu(gate(x))·up(x))`, with the gradients of its weights.
#[divan::bench(args = ["gelu_core::GatedFeedForward", "burn::nn::SwiGlu"])]
fn swiglu_block(bencher: Bencher<'_, '_>, name: &str) {
    let (device, [rows, outside, inside]) = (Device::default().autodiff(), BLOCK);
    let block: Box<dyn Fn(Tensor<2>) -> Tensor<2>> = match name {
        "burn::nn::SwiGlu" => {
            let gated = SwiGluConfig::new(outside, inside).init(&device);
            let down = LinearConfig::new(inside, outside).with_bias(false).init(&device);
            Box::new(move |x| down.forward(gated.forward(x)))
        }
        _ => {
            let block = GatedFeedForwardConfig::new(outside, inside).init(&device);
            Box::new(move |x| block.forward(x))
        }
    };
    let x = input(rows * outside, &device).reshape([rows, outside]);
    bencher.bench_local(|| {
        let gradients = block(black_box(x.clone())).sum().backward();
        device.sync().expect("the device works");
        gradients
    });
}

/// Times only the gating of `[64, 2·4096]`, with its gradient.
#[divan::bench(args = ["gelu_core::swiglu", "burn's silu times the other half"])]
fn swiglu_gate(bencher: Bencher<'_, '_>, name: &str) {
    let (device, [rows, _, columns]) = (Device::default().autodiff(), BLOCK);
    let gate: fn(Tensor<2>) -> Tensor<2> = match name {
        "gelu_core::swiglu" => gelu_core::swiglu,
        _ => |x| {
            let [gate, value] = x.chunk(2, 1).try_into().expect("two halves");
            burn::tensor::activation::silu(gate) * value
        },
    };
    let x = input(rows * 2 * columns, &device).reshape([rows, 2 * columns]).require_grad();
    bencher.bench_local(|| {
        let gradients = gate(black_box(x.clone())).sum().backward();
        device.sync().expect("the device works");
        gradients
    });
}
