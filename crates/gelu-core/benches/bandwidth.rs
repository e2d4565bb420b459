//! Benchmark of GELU's memory bandwidth on a device, forward and backward, compared with a copy.
//!
//! ```text
//! BURN_DEVICE=cuda cargo bench --features cuda --bench bandwidth -- [ELEMENTS]
//! ```
//!
//! The tensors have 2^28 elements by default, in f32, f16 and bf16. A copy (the sum with 1) and the
//! forward pass move two tensors, the backward pass moves three. The program prints the median rate
//! in bytes per second, and its ratio to the copy's rate in the same run.

use burn::tensor::{DType, Device, Distribution, FloatDType, Tensor};
use gelu_core::functional::{self, Unit};
use std::time::Instant;

const SAMPLES: usize = 15;
/// The number of calls between two readings of the clock.
const CALLS: usize = 10;

fn main() {
    // Cargo adds the argument `--bench`.
    let argument = std::env::args().skip(1).find(|argument| argument != "--bench");
    let elements = match argument.map(|text| text.parse::<usize>()) {
        None => 1 << 28,
        Some(Ok(elements)) if elements > 0 => elements,
        Some(_) => {
            eprintln!("usage: bandwidth [ELEMENTS], a positive number");
            std::process::exit(2);
        }
    };
    let device = Device::default();
    println!("{elements} elements on {device:?}");
    println!("{:<6} {:<22} {:>9} {:>8}", "type", "pass", "GB/s", "to copy");
    for (name, dtype, bytes) in
        [("f32", FloatDType::F32, 4), ("f16", FloatDType::F16, 2), ("bf16", FloatDType::BF16, 2)]
    {
        if !device.supports_dtype(DType::from(dtype)) {
            println!("{name:<6} the device has none");
            continue;
        }
        let x = Tensor::<1>::random([elements], Distribution::Normal(0.0, 2.0), &device);
        let x = x.cast(dtype);
        let dy = x.ones_like();
        let gigabytes = (elements * bytes) as f64 / 1e9;
        let rate = |tensors: f64, work: &dyn Fn() -> Tensor<1>| {
            tensors * gigabytes / median_seconds(work, &device)
        };
        let copy = rate(2.0, &|| x.clone().add_scalar(1.0));
        println!("{name:<6} {:<22} {copy:>9.1} {:>8}", "copy", "");
        for (unit, of) in [(Unit::Gelu, "gelu"), (Unit::GeluTanh, "gelu-tanh")] {
            let forward = rate(2.0, &|| functional::unit(x.clone(), unit));
            let backward = rate(3.0, &|| functional::unit_backward(x.clone(), dy.clone(), unit));
            for (pass, rate) in [("forward", forward), ("backward", backward)] {
                let pass = format!("{of} {pass}");
                println!("{name:<6} {pass:<22} {rate:>9.1} {:>8.3}", rate / copy);
            }
        }
    }
}

fn median_seconds(work: &dyn Fn() -> Tensor<1>, device: &Device) -> f64 {
    let wait = || device.sync().expect("the device works");
    let mut samples = Vec::new();
    for sample in 0..=SAMPLES {
        wait();
        let start = Instant::now();
        for _ in 0..CALLS {
            let result = work();
            // Fusion would not compute a result that is dropped before the flush.
            device.flush().expect("the device works");
            drop(result);
        }
        wait();
        // The first sample is discarded, because it compiles the kernel.
        if sample > 0 {
            samples.push(start.elapsed().as_secs_f64() / CALLS as f64);
        }
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
