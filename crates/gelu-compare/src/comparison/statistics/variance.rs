/// The sample variance, Σ(x − x̄)² / (n − 1); `None` of fewer than two numbers.
pub(super) fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (values.len() > 1).then_some(squares / (n - 1.0))
}
