//! The errors of results, compared with the exact ones. The accuracy tests use this file, too.

use super::measure::spacing;

/// The largest error over some inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Errors {
    /// The largest error, in units of the last place.
    pub(crate) worst: f64,
    /// The input with the largest error.
    pub(crate) at: f32,
    /// The numbers of results with an error of more than 0.5, 1 and 2 units of the last place.
    pub(crate) over: [u64; 3],
    /// The number of compared results.
    pub(crate) count: u64,
}

impl Errors {
    /// Compares `results` with `exact` ones. An error counts in units of the last place, or of
    /// `least` where that is larger.
    pub(crate) fn of(
        x: &[f32],
        results: &[f32],
        exact: &[f64],
        least: impl Fn(f32) -> f64,
    ) -> Self {
        let mut errors = Self::default();
        for ((&x, &result), &exact) in x.iter().zip(results).zip(exact) {
            // A result that overflows in f32 has to be infinite.
            let overflown = result == exact as f32 && result.is_infinite();
            let error = if overflown { 0.0 } else { (f64::from(result) - exact).abs() };
            let ulps = error / spacing(exact).max(least(x));
            // A NaN counts as the largest error.
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
