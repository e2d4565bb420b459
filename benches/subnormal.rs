//! Measures the cost of subnormal numbers in a linear layer of 128 × 128: its three products with a batch of 128, by
//! Burn's matrix product and by `gelu_training::layers::linear`.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --bin subnormal
//! ```
//!
//! The share is that of the input and of the gradient. In the last case no number is subnormal, but all numbers of
//! the two are so small that their products are subnormal. The variants alternate; the program prints medians.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use gelu_training::layers;
use std::time::Instant;

const SIZE: usize = 128;
const ROUNDS: usize = 300;
/// The number of subnormal values in ten thousand, and the size of the others.
const CASES: [(usize, f32); 5] = [(0, 1.0), (1, 1.0), (10, 1.0), (100, 1.0), (0, 1e-20)];

fn main() {
    let device = Device::default().autodiff();
    let weight = Tensor::from_data(TensorData::new(numbers(0, 1.0), [SIZE, SIZE]), &device);
    let layer = Linear { weight: Param::from_tensor(weight), bias: None };
    let cases = CASES.map(|(share, size)| {
        let data = || TensorData::new(numbers(share, size), [SIZE, SIZE]);
        [Tensor::<2>::from_data(data(), &device), Tensor::from_data(data(), &device)]
    });
    let mut times = [const { [const { Vec::new() }; 2] }; CASES.len()];
    for _ in 0..ROUNDS {
        for ([x, dy], times) in cases.iter().zip(&mut times) {
            times[0].push(seconds(x, dy, |x| layer.forward(x)));
            times[1].push(seconds(x, dy, |x| layers::linear(&layer, x)));
        }
    }
    println!(
        "{:>12} {:>6} {:>9} {:>9}   µs, forward and backward",
        "subnormal", "size", "Burn", "here"
    );
    for ((share, size), times) in CASES.iter().zip(times) {
        let [burn, here] = times.map(median).map(|seconds| seconds * 1e6);
        println!("{:>10} % {size:>6.0e} {burn:>9.0} {here:>9.0}", *share as f64 / 100.0);
    }
}

/// Returns a square of numbers between −`size` and `size`, with scattered subnormal ones.
fn numbers(share: usize, size: f32) -> Vec<f32> {
    let number = |i: usize| {
        let scattered = (i * 7919) % 10_000;
        if scattered < share { 1e-40 } else { size * (0.37 * i as f32).sin() }
    };
    (0..SIZE * SIZE).map(number).collect()
}

fn seconds(x: &Tensor<2>, dy: &Tensor<2>, forward: impl Fn(Tensor<2>) -> Tensor<2>) -> f64 {
    let x = x.clone().require_grad();
    let start = Instant::now();
    let y = forward(x.clone());
    let gradients = (y * dy.clone()).sum().backward();
    let gradient = x.grad(&gradients).expect("it was asked for");
    // Reading the sum waits for the device.
    gradient.sum().into_scalar::<f32>();
    start.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
