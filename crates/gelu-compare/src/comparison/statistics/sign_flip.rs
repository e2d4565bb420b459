//! The sign-flip test of paired differences.
//!
//! Where the two settings are exchangeable, every difference is as likely to be −d as d. Of all 2ⁿ
//! sign patterns, p is the share whose mean is at least as far from 0 as the one seen: exact, and
//! without any assumption about the distribution (Fisher 1935).

use super::memory::Memory;
use super::variance::scale;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Up to so many differences every pattern is counted.
const EXACT: usize = 20;
/// Beyond, so many are drawn.
const DRAWN: usize = 100_000;
/// Drawing takes a thousand times as long as looking up.
static BEFORE: Memory<f64> = Memory::new();
/// Seed of the drawn patterns: the same differences give the same p.
const SEED: u64 = 0;
/// Two-sided p of the mean of `differences`; 1 where there are none. Sums that differ by no more than `tolerance` are
/// equal; see [`Pairs::tolerance`](super::Pairs::tolerance).
///
/// All 2ⁿ patterns are counted up to n = 20; beyond, 100,000 drawn ones, as (1 + hits) / (1 + drawn)
/// (Phipson and Smyth 2010). Where a difference is infinite there is no mean, but an order: then
/// the test is that of the signed ranks of |d|, the infinite ones the highest, equal ones sharing
/// their mean rank, zeros ranked and not counted (Wilcoxon 1945; Pratt 1959).
pub fn sign_flip(differences: &[f64], tolerance: f64) -> f64 {
    let (mut terms, tolerance) = terms(differences, tolerance);
    let seen = terms.iter().sum::<f64>().abs();
    if terms.len() <= EXACT {
        return counted(&terms, seen - tolerance);
    }
    terms.push(tolerance);
    BEFORE.recall(&terms, || drawn(&terms[..terms.len() - 1], seen - tolerance))
}

/// The smallest p that `count` differences can show: 2 of 2ⁿ patterns.
pub fn smallest_p(count: usize) -> f64 {
    let exact = 2.0 / 2f64.powi(count.clamp(1, EXACT) as i32);
    if count <= EXACT { exact } else { 1.0 / (1.0 + DRAWN as f64) }
}

/// Whether the arm comes out ahead (−1), behind (1) or neither (0) by the statistic that
/// [`sign_flip`] tests.
pub fn direction(differences: &[f64], tolerance: f64) -> f64 {
    let (terms, tolerance) = terms(differences, tolerance);
    let sum: f64 = terms.iter().sum();
    if sum.abs() <= tolerance { 0.0 } else { sum.signum() }
}

/// What is summed, and the tolerance of its sums: the differences, or their signed ranks where one is infinite. Of
/// |d| that differ by no more than the tolerance the ranks are shared.
fn terms(differences: &[f64], tolerance: f64) -> (Vec<f64>, f64) {
    if differences.iter().all(|d| d.is_finite()) {
        let scale = scale(differences);
        return (differences.iter().map(|d| scale * d).collect(), scale * tolerance);
    }
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let groups: Vec<&[f64]> = sizes.chunk_by(|a, b| a == b || b - a <= tolerance).collect();
    let rank = |d: &f64| {
        let below = groups.partition_point(|group| group[group.len() - 1] < d.abs());
        let before: usize = groups[..below].iter().map(|group| group.len()).sum();
        let sign = if *d == 0.0 { 0.0 } else { d.signum() };
        sign * (before as f64 + (groups[below].len() as f64 + 1.0) / 2.0)
    };
    // Sums of ranks are exact.
    (differences.iter().map(rank).collect(), 0.0)
}

/// The share of all patterns whose sum is at least `threshold` from 0. Every pattern is one of the
/// first half of the terms and one of the second, so that two lists of 2^(n/2) sums tell all.
fn counted(terms: &[f64], threshold: f64) -> f64 {
    if threshold <= 0.0 {
        return 1.0;
    }
    let (first, second) = terms.split_at(terms.len() / 2);
    let (first, mut second) = (sums(first), sums(second));
    second.sort_by(f64::total_cmp);
    let beyond = |sum: &f64| {
        let above = second.partition_point(|other| sum + other < threshold);
        let below = second.partition_point(|other| sum + other <= -threshold);
        second.len() - above + below
    };
    let hits: usize = first.iter().map(beyond).sum();
    hits as f64 / (first.len() * second.len()) as f64
}

/// The sums of the terms under every pattern of signs.
fn sums(terms: &[f64]) -> Vec<f64> {
    terms.iter().fold(vec![0.0], |sums, term| {
        sums.iter().flat_map(|sum| [sum - term, sum + term]).collect()
    })
}

fn drawn(terms: &[f64], threshold: f64) -> f64 {
    // The sums of eight terms at a time under each pattern of their signs; the first is the lowest
    // bit.
    let tables: Vec<Vec<f64>> = terms
        .chunks(8)
        .map(|eight| sums(&eight.iter().rev().copied().collect::<Vec<_>>()))
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut flipped = || {
        let mut sum = 0.0;
        for of_64 in tables.chunks(8) {
            let signs = random.next_u64().to_le_bytes();
            let part = |(table, signs): (&Vec<f64>, u8)| table[usize::from(signs) % table.len()];
            sum += of_64.iter().zip(signs).map(part).sum::<f64>();
        }
        f64::abs(sum)
    };
    let hits = (0..DRAWN).filter(|_| flipped() >= threshold).count();
    (1.0 + hits as f64) / (1.0 + DRAWN as f64)
}

