//! Times the exact GELU and its tanh form on the default device (`BURN_DEVICE` chooses among the compiled backends)
//! and prints them as CSV, for a program that compares them (`peers/pytorch.py`):
//!
//! ```text
//! cargo run --release --bin kernel-times -- ELEMENTS...
//! ```
//!
//! A line is `function,pass,elements,nanoseconds per element,largest error in ULP`; times are medians. The error is
//! in units of at least 2^-24 for the tanh form's derivative near its zero. The gated units have no error; their
//! elements are those of their result, in rows of 4096.
//!
//! Besides GELU in f32, it times the other element types, a copy, and Burn's own GELU, whose backward pass is timed
//! together with its forward pass. Both passes read their inputs and write a new tensor. `RAYON_NUM_THREADS` sets the
//! threads, `GELU_SIMD` the instructions.

use burn::tensor::{DType, Device, Distribution, FloatDType, Tensor};
use gelu_core::GateHalf;
use gelu_core::functional::{self, Unit};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The time over which a median is taken.
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
            let ulps = largest_error(&x, &forward(), |x| unit.value(x), |_| 0.0);
            println!(
                "{name},forward,{elements},{:.4},{ulps:.2}",
                nanoseconds(elements, &device, forward)
            );
            let backward = || functional::unit_backward(x.clone(), dy.clone(), unit);
            let least = |x: f64| {
                let near = unit == Unit::GeluTanh && (x + 0.752_461_4).abs() < 0.35;
                if near { 2f64.powi(-24) } else { 0.0 }
            };
            let ulps = largest_error(&x, &backward(), |x| unit.derivative(x), least);
            println!(
                "{name},backward,{elements},{:.4},{ulps:.2}",
                nanoseconds(elements, &device, backward)
            );
        }
        for (name, dtype) in [
            ("gelu-f16", FloatDType::F16),
            ("gelu-bf16", FloatDType::BF16),
            ("gelu-f64", FloatDType::F64),
        ] {
            if !device.supports_dtype(DType::from(dtype)) {
                continue;
            }
            let (x, dy) = (x.clone().cast(dtype), dy.clone().cast(dtype));
            let forward = || functional::gelu(x.clone());
            let backward = || functional::unit_backward(x.clone(), dy.clone(), Unit::Gelu);
            for (pass, ns) in [
                ("forward", nanoseconds(elements, &device, forward)),
                ("backward", nanoseconds(elements, &device, backward)),
            ] {
                println!("{name},{pass},{elements},{ns:.4},");
            }
        }
        // Rows as long as a transformer's, half of them gate, with as many results as `elements`.
        let columns = elements.clamp(1, 1 << 12);
        let rows = elements / columns;
        if rows * columns == elements {
            let shape = [rows, 2 * columns];
            let x = Tensor::<2>::random(shape, Distribution::Normal(0.0, 2.0), &device);
            let dy = Tensor::<2>::ones([rows, columns], &device);
            for (name, unit) in [("geglu", Unit::Gelu), ("swiglu", Unit::Silu)] {
                let forward = || functional::gated(x.clone(), unit, GateHalf::First);
                println!(
                    "{name},forward,{elements},{:.4},",
                    nanoseconds(elements, &device, forward)
                );
                let backward =
                    || functional::gated_backward(x.clone(), dy.clone(), unit, GateHalf::First);
                println!(
                    "{name},backward,{elements},{:.4},",
                    nanoseconds(elements, &device, backward)
                );
            }
        }
        let copy = || x.clone() * 1.0;
        println!("copy,forward,{elements},{:.4},0", nanoseconds(elements, &device, copy));
        let burn = || burn::tensor::activation::gelu(x.clone());
        let ulps = largest_error(&x, &burn(), |x| Unit::Gelu.value(x), |_| 0.0);
        println!(
            "burn-gelu,forward,{elements},{:.4},{ulps:.2}",
            nanoseconds(elements, &device, burn)
        );
        let tracked = Tensor::<1>::from_data(x.to_data(), &device.clone().autodiff());
        for (name, gelu) in [
            ("gelu", functional::gelu as fn(Tensor<1>) -> Tensor<1>),
            ("burn-gelu", burn::tensor::activation::gelu),
        ] {
            let slopes = || {
                let x = tracked.clone().require_grad();
                // Summed along a dimension, because Burn's sum of all elements crashes some old Vulkan drivers.
                let gradients = gelu(x.clone()).sum_dim(0).backward();
                x.grad(&gradients).expect("the sum depends on x")
            };
            let ulps = largest_error(&x, &slopes(), |x| Unit::Gelu.derivative(x), |_| 0.0);
            println!(
                "{name},both,{elements},{:.4},{ulps:.2}",
                nanoseconds(elements, &device, slopes)
            );
        }
    }
}

/// Returns the median time of a call, divided by the number of elements.
fn nanoseconds<const D: usize>(
    elements: usize,
    device: &Device,
    work: impl Fn() -> Tensor<D>,
) -> f64 {
    // Small work is repeated within a sample, so that the time of reading the clock does not matter. Samples stay
    // short, so that most of them are not interrupted by another program.
    let repeats = ((1 << 16) / elements.max(1)).max(1);
    let mut samples = Vec::new();
    let start = Instant::now();
    while start.elapsed() < MEASURED || samples.len() < 10 {
        let sample = Instant::now();
        for _ in 0..repeats {
            black_box(work());
        }
        // The device may work in the background, so wait for it.
        device.sync().expect("the device works");
        samples.push(sample.elapsed().as_secs_f64() * 1e9 / (repeats * elements.max(1)) as f64);
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn largest_error(
    x: &Tensor<1>,
    y: &Tensor<1>,
    exact: impl Fn(f64) -> f64,
    least: impl Fn(f64) -> f64,
) -> f64 {
    let (x, y) = (x.clone().into_data(), y.clone().into_data());
    let ulps = x.iter::<f64>().zip(y.iter::<f64>()).map(|(x, y)| {
        let rounded = exact(x).abs() as f32;
        let exponent = (rounded.to_bits() >> 23).max(1) as i32;
        (y - exact(x)).abs() / 2f64.powi(exponent - 150).max(least(x))
    });
    ulps.fold(0.0, f64::max)
}
