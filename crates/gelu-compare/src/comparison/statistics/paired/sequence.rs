use super::super::variance::scale;
use std::borrow::Cow;

/// The relative error of a number that is rounded and was computed from rounded numbers.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The tested differences, d = a − b, in the order of the seeds.
///
/// All numbers are multiplied by one power of two, so that their sums are finite whatever their size.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    /// d; ±∞ if one of the two runs diverged, 0 if both did.
    values: Vec<f64>,
    /// The largest error of a sum of the first n values, at index n − 1.
    tolerances: Vec<f64>,
    /// The smallest n for which the first n pairs include a diverged run.
    diverged: Option<usize>,
    /// The factor that the numbers were multiplied by.
    pub(super) scale: f64,
}

impl Sequence {
    /// Creates the differences of pairs `[a, b]`. Lower is better, and +∞ is a run that diverged.
    pub(super) fn new(pairs: &[[f64; 2]]) -> Self {
        let finite = |pair: &[f64; 2]| pair.map(|v| if v.is_finite() { v } else { 0.0 });
        let scale = scale(pairs.iter().map(finite).collect::<Vec<_>>().as_flattened());
        let value = |&[a, b]: &[f64; 2]| if a == b { 0.0 } else { scale * a - scale * b };
        let mut total = 0.0;
        let tolerances = pairs.iter().map(finite).map(|[a, b]| {
            total += ROUNDING * (scale * a).abs() + ROUNDING * (scale * b).abs();
            total
        });
        Self {
            tolerances: tolerances.collect(),
            values: pairs.iter().map(value).collect(),
            diverged: pairs
                .iter()
                .position(|[a, b]| !(a.is_finite() && b.is_finite()))
                .map(|p| p + 1),
            scale,
        }
    }

    /// Returns d − `theta`, or `theta` − d if `sign` is −1.
    pub(super) fn shifted(&self, theta: f64, sign: f64) -> Self {
        let more =
            |(n, tolerance): (usize, &f64)| tolerance + ROUNDING * (n + 1) as f64 * theta.abs();
        Self {
            values: self.values.iter().map(|d| sign * (d - theta)).collect(),
            tolerances: self.tolerances.iter().enumerate().map(more).collect(),
            ..*self
        }
    }

    /// Returns the first `n` differences.
    pub(super) fn up_to(&self, n: usize) -> Self {
        Self {
            values: self.values[..n].to_vec(),
            tolerances: self.tolerances[..n].to_vec(),
            diverged: self.diverged.filter(|&first| first <= n),
            scale: self.scale,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the differences, scaled and shifted.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn any_diverged(&self) -> bool {
        self.diverged.is_some()
    }

    /// Returns whether the first `n` pairs include a diverged run, so that ranks are summed.
    pub(super) fn is_ranked(&self, n: usize) -> bool {
        self.diverged.is_some_and(|first| first <= n)
    }

    /// Returns by how much two sums of the first `n` may differ and still be equal.
    pub(super) fn tolerance(&self, n: usize) -> f64 {
        match n {
            0 => 0.0,
            // Sums of ranks are exact.
            _ if self.is_ranked(n) => 0.0,
            n => self.tolerances[n - 1],
        }
    }

    /// Returns the terms of the sum after `n` seeds: d, or the signed ranks of d if a run among them diverged.
    pub(super) fn terms(&self, n: usize) -> Cow<'_, [f64]> {
        let values = &self.values[..n];
        match self.is_ranked(n) {
            true => Cow::Owned(signed_ranks(values, self.tolerances[n - 1])),
            false => Cow::Borrowed(values),
        }
    }

    /// Returns the sum after `n` seeds; 0 if it is only rounding.
    pub(super) fn sum(&self, n: usize) -> f64 {
        let sum: f64 = self.terms(n).iter().sum();
        if sum.abs() <= self.tolerance(n) { 0.0 } else { sum }
    }

    /// Returns the mean of the first `n` differences.
    pub(super) fn mean(&self, n: usize) -> f64 {
        self.values[..n].iter().sum::<f64>() / n as f64
    }
}

/// Returns the signed ranks of values by size (Wilcoxon 1945). Zeros take part in the ranking, but get the rank 0
/// (Pratt 1959). Sizes that differ by no more than `tolerance` share a rank.
pub(super) fn signed_ranks(values: &[f64], tolerance: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].abs().total_cmp(&values[j].abs()));
    let size = |place: usize| values[order[place]].abs();
    let equal = |place: usize| {
        let (lower, upper) = (size(place - 1), size(place));
        lower == upper || upper - lower <= tolerance
    };
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let end = (start + 1..order.len()).find(|&place| !equal(place)).unwrap_or(order.len());
        let rank = (start + 1 + end) as f64 / 2.0;
        for &index in &order[start..end] {
            let value: f64 = values[index];
            ranks[index] = if value.abs() <= tolerance { 0.0 } else { rank.copysign(value) };
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_shared_by_equal_sizes_and_zeros_do_not_count() {
        assert_eq!(signed_ranks(&[0.1 + 0.2, -0.3, 0.0, 0.5], 1e-15), [2.5, -2.5, 0.0, 4.0]);
        assert_eq!(signed_ranks(&[f64::NEG_INFINITY, 1.0, f64::INFINITY], 0.0), [-2.5, 1.0, 2.5]);
        assert!(signed_ranks(&[], 0.0).is_empty());
    }

    #[test]
    fn ranks_are_summed_from_the_first_diverged_run_on() {
        let sequence =
            Sequence::new(&[[1.0, 3.0], [1.0, 2.0], [f64::INFINITY, 2.0], [f64::INFINITY; 2]]);
        assert_eq!(*sequence.terms(2), [-2.0, -1.0]);
        assert_eq!(*sequence.terms(3), [-2.0, -1.0, 3.0]);
        assert_eq!(*sequence.terms(4), [-3.0, -2.0, 4.0, 0.0]);
        assert_eq!((sequence.sum(2), sequence.sum(3)), (-3.0, 0.0));
    }

    #[test]
    fn a_sum_of_rounded_numbers_is_zero_as_on_paper() {
        let sequence = Sequence::new(&[[0.1, 0.0], [0.2, 0.0], [0.0, 0.3]]);
        assert_eq!(sequence.sum(3), 0.0);
        let large = Sequence::new(&[[1e308, -1e308], [1e308, 1e307]]);
        assert!(large.sum(2).is_finite() && large.sum(2) > 0.0);
    }
}
