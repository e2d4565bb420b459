//! What subnormal numbers cost a linear layer of 128 × 128: its three products, batch of 128, by Burn's
//! matrix product and by `gelu_training::layers::linear`.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release -p benches --bin subnormal
//! ```
//!
//! The share is that of the input and of the gradient. All take turns; printed are medians.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use gelu_training::layers;
use std::time::Instant;

const SIZE: usize = 128;
const ROUNDS: usize = 300;
/// In ten thousand numbers.
const SHARES: [usize; 4] = [0, 1, 10, 100];

fn main() {
    let device = Device::default().autodiff();
    let weight = Tensor::from_data(TensorData::new(numbers(0), [SIZE, SIZE]), &device);
    let layer = Linear { weight: Param::from_tensor(weight), bias: None };
    let cases = SHARES.map(|share| {
        let data = || TensorData::new(numbers(share), [SIZE, SIZE]);
        [Tensor::<2>::from_data(data(), &device), Tensor::from_data(data(), &device)]
    });
    let mut times = [const { [const { Vec::new() }; 2] }; SHARES.len()];
    for _ in 0..ROUNDS {
        for ([x, dy], times) in cases.iter().zip(&mut times) {
            times[0].push(seconds(x, dy, |x| layer.forward(x)));
            times[1].push(seconds(x, dy, |x| layers::linear(&layer, x)));
        }
    }
    println!("{:>12} {:>9} {:>9}   µs, forward and backward", "subnormal", "Burn", "here");
    for (share, times) in SHARES.iter().zip(times) {
        let [burn, here] = times.map(median).map(|seconds| seconds * 1e6);
        println!("{:>10} % {burn:>9.0} {here:>9.0}", *share as f64 / 100.0);
    }
}

/// A square of numbers between −1 and 1, some of them, scattered, subnormal.
fn numbers(share: usize) -> Vec<f32> {
    let number = |i: usize| {
        let scattered = (i * 7919) % 10_000;
        if scattered < share { 1e-40 } else { (0.37 * i as f32).sin() }
    };
    (0..SIZE * SIZE).map(number).collect()
}

fn seconds(x: &Tensor<2>, dy: &Tensor<2>, forward: impl Fn(Tensor<2>) -> Tensor<2>) -> f64 {
    let x = x.clone().require_grad();
    let start = Instant::now();
    let y = forward(x.clone());
    let gradients = (y * dy.clone()).sum().backward();
    let gradient = x.grad(&gradients).expect("it was asked for");
    // Read, or a device would only have been told what to do.
    gradient.sum().into_scalar::<f32>();
    start.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
