//! The functions on one thread, beside what else there is: the platform's `erff` and `tanhf`, and the
//! crate rten-vecmath.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench --bench slices
//! ```

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gelu_kernels::{Unit, backward, forward};
use rten_simd::SimdUnaryOp;

const SIZE: usize = 1 << 14;

fn main() {
    divan::main();
}

fn input() -> Vec<f32> {
    (0..SIZE).map(|i| (i as f32 * 0.37).sin() * 4.0).collect()
}

/// Times `work` on an input and a place for its results.
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
