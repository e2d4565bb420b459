//! Benchmarks of the functions on one thread, next to the platform's `erff` and `tanhf` and the crate
//! rten-vecmath.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench --bench slices
//! ```

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gelu_kernels::random::{Draw, Mask};
use gelu_kernels::{Pass, Unit, backward, forward, gated_pair, gated_pair_backward, slices};
use rten_simd::SimdUnaryOp;

const SIZE: usize = 1 << 14;

fn main() {
    divan::main();
}

fn input() -> Vec<f32> {
    (0..SIZE).map(|i| (i as f32 * 0.37).sin() * 4.0).collect()
}

/// Times `work` on an input and a buffer for its results.
fn time(bencher: Bencher<'_, '_>, work: impl Fn(&[f32], &mut [f32])) {
    let (x, mut y) = (input(), vec![0.0; SIZE]);
    bencher.counter(ItemsCount::new(SIZE)).bench_local(|| work(black_box(&x), black_box(&mut y)));
}

const UNITS: [Unit; 6] =
    [Unit::Gelu, Unit::GeluTanh, Unit::Silu, Unit::Tanh, Unit::Sigmoid, Unit::Relu];

#[divan::bench(args = UNITS)]
fn value(bencher: Bencher<'_, '_>, unit: Unit) {
    time(bencher, |x, y| forward(unit, x, y));
}

#[divan::bench(args = UNITS)]
fn derivative(bencher: Bencher<'_, '_>, unit: Unit) {
    let dy = vec![1.0; SIZE];
    time(bencher, |x, dx| backward(unit, x, &dy, dx));
}

const GATES: [Unit; 4] = [Unit::Silu, Unit::Gelu, Unit::GeluTanh, Unit::Relu];

#[divan::bench(args = GATES)]
fn gate(bencher: Bencher<'_, '_>, unit: Unit) {
    let (x, values) = (input(), vec![1.0; SIZE]);
    let bencher = bencher.counter(ItemsCount::new(SIZE));
    bencher.bench_local(|| gated_pair(unit, black_box(&x), &values));
}

/// Times the gradients for gates and for values.
#[divan::bench(args = GATES)]
fn gate_gradients(bencher: Bencher<'_, '_>, unit: Unit) {
    let (x, values, dy) = (input(), vec![1.0; SIZE], vec![1.0; SIZE]);
    let bencher = bencher.counter(ItemsCount::new(SIZE));
    bencher.bench_local(|| gated_pair_backward(unit, black_box(&x), &values, &dy));
}

/// Times the same gradients with two loops, one for the function and one for its derivative. The
/// difference from `gate_gradients` is what a common loop saves.
#[divan::bench(args = [Unit::Gelu, Unit::GeluTanh])]
fn gate_gradients_by_two_loops(bencher: Bencher<'_, '_>, unit: Unit) {
    const BLOCK: usize = 1024;
    let (x, values, dy) = (input(), vec![1.0f32; SIZE], vec![1.0; SIZE]);
    let bencher = bencher.counter(ItemsCount::new(SIZE));
    bencher.bench_local(|| {
        let (mut dgates, mut dvalues) = (Vec::with_capacity(SIZE), Vec::with_capacity(SIZE));
        let gates = black_box(&x).chunks(BLOCK);
        for ((gates, values), dy) in gates.zip(values.chunks(BLOCK)).zip(dy.chunks(BLOCK)) {
            let (mut value, mut slope) = ([0.0; BLOCK], [0.0; BLOCK]);
            value.copy_from_slice(gates);
            slope.iter_mut().zip(values).zip(dy).for_each(|((slope, v), dy)| *slope = v * dy);
            slices::backward(unit, gates, &mut slope);
            slices::forward(unit, &mut value);
            dvalues.extend(value.iter().zip(dy).map(|(value, dy)| value * dy));
            dgates.extend_from_slice(&slope);
        }
        (dgates, dvalues)
    });
}

/// The functions and dropout probabilities that a network's layer is timed with.
const LAYERS: [(Unit, f64); 4] =
    [(Unit::Relu, 0.0), (Unit::Relu, 0.5), (Unit::Gelu, 0.0), (Unit::Gelu, 0.5)];

/// Returns a pass over rows of 128 with a bias and dropout of this probability.
fn layer((unit, dropout): (Unit, f64)) -> Pass<f32> {
    let mask = (dropout > 0.0).then(|| Mask::new(dropout, Draw { seed: 1, step: 0 }));
    Pass::new(unit).with(&[0.1; 128], mask)
}

#[divan::bench(args = LAYERS)]
fn layer_value(bencher: Bencher<'_, '_>, parts: (Unit, f64)) {
    let layer = layer(parts);
    time(bencher, |x, y| layer.map_into(x, y));
}

/// Times the gradient, including that of the bias.
#[divan::bench(args = LAYERS)]
fn layer_gradient(bencher: Bencher<'_, '_>, parts: (Unit, f64)) {
    let (layer, dy) = (layer(parts), vec![1.0; SIZE]);
    time(bencher, |x, dx| _ = layer.scale_into(x, &dy, dx));
}

#[divan::bench]
fn copy(bencher: Bencher<'_, '_>) {
    time(bencher, |x, y| y.copy_from_slice(x));
}

#[allow(unsafe_code, reason = "it is the platform's")]
mod platform {
    use super::{Bencher, time};

    unsafe extern "C" {
        safe fn erff(x: f32) -> f32;
    }

    #[divan::bench]
    fn gelu_by_erff(bencher: Bencher<'_, '_>) {
        let gelu = |x: f32| 0.5 * x * (1.0 + erff(x * std::f32::consts::FRAC_1_SQRT_2));
        time(bencher, |x, y| y.iter_mut().zip(x).for_each(|(y, x)| *y = gelu(*x)));
    }

    #[divan::bench]
    fn tanhf(bencher: Bencher<'_, '_>) {
        time(bencher, |x, y| y.iter_mut().zip(x).for_each(|(y, x)| *y = x.tanh()));
    }
}

mod rten {
    use super::{Bencher, SimdUnaryOp, time};
    use rten_vecmath::{ApproxGelu, Gelu, Sigmoid, Silu, Tanh};

    fn op(bencher: Bencher<'_, '_>, op: impl SimdUnaryOp<f32>) {
        time(bencher, |x, y| {
            y.copy_from_slice(x);
            op.map_mut(y);
        });
    }

    #[divan::bench]
    fn gelu(bencher: Bencher<'_, '_>) {
        op(bencher, Gelu {});
    }

    #[divan::bench]
    fn gelu_tanh(bencher: Bencher<'_, '_>) {
        op(bencher, ApproxGelu {});
    }

    #[divan::bench]
    fn silu(bencher: Bencher<'_, '_>) {
        op(bencher, Silu {});
    }

    #[divan::bench]
    fn tanh(bencher: Bencher<'_, '_>) {
        op(bencher, Tanh {});
    }

    #[divan::bench]
    fn sigmoid(bencher: Bencher<'_, '_>) {
        op(bencher, Sigmoid {});
    }
}
