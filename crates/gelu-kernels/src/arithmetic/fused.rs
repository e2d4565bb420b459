//! f32 with a fused multiply-add: `e^−u` and the steps that formulas on it share.
//!
//! This arithmetic is for processors that have the instruction. Where a fused multiply-add would be
//! a function call, f32 functions are computed in [`Rounded`](super::Rounded) f64 instead.

/// `e^−u` as `(1 + s)·scale·2^−BIAS`: a factor near 1 and a power of two.
///
/// The power is stored multiplied by `2^BIAS`, so that a single multiplication by `unbias`, fused
/// into the last addition, is the only rounding into subnormals.
#[derive(Clone, Copy, Debug)]
pub struct FusedExponential {
    /// The factor's distance from 1: `|s| ≤ √2 − 1`.
    pub s: f32,
    /// The power of two, times `2^BIAS`. It is exactly 0 at the formula's clamp.
    pub scale: f32,
}

/// 1.5·2^23: adding it rounds to an integer and leaves the integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// The coefficients of `(e^(−r/2) − 1)/r` on |r| ≤ ln 2; the error of `e^(−r/2)` is below 2^-28.2.
pub const SERIES_HALF: [f32; 6] =
    [-0.5, 0.124_999_985, -0.020_833_151, 0.002_604_266_6, -0.000_261_521_17, 2.159_489_3e-5];

impl FusedExponential {
    /// Returns `e^(−(high + low)/2)` for `0 ≤ high ≤ 2·107`; `low` is the rounding error of `high`.
    #[inline(always)]
    pub(crate) fn of_half<const BIAS: u32>(high: f32, low: f32) -> Self {
        const STEP: f64 = 2.0 * core::f64::consts::LN_2;
        Self::reduced::<BIAS>(high, low, STEP, &SERIES_HALF)
    }

    /// Returns `e^−(high + low)` for `0 ≤ high ≤ 113`; `low` is the rounding error of `high`.
    #[inline(always)]
    pub fn of<const BIAS: u32>(high: f32, low: f32) -> Self {
        /// The coefficients of `(e^−r − 1)/r` on |r| ≤ ln 2 / 2; the error of `e^−r` is below
        /// 2^-28.2.
        const SERIES: [f32; 6] =
            [-1.0, 0.499_999_94, -0.166_665_21, 0.041_668_27, -0.008_368_68, 0.001_382_073_2];
        Self::reduced::<BIAS>(high, low, core::f64::consts::LN_2, &SERIES)
    }

    /// Returns the exponential of `u = high + low`, reduced to `u = r − n·step` with an integer
    /// `n ≤ 0`. Each `step` halves the result.
    #[inline(always)]
    fn reduced<const BIAS: u32>(high: f32, low: f32, step: f64, series: &[f32; 6]) -> Self {
        let step_high = step as f32;
        let step_low = (step - f64::from(step_high)) as f32;
        let round = ROUND + (127 + BIAS) as f32;
        let shifted = mul_add(high, (-1.0 / step) as f32, round);
        let n = shifted - round;
        // The first sum is exact: it cancels, and the fused operation does not round the product.
        let r = mul_add(n, step_high, high) + mul_add(n, step_low, low);
        let scale = f32::from_bits(shifted.to_bits() << 23);
        Self { s: r * polynomial(series, r), scale }
    }
}

/// Returns `2^−BIAS`.
#[inline(always)]
pub(crate) fn unbias<const BIAS: u32>() -> f32 {
    f32::from_bits((127 - BIAS) << 23)
}

/// Returns `a·b + c`, rounded once.
#[inline(always)]
pub fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(feature = "std")]
    return a.mul_add(b, c);
    #[cfg(not(feature = "std"))]
    return libm::fmaf(a, b, c);
}

/// Returns `min(x, limit)`; a NaN stays a NaN.
#[inline(always)]
pub(crate) fn at_most(x: f32, limit: f32) -> f32 {
    if x > limit { limit } else { x }
}

/// Returns `max(x, −0)`: keeps the sign of a zero; a NaN stays a NaN.
#[inline(always)]
pub(crate) fn positive_part(x: f32) -> f32 {
    // With the operands in this order the compiler emits one instruction.
    if -0.0 > x { -0.0 } else { x }
}

/// Returns `Σ coefficients[k]·v^k`.
#[inline(always)]
pub(crate) fn polynomial<const N: usize>(coefficients: &[f32; N], v: f32) -> f32 {
    let mut sum = coefficients[N - 1];
    let mut index = N - 1;
    while index > 0 {
        index -= 1;
        sum = mul_add(sum, v, coefficients[index]);
    }
    sum
}

/// Returns `below + tail·unbias` for x < 0 and `above − tail·unbias` otherwise: `below` and `above`
/// are the function without its tail.
#[inline(always)]
pub(crate) fn on_its_side(x: f32, tail: f32, unbias: f32, below: f32, above: f32) -> f32 {
    // Selecting operands costs less than computing both.
    let factor = if x < 0.0 { unbias } else { -unbias };
    let base = if x < 0.0 { below } else { above };
    mul_add(tail, factor, base)
}
