/// `2^k` and `e^r − 1` with `x = k·ln 2 + r`, `|r| ≤ ln 2 / 2`: the parts that `e^x` and `e^x − 1`
/// are put together from. Relative error of `e^x − 1`: 2^-39. For `|x| ≤ 700`.
#[inline(always)]
fn parts(x: f64) -> (f64, f64) {
    // Adding 1.5·2^52 rounds to an integer and leaves it in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let shifted = x * core::f64::consts::LOG2_E + MAGIC;
    let k = shifted - MAGIC;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    // Taylor's series to r^10.
    let series = 1.0 / 3_628_800.0;
    let series = series * r + 1.0 / 362_880.0;
    let series = series * r + 1.0 / 40_320.0;
    let series = series * r + 1.0 / 5_040.0;
    let series = series * r + 1.0 / 720.0;
    let series = series * r + 1.0 / 120.0;
    let series = series * r + 1.0 / 24.0;
    let series = series * r + 1.0 / 6.0;
    let series = series * r + 0.5;
    (scale, series * r * r + r)
}

/// `e^x` for `|x| ≤ 700`; NaN for NaN.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let (scale, rest) = parts(x);
    scale + scale * rest
}

/// `e^x − 1` for `|x| ≤ 700` without cancellation at 0; NaN for NaN.
#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let (scale, rest) = parts(x);
    (scale - 1.0) + scale * rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^-38: 2^-13 of an f32's last place.
    const TOLERANCE: f64 = 3.7e-12;

    #[test]
    fn both_agree_with_libm() {
        for step in -7_000..=7_000 {
            let x = f64::from(step) * 0.0999;
            assert!((exp(x) / libm::exp(x) - 1.0).abs() < TOLERANCE, "e^{x}");
            let small = x * 1e-3;
            let exact = libm::expm1(small);
            assert!((exp_m1(small) - exact).abs() <= TOLERANCE * exact.abs(), "e^{small} − 1");
        }
    }

    #[test]
    fn nan_stays_nan() {
        assert!(exp(f64::NAN).is_nan() && exp_m1(f64::NAN).is_nan());
    }
}
