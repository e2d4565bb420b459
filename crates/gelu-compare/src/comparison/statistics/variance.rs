/// Returns the sample variance, Σ(x − x̄)² / (n − 1); `None` for fewer than two numbers.
pub(super) fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (values.len() > 1).then_some(squares / (n - 1.0))
}

/// Returns a factor for numbers with which neither their sums nor their squares overflow. It is 1 unless the numbers
/// are very large or very small, and always a power of two, so that it changes no digit.
pub(super) fn scale(values: &[f64]) -> f64 {
    /// The square of 2^400 is finite, and so is the sum of as many squares as fit into memory.
    const SAFE: f64 = 400.0;
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let exponent = largest.log2().floor();
    match exponent.is_finite() && exponent.abs() > SAFE {
        true => 2f64.powi(-exponent.clamp(-1000.0, 1000.0) as i32),
        false => 1.0,
    }
}
