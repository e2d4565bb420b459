//! Benchmarks of convolutions with the CIFAR networks' sizes, on ten images and on one, and of their gradients
//! on ten. An item is a multiplication and an addition.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench --bench convolutions
//! ```

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gelu_training::kernels::convolution::{Geometry, convolve, input_gradient, weight_gradient};

fn main() {
    divan::main();
}

/// Channels of input and output, pixels of a side, the kernel's side, and the stride.
const SIZES: [[usize; 5]; 10] = [
    [3, 96, 32, 3, 1],
    [96, 96, 32, 3, 1],
    [96, 192, 16, 3, 1],
    [192, 192, 16, 3, 1],
    [192, 192, 6, 1, 1],
    [16, 64, 32, 3, 1],
    [64, 64, 32, 3, 1],
    [64, 128, 32, 3, 2],
    [128, 128, 16, 3, 1],
    [256, 256, 8, 3, 1],
];

fn geometry(batch: usize, [inputs, outputs, side, kernel, stride]: [usize; 5]) -> Geometry {
    Geometry {
        batch,
        channels: [inputs, outputs],
        input: [side; 2],
        output: [side / stride; 2],
        kernel: [kernel; 2],
        stride: [stride; 2],
        dilation: [1; 2],
        padding: [kernel / 2; 2],
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.37).sin()).collect()
}

/// Times `work` on an input, a weight and a gradient.
fn time(
    bencher: Bencher<'_, '_>,
    batch: usize,
    size: [usize; 5],
    work: impl Fn(&Geometry, [&[f32]; 3]) -> Vec<f32>,
) {
    let geometry = geometry(batch, size);
    let [inputs, outputs, side, kernel, stride] = size;
    let pixels = geometry.batch * side * side;
    let results = geometry.batch * outputs * (side / stride).pow(2);
    let depth = inputs * kernel * kernel;
    let (x, w, dy) = (numbers(inputs * pixels), numbers(outputs * depth), numbers(results));
    bencher
        .counter(ItemsCount::new(results * depth))
        .bench_local(|| work(&geometry, [black_box(&x), black_box(&w), black_box(&dy)]));
}

#[divan::bench(args = SIZES)]
fn value(bencher: Bencher<'_, '_>, size: [usize; 5]) {
    time(bencher, 10, size, |geometry, [x, w, _]| convolve(geometry, x, w, &[]));
}

#[divan::bench(args = SIZES)]
fn value_of_one(bencher: Bencher<'_, '_>, size: [usize; 5]) {
    time(bencher, 1, size, |geometry, [x, w, _]| convolve(geometry, x, w, &[]));
}

#[divan::bench(args = SIZES)]
fn gradient_for_the_input(bencher: Bencher<'_, '_>, size: [usize; 5]) {
    time(bencher, 10, size, |geometry, [_, w, dy]| input_gradient(geometry, w, dy));
}

#[divan::bench(args = SIZES)]
fn gradient_for_the_weight(bencher: Bencher<'_, '_>, size: [usize; 5]) {
    time(bencher, 10, size, |geometry, [x, _, dy]| weight_gradient(geometry, x, dy));
}
