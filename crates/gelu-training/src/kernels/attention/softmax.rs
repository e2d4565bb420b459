use crate::kernels::sum::in_pairs;
use gelu_kernels::arithmetic::fused::{FusedExponential, mul_add};
use gelu_kernels::arithmetic::{Arithmetic, Exponential, Rounded};

/// The distance from a row's largest score up to which a score has a weight. A weight of e^−64 does not
/// change any f32 that it is added to, and its products are not subnormal numbers, which processors
/// handle slowly.
const REACH: f32 = 64.0;
/// The number of elements that are processed side by side, on every level.
const LANES: usize = 16;

/// Replaces the first `count` scores by their weights, `e^score/Σ e^score`, and the others by 0.
///
/// The length of `row` has to be a multiple of [`LANES`].
#[inline(always)]
pub(super) fn softmax<const FUSED: bool>(row: &mut [f32], count: usize) {
    let used = count.next_multiple_of(LANES).min(row.len());
    let (used, beyond) = row.split_at_mut(used);
    beyond.fill(0.0);
    used[count..].fill(f32::NEG_INFINITY);
    let mut largest = [f32::NEG_INFINITY; LANES];
    for scores in used.as_chunks::<LANES>().0 {
        for (largest, score) in largest.iter_mut().zip(scores) {
            *largest = if *score > *largest { *score } else { *largest };
        }
    }
    let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0; LANES];
    for scores in used.as_chunks_mut::<LANES>().0 {
        for (sum, score) in sums.iter_mut().zip(scores) {
            let below = largest - *score;
            let weight = exponential::<FUSED>(if below > REACH { REACH } else { below });
            *score = if below > REACH { 0.0 } else { weight };
            *sum += *score;
        }
    }
    let factor = 1.0 / in_pairs(sums);
    used.iter_mut().for_each(|weight| *weight *= factor);
    // These are NaN where a score is NaN, so they are set to 0 again.
    used[count..].fill(0.0);
}

/// Returns `e^−x` for 0 ≤ x ≤ [`REACH`].
#[inline(always)]
fn exponential<const FUSED: bool>(x: f32) -> f32 {
    if FUSED {
        let e = FusedExponential::of::<0>(x, 0.0);
        return mul_add(e.s, e.scale, e.scale);
    }
    Rounded(-f64::from(x)).exp().value().0 as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_within_one_and_a_half_ulp() {
        for step in 0..=64_000 {
            let x = step as f32 / 1000.0;
            let exact = (-f64::from(x)).exp();
            for found in [exponential::<true>(x), exponential::<false>(x)] {
                let ulp = f64::from((exact as f32).next_up() - exact as f32);
                assert!((f64::from(found) - exact).abs() <= 1.5 * ulp, "{x}: {found}");
            }
        }
    }

    #[test]
    fn weights_of_what_is_beyond_are_zero_and_nan_is_passed_on() {
        for count in [1, 5, 16, 17, 32] {
            let scores: [f32; 48] = std::array::from_fn(|i| (i as f32 * 0.7).sin() * 3.0);
            let mut row = scores;
            softmax::<true>(&mut row, count);
            let exponentials = scores[..count].iter().map(|&x| f64::from(x).exp());
            let sum: f64 = exponentials.clone().sum();
            for (found, exact) in row.iter().zip(exponentials) {
                assert!((f64::from(*found) - exact / sum).abs() < 1e-6);
            }
            assert!(row[count..].iter().all(|&weight| weight == 0.0));
            let mut row = scores;
            row[count / 2] = f32::NAN;
            softmax::<true>(&mut row, count);
            assert!(row[..count].iter().all(|weight| weight.is_nan()), "{count}");
            assert!(row[count..].iter().all(|&weight| weight == 0.0));
        }
    }

    #[test]
    fn a_score_far_below_has_no_weight() {
        let mut row = [-1e30; 16];
        (row[3], row[4]) = (1e30, 1e30 - 1e25);
        softmax::<true>(&mut row, 16);
        assert_eq!((row[3], row.iter().sum::<f32>()), (1.0, 1.0));
    }
}
