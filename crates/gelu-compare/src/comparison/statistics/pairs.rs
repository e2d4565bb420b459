use super::Mean;
use super::variance::{scale, variance};

/// Rounding of each number, and of what it was computed from.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Whether two measures are equal, but for rounding.
fn tie(&[a, b]: &[f64; 2]) -> bool {
    a == b || (a - b).abs() <= ROUNDING * a.abs() + ROUNDING * b.abs() && (a - b).is_finite()
}

/// What two settings measured, seed by seed; lower is better. Run s of both starts from the same
/// weights and sees the same batches, so the unit of analysis is the difference of a pair.
///
/// A diverged run measures +∞: it is worse than any other and ties with another diverged one. Two measures tie as
/// well that differ by no more than they are rounded, as 0.1 + 0.2 and 0.3 do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    pairs: Vec<[f64; 2]>,
}

impl Pairs {
    /// Pairs of `[arm, baseline]`.
    ///
    /// # Panics
    ///
    /// If a value is NaN or −∞, which no run measures.
    pub fn new(pairs: Vec<[f64; 2]>) -> Self {
        let measured = |value: &f64| *value > f64::NEG_INFINITY;
        assert!(pairs.iter().flatten().all(measured), "a measure is a number, or +∞: {pairs:?}");
        Self { pairs }
    }

    /// All of them.
    pub fn list(&self) -> &[[f64; 2]] {
        &self.pairs
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// d = arm − baseline of every pair: ±∞ where one of the two diverged, 0 where they tie.
    pub fn differences(&self) -> Vec<f64> {
        let difference = |pair: &[f64; 2]| if tie(pair) { 0.0 } else { pair[0] - pair[1] };
        self.pairs.iter().map(difference).collect()
    }

    /// By how much sums of differences may be apart and be the same: 4·2⁻⁵²·Σ(|a| + |b|) over what is finite,
    /// since the numbers are rounded that were subtracted.
    pub fn tolerance(&self) -> f64 {
        let finite = self.pairs.iter().flatten().filter(|value| value.is_finite());
        finite.map(|value| ROUNDING * value.abs()).sum()
    }

    /// Whether two finite measures are further apart than the largest number: then there is no mean difference,
    /// only an order.
    pub fn any_too_far_apart(&self) -> bool {
        self.pairs.iter().any(|[a, b]| a.is_finite() && b.is_finite() && !(a - b).is_finite())
    }

    /// How many runs of the arm, and of the baseline, diverged.
    pub fn diverged(&self) -> [usize; 2] {
        [0, 1].map(|side| self.pairs.iter().filter(|pair| pair[side] == f64::INFINITY).count())
    }

    /// Whether any run diverged: then there is no mean difference, only an order.
    pub fn any_diverged(&self) -> bool {
        self.diverged() != [0, 0]
    }

    /// The mean difference; `None` with fewer than two pairs, or where a run diverged.
    pub fn mean(&self) -> Option<Mean> {
        Mean::of(&self.differences()).filter(|_| !self.any_diverged())
    }

    /// In how many pairs the arm is better.
    pub fn better(&self) -> usize {
        self.pairs.iter().filter(|pair| pair[0] < pair[1] && !tie(pair)).count()
    }

    /// How many pairs are equal.
    pub fn ties(&self) -> usize {
        self.pairs.iter().filter(|pair| tie(pair)).count()
    }

    /// Whether the arm, and the baseline, measured the same in every pair.
    pub fn are_alike(&self) -> [bool; 2] {
        [0, 1].map(|side| self.pairs.windows(2).all(|two| two[0][side] == two[1][side]))
    }

    /// Var(d) / (Var A + Var B): 1 where pairing does not help, 0 where the pair explains all, up
    /// to 2 where it harms. `None` with fewer than two pairs, a diverged run, or no variance.
    pub fn variance_ratio(&self) -> Option<f64> {
        if self.any_diverged() {
            return None;
        }
        // A ratio of squares of what may be as large as numbers are.
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
        // 0.30000000000000004 − 0.3, at other sizes, too.
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
        // Opposite moves: the difference has twice the variances' sum.
        let against = Pairs::new(vec![[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]);
        assert_eq!(against.variance_ratio(), Some(2.0));
        // Whatever the unit.
        for size in [2f64.powi(1020), 2f64.powi(-1020)] {
            let pairs = [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]].map(|pair| pair.map(|v| v * size));
            assert_eq!(Pairs::new(pairs.to_vec()).variance_ratio(), Some(2.0));
        }
        assert_eq!(Pairs::new(vec![[1.0, 2.0]]).variance_ratio(), None);
        assert_eq!(Pairs::new(vec![[1.0, 2.0], [1.0, 2.0]]).variance_ratio(), None);
    }
}
