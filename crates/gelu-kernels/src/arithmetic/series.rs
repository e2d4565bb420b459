//! Polynomials and powers of two in f64.

/// Adding this number rounds to an integer and leaves the integer in the low bits.
pub(super) const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Returns `2^k` for an integer −1022 ≤ k ≤ 1023.
#[inline(always)]
pub(super) fn power_of_two(k: f64) -> f64 {
    f64::from_bits((k + MAGIC).to_bits().wrapping_add(1023) << 52)
}

/// Returns `Σ coefficients[k]·x^k`. Four chains run side by side, each over every fourth
/// coefficient, because every step of a single long chain would wait for the step before.
#[inline(always)]
pub(super) fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let low = chain(fourth, coefficients, 0) + x * chain(fourth, coefficients, 1);
    let high = chain(fourth, coefficients, 2) + x * chain(fourth, coefficients, 3);
    low + square * high
}

/// Returns `Σ coefficients[first + 4k]·x^k`.
#[inline(always)]
fn chain(x: f64, coefficients: &[f64], first: usize) -> f64 {
    if first >= coefficients.len() {
        return 0.0;
    }
    let mut index = first + (coefficients.len() - 1 - first) / 4 * 4;
    let mut sum = coefficients[index];
    while index > first {
        index -= 4;
        sum = sum * x + coefficients[index];
    }
    sum
}

/// Returns `e^r − 1` for `|r| ≤ ln 2 / 2` by Taylor's series up to r^(`N` + 1).
#[inline(always)]
pub(super) fn series<const N: usize>(r: f64) -> f64 {
    let mut coefficients = [0.5; N];
    let mut k = 1;
    while k < N {
        coefficients[k] = coefficients[k - 1] / (k + 2) as f64;
        k += 1;
    }
    polynomial(r, &coefficients) * r * r + r
}
