//! Results do not depend on the number of threads, or on which of them spin.

use gelu_kernels::random::{Draw, Mask};
use gelu_kernels::{
    Pass, Unit, backward, forward, gated_pair, gated_pair_backward, stochastic_map,
};
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
fn functions() {
    for length in [20_000, 70_000, 1_200_000] {
        let (x, dy) = (wave(length, 0.37), wave(length, 0.71));
        is_the_same_on_threads(&format!("{length} numbers"), || {
            let [mut y, mut dx] = [(); 2].map(|()| vec![0.0; length]);
            forward(Unit::Gelu, &x, &mut y);
            backward(Unit::Gelu, &x, &dy, &mut dx);
            [y, dx]
        });
    }
}

#[test]
fn passes_gates_and_random_numbers() {
    let (x, dy) = (wave(70_000, 0.37), wave(70_000, 0.71));
    let draw = Draw { seed: 1, step: 2 };
    let pass = Pass::new(Unit::Silu).with(&wave(100, 0.9), Some(Mask::new(0.5, draw)));
    is_the_same_on_threads("a pass", || (pass.map(&x), pass.scale(&x, &dy)));
    is_the_same_on_threads("a gate", || {
        (gated_pair(Unit::Gelu, &x, &dy), gated_pair_backward(Unit::Gelu, &x, &dy, &x))
    });
    is_the_same_on_threads("the stochastic map", || stochastic_map(&x, &dy, draw));
}
