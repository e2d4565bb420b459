//! Results do not depend on the number of threads, or on which of them spin.

use gelu_kernels::Level;
use gelu_training::kernels::attention::CausalAttention;
use gelu_training::kernels::convolution::{self, Geometry};
use gelu_training::kernels::linear::Sizes;
use gelu_training::kernels::{AdamStep, adam};
use std::time::Duration;

fn wave(length: usize, frequency: f64) -> Vec<f32> {
    (0..length).map(|i| (i as f64 * frequency).sin() as f32).collect()
}

/// Asserts that `work` gives the same result on one thread as on several threads that sleep, spin, or are
/// busy with other work.
fn is_the_same_on_threads<T: PartialEq + Send>(what: &str, work: impl Fn() -> T + Send + Sync) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("the system gives a few threads")
    };
    let expected = on(1).install(&work);
    for threads in [2, 3] {
        let pool = on(threads);
        for round in 0..12 {
            if round % 4 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(pool.install(&work) == expected, "{what}, {threads} threads, round {round}");
        }
        let both = pool.install(|| rayon::join(&work, &work));
        assert!(both.0 == expected && both.1 == expected, "{what}, twice at once");
    }
}

#[test]
fn products() {
    // The sizes lead to different code: single rows, small batches, transposed products, small layers and
    // large ones.
    for [batch, inputs, outputs] in [
        [1, 700, 1100],
        [1, 2048, 2048],
        [16, 256, 256],
        [64, 784, 1000],
        [100, 1030, 129],
        [128, 128, 128],
        [129, 600, 64],
        [130, 600, 65],
        [768, 128, 512],
        [600, 600, 600],
    ] {
        let sizes = Sizes { batch, inputs, outputs };
        let (x, weight) = (wave(batch * inputs, 0.37), wave(inputs * outputs, 0.53));
        let gradient = wave(batch * outputs, 0.71);
        is_the_same_on_threads(&format!("{sizes:?}"), || {
            [
                sizes.forward(&x, &weight),
                sizes.input_gradient(&weight, &gradient),
                sizes.weight_gradient(&x, &gradient),
            ]
        });
    }
}

#[test]
fn convolutions() {
    for (batch, channels, side, kernel) in
        [(1, [64, 70], 8, 3), (2, [16, 130], 9, 3), (3, [48, 40], 12, 1), (20, [32, 48], 10, 3)]
    {
        let geometry = Geometry {
            batch,
            channels,
            input: [side; 2],
            output: [side; 2],
            kernel: [kernel; 2],
            stride: [1; 2],
            dilation: [1; 2],
            padding: [kernel / 2; 2],
        };
        let x = wave(batch * channels[0] * side * side, 0.37);
        let weight = wave(channels[0] * channels[1] * kernel * kernel, 0.53);
        let gradient = wave(batch * channels[1] * side * side, 0.71);
        is_the_same_on_threads(&format!("{geometry:?}"), || {
            [
                convolution::convolve(&geometry, &x, &weight, &[]),
                convolution::input_gradient(&geometry, &weight, &gradient),
                convolution::weight_gradient(&geometry, &x, &gradient),
            ]
        });
    }
}

#[test]
fn attention() {
    let of = CausalAttention { batch: 6, length: 50, heads: 3, size: 24 };
    let qkv = wave(6 * 50 * 3 * 3 * 24, 0.37);
    is_the_same_on_threads("attention", || {
        let (out, weights) = of.forward(Level::best(), &qkv);
        let gradient = of.gradient(Level::best(), &qkv, &weights, &out);
        (out, weights, gradient)
    });
}

#[test]
fn steps_of_an_optimiser() {
    for length in [20_000, 70_000, 1_200_000] {
        let (weights, gradient) = (wave(length, 0.37), wave(length, 0.71));
        is_the_same_on_threads(&format!("{length} numbers"), || {
            // The weights after the step are in the gradient's memory.
            let mut stepped = gradient.clone();
            let [mut first, mut second] = [(); 2].map(|()| vec![0.0; length]);
            adam(&weights, &mut stepped, &mut first, &mut second, AdamStep::new(1, 1e-3));
            [stepped, first, second]
        });
    }
}
