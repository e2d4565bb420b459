use super::Mean;
use super::variance::{scale, variance};

/// The relative error of a rounded number, including that of the numbers it was computed from.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Returns whether two scores are equal apart from rounding.
fn tie(&[a, b]: &[f64; 2]) -> bool {
    a == b || (a - b).abs() <= ROUNDING * a.abs() + ROUNDING * b.abs() && (a - b).is_finite()
}

/// The scores of two settings, seed by seed; lower is better. Run s of both starts from the same weights and sees the
/// same batches, so the unit of analysis is the difference of a pair.
///
/// A diverged run scores +∞: it is worse than any other run, and ties with another diverged one. Two scores also tie
/// if they differ only by rounding, as 0.1 + 0.2 and 0.3 do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    pairs: Vec<[f64; 2]>,
}

impl Pairs {
    /// Creates pairs of `[arm, baseline]`.
    ///
    /// # Panics
    ///
    /// Panics if a value is NaN or −∞, which no run measures.
    pub fn new(pairs: Vec<[f64; 2]>) -> Self {
        let measured = |value: &f64| *value > f64::NEG_INFINITY;
        assert!(pairs.iter().flatten().all(measured), "a measure is a number, or +∞: {pairs:?}");
        Self { pairs }
    }

    /// Returns all pairs.
    pub fn list(&self) -> &[[f64; 2]] {
        &self.pairs
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns d = arm − baseline of every pair: ±∞ if one of the two runs diverged, 0 if they tie.
    pub fn differences(&self) -> Vec<f64> {
        let difference = |pair: &[f64; 2]| if tie(pair) { 0.0 } else { pair[0] - pair[1] };
        self.pairs.iter().map(difference).collect()
    }

    /// Returns by how much two sums of differences may differ and still be equal: 4·2^−52·Σ(|a| + |b|) over the
    /// finite scores, because the scores are rounded before the subtraction.
    pub fn tolerance(&self) -> f64 {
        let finite = self.pairs.iter().flatten().filter(|value| value.is_finite());
        finite.map(|value| ROUNDING * value.abs()).sum()
    }

    /// Returns whether two finite scores are further apart than the largest number. There is then no mean difference,
    /// only an order.
    pub fn any_too_far_apart(&self) -> bool {
        self.pairs.iter().any(|[a, b]| a.is_finite() && b.is_finite() && !(a - b).is_finite())
    }

    /// Returns the number of runs of the arm, and of the baseline, that diverged.
    pub fn diverged(&self) -> [usize; 2] {
        [0, 1].map(|side| self.pairs.iter().filter(|pair| pair[side] == f64::INFINITY).count())
    }

    /// Returns whether any run diverged. There is then no mean difference, only an order.
    pub fn any_diverged(&self) -> bool {
        self.diverged() != [0, 0]
    }

    /// Returns the mean difference; `None` with fewer than two pairs, or if a run diverged.
    pub fn mean(&self) -> Option<Mean> {
        Mean::of(&self.differences()).filter(|_| !self.any_diverged())
    }

    /// Returns the number of pairs in which the arm is better.
    pub fn better(&self) -> usize {
        self.pairs.iter().filter(|pair| pair[0] < pair[1] && !tie(pair)).count()
    }

    /// Returns the number of pairs that tie.
    pub fn ties(&self) -> usize {
        self.pairs.iter().filter(|pair| tie(pair)).count()
    }

    /// Returns whether the arm, and whether the baseline, has the same score in every pair.
    pub fn are_alike(&self) -> [bool; 2] {
        [0, 1].map(|side| self.pairs.windows(2).all(|two| two[0][side] == two[1][side]))
    }

    /// Returns Var(d) / (Var A + Var B): 1 if pairing does not help, 0 if the pair explains everything, up to 2 if
    /// pairing harms. Returns `None` with fewer than two pairs, a diverged run, or no variance.
    pub fn variance_ratio(&self) -> Option<f64> {
        if self.any_diverged() {
            return None;
        }
        // Scores may be as large as numbers can be, and their squares must be finite.
        let scale = scale(self.pairs.as_flattened());
        let scaled =
            |values: Vec<f64>| values.into_iter().map(|value| scale * value).collect::<Vec<_>>();
        let side = |side: usize| scaled(self.pairs.iter().map(|pair| pair[side]).collect());
        let apart = variance(&side(0))? + variance(&side(1))?;
        let paired = variance(&scaled(self.differences()))?;
        (apart > 0.0 && paired.is_finite()).then_some(paired / apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: f64 = f64::INFINITY;

    #[test]
    fn a_diverged_run_loses_its_pair_and_two_of_them_tie() {
        let pairs = Pairs::new(vec![[LOST, 0.2], [0.1, LOST], [LOST, LOST], [0.1, 0.2]]);
        let differences = pairs.differences();
        assert_eq!(differences[..3], [f64::INFINITY, f64::NEG_INFINITY, 0.0]);
        assert_eq!((pairs.better(), pairs.ties()), (2, 1));
        assert_eq!(pairs.diverged(), [2, 2]);
        assert_eq!(pairs.variance_ratio(), None);
    }

    #[test]
    fn what_rounding_leaves_is_a_tie() {
        // 0.30000000000000004 − 0.3, also at other sizes.
        for size in [1.0, 1e9, 1e-300, 1e308] {
            let pairs = Pairs::new(vec![[(0.1 + 0.2) * size, 0.3 * size]; 3]);
            assert_eq!((pairs.better(), pairs.ties()), (0, 3), "{size}");
            assert_eq!(pairs.differences(), [0.0; 3]);
        }
        let apart = Pairs::new(vec![[1.0, 1.0 + 1e-14], [1e-300, 2e-300], [0.0, 5e-324]]);
        assert_eq!((apart.better(), apart.ties()), (3, 0));
        assert!(Pairs::new(vec![[1e308; 2]; 20]).tolerance().is_finite());
    }

    #[test]
    fn numbers_that_are_too_far_apart_have_not_diverged() {
        let pairs = Pairs::new(vec![[1e308, -1e308], [1.0, 2.0]]);
        assert!(pairs.any_too_far_apart() && !pairs.any_diverged());
        assert_eq!(
            (pairs.differences()[0], pairs.mean(), pairs.better()),
            (f64::INFINITY, None, 1)
        );
        assert!(!Pairs::new(vec![[LOST, 1.0]]).any_too_far_apart());
    }

    #[test]
    fn variance_ratio_tells_how_much_pairing_helped() {
        // A constant shift: the pair explains everything.
        let shift = Pairs::new(vec![[1.0, 0.0], [2.0, 1.0], [4.0, 3.0]]);
        assert_eq!(shift.variance_ratio(), Some(0.0));
        // Opposite moves: the variance of the difference is twice the sum of the two variances.
        let against = Pairs::new(vec![[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]);
        assert_eq!(against.variance_ratio(), Some(2.0));
        // The ratio does not depend on the unit.
        for size in [2f64.powi(1020), 2f64.powi(-1020)] {
            let pairs = [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]].map(|pair| pair.map(|v| v * size));
            assert_eq!(Pairs::new(pairs.to_vec()).variance_ratio(), Some(2.0));
        }
        assert_eq!(Pairs::new(vec![[1.0, 2.0]]).variance_ratio(), None);
        assert_eq!(Pairs::new(vec![[1.0, 2.0], [1.0, 2.0]]).variance_ratio(), None);
    }
}
