//! Benchmarks of the small GPT: attention and row norms, forward and backward, and the products of linear
//! layers.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench --bench attention
//! ```

use divan::{Bencher, black_box};
use gelu_kernels::Level;
use gelu_training::kernels::attention::CausalAttention;
use gelu_training::kernels::linear::Sizes;
use gelu_training::kernels::row_norm::RowNorm;

fn main() {
    divan::main();
}

/// The attention of twelve texts of 64 characters, with four heads of 32 numbers.
const ATTENTION: CausalAttention = CausalAttention { batch: 12, length: 64, heads: 4, size: 32 };
const ROWS: usize = 12 * 64;
const WIDTH: usize = 128;

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.37).sin()).collect()
}

#[divan::bench]
fn attention(bencher: Bencher<'_, '_>) {
    let qkv = numbers(ROWS * 3 * WIDTH);
    bencher.bench(|| ATTENTION.forward(Level::best(), black_box(&qkv)));
}

#[divan::bench]
fn attention_gradient(bencher: Bencher<'_, '_>) {
    let qkv = numbers(ROWS * 3 * WIDTH);
    let (out, weights) = ATTENTION.forward(Level::best(), &qkv);
    bencher.bench(|| ATTENTION.gradient(Level::best(), black_box(&qkv), &weights, &out));
}

fn norm(gamma: &[f32], centred: bool) -> RowNorm<'_> {
    RowNorm { gamma, epsilon: 1e-5, centred }
}

#[divan::bench(args = [true, false])]
fn norm_of_rows(bencher: Bencher<'_, '_>, centred: bool) {
    let (x, gamma) = (numbers(ROWS * WIDTH), numbers(WIDTH));
    bencher.bench(|| norm(&gamma, centred).forward(Level::best(), black_box(&x)));
}

#[divan::bench(args = [true, false])]
fn norm_of_rows_gradient(bencher: Bencher<'_, '_>, centred: bool) {
    let (x, gamma) = (numbers(ROWS * WIDTH), numbers(WIDTH));
    bencher.with_inputs(|| x.clone()).bench_local_values(|mut gradient| {
        norm(&gamma, centred).differentiate(Level::best(), black_box(&x), &mut gradient)
    });
}

/// Times the forward pass and both gradients.
#[divan::bench(args = [[128, 384], [128, 128], [128, 512], [512, 128]])]
fn linear(bencher: Bencher<'_, '_>, [inputs, outputs]: [usize; 2]) {
    let sizes = Sizes { batch: ROWS, inputs, outputs };
    let (x, w, dy) = (numbers(ROWS * inputs), numbers(inputs * outputs), numbers(ROWS * outputs));
    bencher.bench(|| {
        let y = sizes.forward(black_box(&x), &w);
        (y, sizes.input_gradient(&w, &dy), sizes.weight_gradient(&x, &dy))
    });
}
