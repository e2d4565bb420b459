//! How far results are from the exact ones. Shared with the tests of accuracy.

use super::measure::spacing;

/// The largest error over some inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Errors {
    /// In units of the last place.
    pub(crate) worst: f64,
    /// The input that has it.
    pub(crate) at: f32,
    /// How many are more than 0.5, 1 and 2 of them off.
    pub(crate) over: [u64; 3],
    /// How many were compared.
    pub(crate) count: u64,
}

impl Errors {
    /// Compares results with exact ones; where `least` is given, an error counts in units of at least
    /// it.
    pub(crate) fn of(
        x: &[f32],
        results: &[f32],
        exact: &[f64],
        least: impl Fn(f32) -> f64,
    ) -> Self {
        let mut errors = Self::default();
        for ((&x, &result), &exact) in x.iter().zip(results).zip(exact) {
            // What overflows is infinite.
            let overflown = result == exact as f32 && result.is_infinite();
            let error = if overflown { 0.0 } else { (f64::from(result) - exact).abs() };
            let ulps = error / spacing(exact).max(least(x));
            // A NaN is the worst there is.
            if ulps > errors.worst || ulps.is_nan() {
                (errors.worst, errors.at) = (ulps, x);
            }
            for (over, bound) in errors.over.iter_mut().zip([0.5, 1.0, 2.0]) {
                *over += u64::from(ulps > bound);
            }
            errors.count += 1;
        }
        errors
    }
}
