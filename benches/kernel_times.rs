//! Times the exact GELU and its tanh form on the CPU and prints them as CSV, for a program that
//! compares (`peers/pytorch.py`):
//!
//! ```text
//! cargo run --release -p benches --bin kernel-times -- ELEMENTS...
//! ```
//!
//! A line is `function,pass,elements,nanoseconds per element,largest error in ULP`; times are
//! medians. Both passes read their inputs and write a new tensor. Threads: `RAYON_NUM_THREADS`;
//! instructions: `GELU_SIMD`.

use burn::tensor::{Device, Distribution, Tensor};
use gelu_core::{Unit, functional};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// For how long a median is taken.
const MEASURED: Duration = Duration::from_millis(300);

fn main() {
    let device = Device::default();
    println!("function,pass,elements,ns,ulps");
    for argument in std::env::args().skip(1) {
        let Ok(elements) = argument.parse::<usize>() else {
            eprintln!("kernel-times: `{argument}` is not a number of elements");
            std::process::exit(2);
        };
        device.seed(1);
        let x = Tensor::<1>::random([elements], Distribution::Normal(0.0, 2.0), &device);
        let dy = Tensor::<1>::ones([elements], &device);
        for (name, unit) in [("gelu", Unit::Gelu), ("gelu-tanh", Unit::GeluTanh)] {
            let forward = || functional::unit(x.clone(), unit);
            let ulps = largest_error(&x, &forward(), |x| unit.value(x));
            println!("{name},forward,{elements},{:.4},{ulps:.2}", nanoseconds(elements, forward));
            let backward = || functional::unit_backward(x.clone(), dy.clone(), unit);
            let ulps = largest_error(&x, &backward(), |x| unit.derivative(x));
            println!("{name},backward,{elements},{:.4},{ulps:.2}", nanoseconds(elements, backward));
        }
    }
}

/// The median time of a call, divided by the number of elements.
fn nanoseconds(elements: usize, work: impl Fn() -> Tensor<1>) -> f64 {
    // Small work is repeated within a sample, so that the clock's own time does not count.
    let repeats = ((1 << 20) / elements.max(1)).max(1);
    let mut samples = Vec::new();
    let start = Instant::now();
    while start.elapsed() < MEASURED || samples.len() < 10 {
        let sample = Instant::now();
        for _ in 0..repeats {
            black_box(work());
        }
        samples.push(sample.elapsed().as_secs_f64() * 1e9 / (repeats * elements.max(1)) as f64);
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn largest_error(x: &Tensor<1>, y: &Tensor<1>, exact: impl Fn(f64) -> f64) -> f64 {
    let (x, y) = (x.clone().into_data(), y.clone().into_data());
    let ulps = x.iter::<f64>().zip(y.iter::<f64>()).map(|(x, y)| {
        let exact = exact(x);
        let rounded = exact.abs() as f32;
        let exponent = (rounded.to_bits() >> 23).max(1) as i32;
        (y - exact).abs() / 2f64.powi(exponent - 150)
    });
    ulps.fold(0.0, f64::max)
}
