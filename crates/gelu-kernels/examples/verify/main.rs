//! Measures the accuracy of every unit and its derivative over all 2^32 f32 inputs.
//!
//! ```text
//! cargo run --release --example verify [STRIDE] [FUNCTION ...]
//! ```
//!
//! With a stride, the program checks every STRIDE-th bit pattern; with names, only these functions.
//! A run over all inputs takes some two minutes per function on two cores. The program exits with 1
//! if a bound of `bounds.rs` does not hold, or if a bound is far above the largest error over all
//! inputs.

mod bounds;
mod errors;
mod measure;

use bounds::{Bound, least};
use errors::Errors;
use gelu_kernels::Unit;
use std::process::ExitCode;

/// The number of inputs in one slice: few enough for a processor's second-level cache.
const BATCH: u64 = 1 << 15;

fn main() -> ExitCode {
    let (stride, units) = match arguments() {
        Ok(understood) => understood,
        Err(problem) => {
            eprintln!("{problem}\nusage: verify [STRIDE] [FUNCTION ...]");
            return ExitCode::from(2);
        }
    };
    println!(
        "{:<24} {:>9} {:>14} {:>13} {:>13} {:>13}",
        "function", "max ULP", "at", "> 0.5 ULP", "> 1 ULP", "> 2 ULP"
    );
    let mut held = true;
    for bound in bounds::all().filter(|bound| units.contains(&bound.unit)) {
        let errors = sweep(&bound, stride);
        let name = format!("{:?} {:?}", bound.unit, bound.of);
        let [half, one, two] = errors.over;
        println!(
            "{name:<24} {:>9.4} {:>14e} {half:>13} {one:>13} {two:>13}",
            errors.worst, errors.at
        );
        if errors.worst > bound.ulps || errors.worst.is_nan() {
            eprintln!("{name}: the bound is {} ULP", bound.ulps);
            held = false;
        } else if stride == 1 && errors.worst < bound.reached * bound.ulps {
            eprintln!("{name}: a bound of {} ULP is stale", bound.ulps);
            held = false;
        }
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the stride and the functions: all functions if the command line names none.
fn arguments() -> Result<(u64, Vec<Unit>), String> {
    let mut arguments = std::env::args().skip(1).peekable();
    let stride = arguments.next_if(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    let stride = stride.map_or(Ok(1), |text| text.parse::<u64>());
    let stride = stride.ok().filter(|&stride| stride > 0).ok_or("the stride is no such number")?;
    let named = |name: String| name.parse::<Unit>().map_err(|error| error.to_string());
    let units: Vec<Unit> = arguments.map(named).collect::<Result<_, _>>()?;
    Ok((stride, if units.is_empty() { Unit::ALL.to_vec() } else { units }))
}

/// Measures the errors over every `stride`-th input that is finite, on all available threads.
fn sweep(bound: &Bound, stride: u64) -> Errors {
    let patterns = (1u64 << 32).div_ceil(stride);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let work = |thread: u64| {
        let mut errors = Errors::default();
        for batch in (thread..patterns.div_ceil(BATCH)).step_by(threads as usize) {
            let range = batch * BATCH..((batch + 1) * BATCH).min(patterns);
            let x = range.map(|index| f32::from_bits((index * stride) as u32));
            let x: Vec<f32> = x.filter(|x| x.is_finite()).collect();
            let results = bound.of.compute(bound.unit, &x, 1.0);
            let least = least(bound.unit, bound.of);
            let wide: Vec<f64> = x.iter().copied().map(f64::from).collect();
            let exact = bound.of.compute(bound.unit, &wide, 1.0);
            errors = both(errors, Errors::of(&x, &results, &exact, least));
        }
        errors
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let all = workers.into_iter().map(|worker| worker.join().expect("a worker panicked"));
        all.fold(Errors::default(), both)
    })
}

fn both(a: Errors, b: Errors) -> Errors {
    let worse = if a.worst >= b.worst || a.worst.is_nan() { a } else { b };
    Errors { over: [0, 1, 2].map(|i| a.over[i] + b.over[i]), count: a.count + b.count, ..worse }
}
