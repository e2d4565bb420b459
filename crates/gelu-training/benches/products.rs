//! Benchmarks of the three products of linear layers. The weights are not in the caches, as in a network of
//! many layers.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench --bench products
//! ```

use divan::{Bencher, black_box};
use gelu_training::kernels::linear::Sizes;
use std::cell::Cell;

fn main() {
    divan::main();
}

/// Rows, inputs and outputs of layers: the autoencoder's first layer at two batch sizes, a layer of the
/// classifier, two of the GPT, and a wide one.
const LAYERS: [[usize; 3]; 6] = [
    [16, 784, 1000],
    [64, 784, 1000],
    [64, 500, 250],
    [128, 128, 128],
    [768, 128, 512],
    [1024, 2048, 2048],
];
/// The total size of the weights that take turns: more than the caches of a core hold.
const NUMBERS: usize = 10_000_000;

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.37).sin()).collect()
}

/// Times a product with weights that take turns.
fn bench(
    bencher: Bencher<'_, '_>,
    [batch, inputs, outputs]: [usize; 3],
    product: impl Fn(Sizes, &[f32], &[f32]) -> Vec<f32>,
    rows: usize,
) {
    let sizes = Sizes { batch, inputs, outputs };
    let weights = vec![numbers(inputs * outputs); NUMBERS.div_ceil(inputs * outputs).min(40)];
    let (rows, turn) = (numbers(batch * rows), Cell::new(0));
    bencher.bench_local(|| {
        turn.set((turn.get() + 1) % weights.len());
        product(sizes, black_box(&weights[turn.get()]), black_box(&rows))
    });
}

#[divan::bench(args = LAYERS)]
fn forward(bencher: Bencher<'_, '_>, layer: [usize; 3]) {
    bench(bencher, layer, |sizes, weight, x| sizes.forward(x, weight), layer[1]);
}

#[divan::bench(args = LAYERS)]
fn input_gradient(bencher: Bencher<'_, '_>, layer: [usize; 3]) {
    bench(bencher, layer, |sizes, weight, dy| sizes.input_gradient(weight, dy), layer[2]);
}

#[divan::bench(args = LAYERS)]
fn weight_gradient(bencher: Bencher<'_, '_>, layer: [usize; 3]) {
    let [batch, inputs, outputs] = layer;
    let sizes = Sizes { batch, inputs, outputs };
    let (x, dy) = (numbers(batch * inputs), numbers(batch * outputs));
    bencher.bench(|| sizes.weight_gradient(black_box(&x), &dy));
}
