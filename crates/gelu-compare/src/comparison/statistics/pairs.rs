use super::Mean;
use super::variance::variance;

/// What two settings measured, seed by seed; lower is better. Run s of both starts from the same
/// weights and sees the same batches, so the unit of analysis is the difference of a pair.
///
/// A diverged run measures +∞: it is worse than any other and ties with another diverged one.
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

    /// How many.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// d = arm − baseline of every pair: ±∞ where one of the two diverged, 0 where both did.
    pub fn differences(&self) -> Vec<f64> {
        self.pairs.iter().map(|&[a, b]| if a == b { 0.0 } else { a - b }).collect()
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
        self.pairs.iter().filter(|[a, b]| a < b).count()
    }

    /// How many pairs are equal.
    pub fn ties(&self) -> usize {
        self.pairs.iter().filter(|[a, b]| a == b).count()
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
        let side = |side: usize| self.pairs.iter().map(|pair| pair[side]).collect::<Vec<f64>>();
        let apart = variance(&side(0))? + variance(&side(1))?;
        let paired = variance(&self.differences())?;
        (apart > 0.0).then_some(paired / apart)
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
    fn variance_ratio_tells_how_much_pairing_helped() {
        // A constant shift: the pair explains everything.
        let shift = Pairs::new(vec![[1.0, 0.0], [2.0, 1.0], [4.0, 3.0]]);
        assert_eq!(shift.variance_ratio(), Some(0.0));
        // Opposite moves: the difference has twice the variances' sum.
        let against = Pairs::new(vec![[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]);
        assert_eq!(against.variance_ratio(), Some(2.0));
        assert_eq!(Pairs::new(vec![[1.0, 2.0]]).variance_ratio(), None);
        assert_eq!(Pairs::new(vec![[1.0, 2.0], [1.0, 2.0]]).variance_ratio(), None);
    }
}
