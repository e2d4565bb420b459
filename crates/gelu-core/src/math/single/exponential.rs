use super::horner;
use crate::math::real::Real;

/// `e^−u` as `(1 + s)·scale·2^−BIAS`: a factor near 1 and a power of two.
///
/// The power is kept [`BIAS`](Self::BIAS) too large, so that a single multiplication by
/// [`UNBIAS`](Self::UNBIAS), fused into the last addition, is the only rounding into subnormals.
#[derive(Clone, Copy)]
pub(crate) struct Exponential<R> {
    /// `|s| ≤ √2 − 1`.
    pub(crate) s: R,
    /// Exactly 0 where the clamp of the formula lies.
    pub(crate) scale: R,
}

/// 1.5·2^23: adding it rounds to an integer, which is left in the low bits.
const ROUND: f32 = 12_582_912.0;

/// `(e^(−r/2) − 1)/r` on |r| ≤ ln 2; the error of `e^(−r/2)` is below 2^-28.2.
pub(crate) const SERIES_HALF: [f32; 6] =
    [-0.5, 0.124_999_985, -0.020_833_151, 0.002_604_266_6, -0.000_261_521_17, 2.159_489_3e-5];

impl<R: Real> Exponential<R> {
    /// `e^(−(high + low)/2)` for `0 ≤ high ≤ 2·107`; `low` is what rounding took from `high`.
    #[inline(always)]
    pub(crate) fn of_half<const BIAS: u32>(high: R, low: R) -> Self {
        const STEP: f64 = 2.0 * core::f64::consts::LN_2;
        Self::reduced::<BIAS>(high, low, STEP, &SERIES_HALF)
    }

    /// `e^−(high + low)` for `0 ≤ high ≤ 113`.
    #[inline(always)]
    pub(crate) fn of<const BIAS: u32>(high: R, low: R) -> Self {
        /// `(e^−r − 1)/r` on |r| ≤ ln 2 / 2; the error of `e^−r` is below 2^-28.2.
        const SERIES: [f32; 6] =
            [-1.0, 0.499_999_94, -0.166_665_21, 0.041_668_27, -0.008_368_68, 0.001_382_073_2];
        Self::reduced::<BIAS>(high, low, core::f64::consts::LN_2, &SERIES)
    }

    /// `u = r − n·step` with an integer `n ≤ 0`, where `step` halves the result.
    #[inline(always)]
    fn reduced<const BIAS: u32>(high: R, low: R, step: f64, series: &[f32; 6]) -> Self {
        let step_high = step as f32;
        let step_low = (step - f64::from(step_high)) as f32;
        let round = R::of(ROUND + (127 + BIAS) as f32);
        let shifted = high.mul_add(R::of((-1.0 / step) as f32), round);
        let n = shifted - round;
        // The first sum is exact: it cancels, and the fused operation does not round the product.
        let r = n.mul_add_exact(R::of(step_high), high) + n.mul_add(R::of(step_low), low);
        Self { s: r * horner(series, r), scale: shifted.low_bits_as_exponent() }
    }
}

/// `2^−bias`.
#[inline(always)]
pub(crate) fn unbias<R: Real, const BIAS: u32>() -> R {
    R::of(f32::from_bits((127 - BIAS) << 23))
}