#[cfg(test)]
mod tests {
    use super::super::Pairs;
    use super::*;

    /// Of differences from nothing.
    fn sign_flip(differences: &[f64]) -> f64 {
        let pairs = differences.iter().filter(|d| d.is_finite()).map(|d| [*d, 0.0]).collect();
        super::sign_flip(differences, Pairs::new(pairs).tolerance())
    }

    fn direction(differences: &[f64]) -> f64 {
        super::direction(differences, 0.0)
    }

    #[test]
    fn differences_have_one_p_wherever_they_are_measured() {
        // In tenths: 2, −1, 4, 1, 6, 1, −1, 7. By hand: of the 256 patterns of signs those are as far from 0 whose
        // sum is 19 to 23, so whose flipped terms add up to 0, 1 or 2 of the whole 23: none, one of four 1s, two of
        // them, or the 2; 1 + 4 + 6 + 1 on either side.
        let tenths = [2.0, -1.0, 4.0, 1.0, 6.0, 1.0, -1.0, 7.0];
        for offset in [0.0, 0.7, 123_456.0, -9e9] {
            let pair = |d: &f64| [offset + d / 10.0, offset];
            let pairs = Pairs::new(tenths.iter().map(pair).collect());
            let p = super::sign_flip(&pairs.differences(), pairs.tolerance());
            assert_eq!(p, 24.0 / 256.0, "{offset}");
        }
    }

    #[test]
    fn numbers_of_any_size_are_tested() {
        for size in [2f64.powi(1020), 1e200, 1e-200, 2f64.powi(-1060)] {
            let differences = [1.0, 2.0, 3.0, 4.0].map(|d| d * size);
            assert_eq!((sign_flip(&differences), direction(&differences)), (0.125, 1.0), "{size}");
        }
    }

    #[test]
    fn sizes_that_are_equal_but_for_rounding_share_their_rank() {
        let lost = f64::INFINITY;
        // Ranks 1.5, 1.5, 3, and 4 of the diverged one: 1.5 − 1.5 + 3 + 4 = 7, as far as 10, 7 or −7, −10.
        let p = super::sign_flip(&[0.1 + 0.2, -0.3, 0.5, lost], 1e-15);
        assert_eq!(p, 6.0 / 16.0);
        assert_ne!(p, super::sign_flip(&[0.1 + 0.2, -0.3, 0.5, lost], 0.0));
    }

    #[test]
    fn small_samples_can_be_counted_by_hand() {
        // ++++, ---- of 16.
        assert_eq!(sign_flip(&[1.0, 2.0, 3.0, 4.0]), 0.125);
        // Also the four patterns that flip only the 1 of either: 2 of +, 2 of −.
        assert_eq!(sign_flip(&[-1.0, 2.0, 3.0, 4.0]), 0.25);
        // Zeros flip into themselves.
        assert_eq!(sign_flip(&[0.0, 1.0, 1.0]), 0.5);
        assert_eq!(sign_flip(&[1.0, -1.0]), 1.0);
        assert_eq!(sign_flip(&[0.0; 8]), 1.0);
        assert_eq!(sign_flip(&[]), 1.0);
    }

    #[test]
    fn smallest_p_is_reached_when_all_differences_agree() {
        for count in 1..=20 {
            let differences: Vec<f64> = (1..=count).map(|d| d as f64).collect();
            assert_eq!(sign_flip(&differences), smallest_p(count), "n = {count}");
        }
        assert_eq!(smallest_p(5), 0.0625);
        assert_eq!(smallest_p(3), 0.25);
    }

    #[test]
    fn equal_sums_count_whatever_order_they_were_added_in() {
        // 0.1 + 0.2 − 0.3 is 5.6e-17 in floating point, and 0 on paper.
        assert_eq!(sign_flip(&[0.1, 0.2, -0.3]), 1.0);
        let of_tenths = sign_flip(&[0.1, 0.2, 0.3, -0.2, 0.1, 0.3, -0.1, 0.4]);
        assert_eq!(of_tenths, sign_flip(&[1.0, 2.0, 3.0, -2.0, 1.0, 3.0, -1.0, 4.0]));
    }

    #[test]
    fn an_infinite_difference_has_the_highest_rank() {
        // Signed ranks 1, 2, 3, −4: |sum| ≥ 2 in 14 of 16 patterns (all but ±(1 − 2 − 3 + 4)).
        assert_eq!(sign_flip(&[0.1, 0.2, 0.3, f64::NEG_INFINITY]), 14.0 / 16.0);
        assert_eq!(direction(&[0.1, 0.2, 0.3, f64::NEG_INFINITY]), 1.0);
        assert_eq!(sign_flip(&[f64::INFINITY; 6]), smallest_p(6));
        assert_eq!(direction(&[f64::INFINITY, f64::NEG_INFINITY]), 0.0);
    }

    #[test]
    fn drawn_patterns_agree_with_all_of_them() {
        let differences: Vec<f64> = (0..20).map(|i| ((i * 7) % 11) as f64 - 4.0).collect();
        let exact = sign_flip(&differences);
        let mut more = differences.clone();
        // A zero more changes the number of terms, and no sum.
        more.push(0.0);
        let drawn = sign_flip(&more);
        let error = (exact * (1.0 - exact) / DRAWN as f64).sqrt();
        assert!((drawn - exact).abs() < 4.0 * error, "{drawn} beside {exact}");
        assert_eq!(drawn, sign_flip(&more), "the same patterns every time");
        assert!(sign_flip(&[1.0; 40]) >= smallest_p(40));
    }
}
