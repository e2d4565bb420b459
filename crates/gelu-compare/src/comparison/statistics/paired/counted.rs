//! Counts all sign patterns of a few seeds at once, from the sums of each half of the seeds.

use super::sequence::Sequence;
use super::strikes::Sides;

/// The sums of all sign patterns of a sequence. Each sum is one of the left half plus one of the right half.
#[derive(Debug)]
struct Halves {
    left: Vec<f64>,
    right: Vec<f64>,
    observed: f64,
}

/// The sums as a threshold divides them.
struct Division {
    /// The number of sums that are at least as large as the threshold.
    count: u64,
    /// The smallest of these sums.
    smallest: f64,
    /// The largest of the other sums.
    below: f64,
}

impl Halves {
    fn of(terms: &[f64]) -> Self {
        let (left, right) = terms.split_at(terms.len() / 2);
        let [mut left, mut right] = [left, right].map(sums);
        let observed = left[0] + right[0];
        left.sort_unstable_by(f64::total_cmp);
        right.sort_unstable_by(f64::total_cmp);
        Self { left, right, observed }
    }

    fn divide(&self, threshold: f64) -> Division {
        let mut division = Division { count: 0, smallest: f64::INFINITY, below: f64::NEG_INFINITY };
        let mut split = self.right.len();
        for left in &self.left {
            while split > 0 && left + self.right[split - 1] >= threshold {
                split -= 1;
            }
            division.count += (self.right.len() - split) as u64;
            if let Some(right) = self.right.get(split) {
                division.smallest = division.smallest.min(left + right);
            }
            if split > 0 {
                division.below = division.below.max(left + self.right[split - 1]);
            }
        }
        division
    }
}

/// Returns the share of sign patterns of the first `n` pairs whose sum is at least as large as the observed one.
/// Two-sided, sizes are compared; one-sided, the sums themselves. Returns 1 if the observed sum is 0, or one-sided if
/// it is negative.
pub(super) fn share(sequence: &Sequence, n: usize, sides: Sides) -> f64 {
    let halves = Halves::of(&sequence.terms(n));
    let tolerance = sequence.tolerance(n);
    let observed = sides.size(halves.observed);
    if observed <= tolerance {
        return 1.0;
    }
    let division = whole_group(observed, tolerance, |threshold| halves.divide(threshold));
    let both = if sides == Sides::Two { 2 } else { 1 };
    (both * division.count) as f64 / 2f64.powi(n as i32)
}

/// Returns the two-sided share from the sums of all patterns, of which the first is the observed one.
pub(super) fn share_of(sums: &[f64], tolerance: f64) -> f64 {
    let observed = sums[0].abs();
    if observed <= tolerance {
        return 1.0;
    }
    let divide = |threshold| {
        let mut division = Division { count: 0, smallest: f64::INFINITY, below: f64::NEG_INFINITY };
        for size in sums.iter().map(|sum| sum.abs()) {
            match size >= threshold {
                true => {
                    division.count += 1;
                    division.smallest = division.smallest.min(size);
                }
                false => division.below = division.below.max(size),
            }
        }
        division
    };
    whole_group(observed, tolerance, divide).count as f64 / sums.len() as f64
}

/// Divides the sums below the whole group that the observed sum belongs to. In a group, neighbouring sums differ by
/// no more than the tolerance.
fn whole_group(observed: f64, tolerance: f64, divide: impl Fn(f64) -> Division) -> Division {
    let mut division = divide(observed);
    while division.below > tolerance && division.smallest - division.below <= tolerance {
        division = divide(division.below);
    }
    division
}

/// Returns the sums of all sign patterns. The first is that of the observed signs.
fn sums(terms: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for term in terms {
        let flipped: Vec<f64> = sums.iter().map(|sum| sum - term).collect();
        sums.iter_mut().for_each(|sum| *sum += term);
        sums.extend(flipped);
    }
    sums
}

/// Returns the `rank`-th smallest and the `rank`-th largest mean of all non-empty subsets of at most 24 values.
/// Returns `None` if the rank is 0 or there are fewer subsets.
pub(super) fn subset_means(values: &[f64], rank: usize) -> Option<[f64; 2]> {
    let mut means = vec![0.0];
    for value in values {
        let with: Vec<f64> = means.iter().map(|sum| sum + value).collect();
        means.extend(with);
    }
    for (subset, sum) in means.iter_mut().enumerate().skip(1) {
        *sum /= subset.count_ones() as f64;
    }
    means.swap_remove(0);
    let (first, last) = (rank.checked_sub(1)?, means.len().checked_sub(rank)?);
    let low = *means.select_nth_unstable_by(first, f64::total_cmp).1;
    let high = *means.select_nth_unstable_by(last, f64::total_cmp).1;
    Some([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_of_two(differences: &[f64]) -> f64 {
        let pairs: Vec<[f64; 2]> = differences.iter().map(|&d| [d, 0.0]).collect();
        share(&Sequence::new(&pairs), pairs.len(), Sides::Two)
    }

    #[test]
    fn small_samples_can_be_counted_by_hand() {
        // 2 of 16 patterns count: ++++ and −−−−.
        assert_eq!(share_of_two(&[1.0, 2.0, 3.0, 4.0]), 0.125);
        // 4 of 16 count: also the patterns that flip only the 1 of either.
        assert_eq!(share_of_two(&[-1.0, 2.0, 3.0, 4.0]), 0.25);
        assert_eq!(share_of_two(&[0.0, 1.0, 1.0]), 0.5);
        assert_eq!((share_of_two(&[1.0, -1.0]), share_of_two(&[0.0; 8])), (1.0, 1.0));
    }

    #[test]
    fn equal_sums_count_in_whatever_order_they_were_added() {
        assert_eq!(share_of_two(&[0.1, 0.2, -0.3]), 1.0);
        let of_tenths = share_of_two(&[0.1, 0.2, 0.3, -0.2, 0.1, 0.3, -0.1, 0.4]);
        assert_eq!(of_tenths, share_of_two(&[1.0, 2.0, 3.0, -2.0, 1.0, 3.0, -1.0, 4.0]));
    }

    #[test]
    fn a_diverged_run_has_the_highest_rank() {
        // The signed ranks are 1, 2, 3 and −4. All patterns but ±(1 − 2 − 3 + 4) have a sum of 2 or more in size.
        assert_eq!(share_of_two(&[0.1, 0.2, 0.3, f64::NEG_INFINITY]), 14.0 / 16.0);
    }

    #[test]
    fn means_of_subsets_are_those_of_all_subsets() {
        // The means are 1, 2, 4, 1.5, 2.5, 3 and 7/3.
        assert_eq!(subset_means(&[1.0, 2.0, 4.0], 2), Some([1.5, 3.0]));
        assert_eq!((subset_means(&[1.0], 0), subset_means(&[1.0], 2)), (None, None));
    }
}
