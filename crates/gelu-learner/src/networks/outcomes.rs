use super::TestGroups;

/// The outcomes of a run's test examples at the reported epoch, as the deciding measure counts them: for each group
/// of examples, the sum of their outcomes. An outcome is 1 for a wrongly classified example, the share of noise
/// amplitudes under which it was classified wrongly, its loss, or its squared error. The mean over all examples is
/// the measure, or its square.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    epoch: usize,
    groups: TestGroups,
    kind: OutcomeKind,
    sums: Vec<f64>,
}

/// The meaning of an outcome of a test example.
#[derive(Clone, Debug, PartialEq)]
pub enum OutcomeKind {
    /// 1 if the example was classified wrongly, otherwise 0.
    Error,
    /// The share of these noise amplitudes under which the example was classified wrongly.
    NoisyError(Vec<f64>),
    /// The example's loss.
    Loss,
    /// The example's squared error; the measure is the root of the mean.
    SquaredError,
}

impl Outcomes {
    /// Creates outcomes of a measure that counts errors, from one value per example: `true` if it was classified
    /// wrongly.
    ///
    /// # Panics
    ///
    /// If there are more or fewer examples than the groups have, or none.
    pub fn of_errors(epoch: usize, groups: TestGroups, wrong: Vec<bool>) -> Self {
        let counts = counted(&groups, &[wrong]);
        Self::of_sums(epoch, summed(&groups, counts), groups, OutcomeKind::Error)
    }

    /// Creates outcomes of a measure that counts errors under noise, from one value per example at each amplitude:
    /// `true` if it was classified wrongly.
    ///
    /// # Panics
    ///
    /// If [`of_errors`](Self::of_errors) would panic, or if there is no amplitude.
    pub fn of_noise(epoch: usize, groups: TestGroups, wrong: Vec<(f64, Vec<bool>)>) -> Self {
        assert!(!wrong.is_empty(), "outcomes under noise are those of some noise");
        let (amplitudes, levels): (Vec<f64>, Vec<Vec<bool>>) = wrong.into_iter().unzip();
        let counts = counted(&groups, &levels);
        let mut sums = summed(&groups, counts);
        sums.iter_mut().for_each(|sum| *sum /= levels.len() as f64);
        Self::of_sums(epoch, sums, groups, OutcomeKind::NoisyError(amplitudes))
    }

    /// Creates outcomes of a measure that is a mean of losses, from the loss of each example.
    ///
    /// # Panics
    ///
    /// If [`of_errors`](Self::of_errors) would panic.
    pub fn of_losses(epoch: usize, groups: TestGroups, losses: Vec<f32>) -> Self {
        let sums = summed(&groups, losses.into_iter().map(f64::from).collect());
        Self::of_sums(epoch, sums, groups, OutcomeKind::Loss)
    }

    /// Creates outcomes of a measure that is the root of a mean of squared errors, from the squared error of each
    /// example.
    ///
    /// # Panics
    ///
    /// If [`of_errors`](Self::of_errors) would panic.
    pub fn of_squared_errors(epoch: usize, groups: TestGroups, squares: Vec<f32>) -> Self {
        let sums = summed(&groups, squares.into_iter().map(f64::from).collect());
        Self::of_sums(epoch, sums, groups, OutcomeKind::SquaredError)
    }

    /// Creates outcomes of any kind, from the sum of each group's outcomes.
    ///
    /// # Panics
    ///
    /// If there are more or fewer sums than groups, or none.
    pub fn of_sums(epoch: usize, sums: Vec<f64>, groups: TestGroups, kind: OutcomeKind) -> Self {
        let fits = sums.len() == groups.len() && !sums.is_empty();
        assert!(fits, "each of the {} groups of test examples has its sum", groups.len());
        Self { epoch, groups, kind, sums }
    }

    /// Returns the epoch, from 1.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// Returns the groups of examples that were sampled together.
    pub fn groups(&self) -> &TestGroups {
        &self.groups
    }

    /// Returns the kind of the outcomes.
    pub fn kind(&self) -> &OutcomeKind {
        &self.kind
    }

    /// Returns the sum of each group's outcomes.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Returns the name of the measure.
    pub fn measure(&self) -> &'static str {
        match self.kind {
            OutcomeKind::Error => "test-error",
            OutcomeKind::NoisyError(_) => "noisy-test-error",
            OutcomeKind::Loss => "test-loss",
            OutcomeKind::SquaredError => "test-rmse",
        }
    }

    /// Returns whether these are outcomes of the metric `name`, which is a mean over `amplitudes` of noise, if there
    /// are any.
    pub fn are_of(&self, name: &str, amplitudes: &[f64]) -> bool {
        // Recipes write test-error; programs write test_error.
        self.measure() == name.replace('_', "-") && self.amplitudes() == amplitudes
    }

    /// Returns whether `other` has outcomes of the same measure: the same kind, under the same noise amplitudes.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    /// Returns the noise amplitudes; empty without noise.
    pub fn amplitudes(&self) -> &[f64] {
        match &self.kind {
            OutcomeKind::NoisyError(amplitudes) => amplitudes,
            OutcomeKind::Error | OutcomeKind::Loss | OutcomeKind::SquaredError => &[],
        }
    }

    /// Returns the measure of each group: the mean over its examples.
    ///
    /// For a root r = √(mean e²), the value is (r + ē²/r)/2 with the group's mean square ē². The mean of these
    /// values, weighted by the groups' sizes, is r, and to first order they vary as r does when other groups are
    /// sampled: the delta method (van der Vaart, Asymptotic Statistics, 1998, chapter 3).
    pub fn by_group(&self) -> Vec<f64> {
        let means = self.sums.iter().zip(self.groups.sizes()).map(|(sum, size)| sum / size as f64);
        match self.kind {
            OutcomeKind::SquaredError => {
                let root = self.mean();
                // If every error is 0, nothing varies.
                let part =
                    |square: f64| if root > 0.0 { (root + square / root) / 2.0 } else { 0.0 };
                means.map(part).collect()
            }
            _ => means.collect(),
        }
    }

    /// Returns the measure: the mean over all examples and amplitudes; for squared errors, the root of the mean.
    pub fn mean(&self) -> f64 {
        let mean = self.sums.iter().sum::<f64>() / self.groups.examples() as f64;
        if self.kind == OutcomeKind::SquaredError { mean.sqrt() } else { mean }
    }
}

/// Returns for each example the number of levels at which it was classified wrongly.
fn counted(groups: &TestGroups, levels: &[Vec<bool>]) -> Vec<f64> {
    let examples = groups.examples();
    assert!(
        levels.iter().all(|wrong| wrong.len() == examples),
        "every one of the {examples} test examples has its outcome"
    );
    let count = |example: usize| levels.iter().filter(|wrong| wrong[example]).count() as f64;
    (0..examples).map(count).collect()
}

/// Returns the sum of each group's values.
fn summed(groups: &TestGroups, values: Vec<f64>) -> Vec<f64> {
    let examples = groups.examples();
    assert!(values.len() == examples, "every one of the {examples} test examples has its outcome");
    let mut values = values.into_iter();
    groups.sizes().map(|size| values.by_ref().take(size).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To first order, leaving one group out changes the root as the jackknife of its parts predicts: the
    /// infinitesimal jackknife (Efron 1982, chapter 6) of √(mean e²).
    #[test]
    fn parts_of_a_root_have_it_for_their_mean_and_vary_as_it_does() {
        let squares: Vec<f32> = (0..600_u16).map(|i| f32::from(i * 7 % 31) + 0.25).collect();
        let groups = TestGroups::of_sizes((0..200).map(|_| 3));
        let outcomes = Outcomes::of_squared_errors(1, groups, squares.clone());
        let root = |values: &[f32]| {
            let sum: f64 = values.iter().map(|&v| f64::from(v)).sum();
            (sum / values.len() as f64).sqrt()
        };
        let all = root(&squares);
        let parts = outcomes.by_group();
        assert!((outcomes.mean() - all).abs() < 1e-12);
        assert!((parts.iter().sum::<f64>() / 200.0 - all).abs() < 1e-12);
        for group in [0, 17, 199] {
            let rest = [&squares[..3 * group], &squares[3 * group + 3..]].concat();
            let (without, expected) = (root(&rest) - all, (all - parts[group]) / 199.0);
            assert!((without - expected).abs() < 0.02 * expected.abs(), "{without} {expected}");
        }
        let exact = Outcomes::of_squared_errors(1, TestGroups::singles(2), vec![0.0, 0.0]);
        assert_eq!((exact.mean(), exact.by_group()), (0.0, vec![0.0, 0.0]));
    }

    fn wrong(text: &str) -> Vec<bool> {
        text.bytes().map(|byte| byte == b'1').collect()
    }

    #[test]
    fn a_group_counts_the_mean_of_its_examples() {
        let groups = TestGroups::of_sizes([1, 4, 2]);
        let errors = Outcomes::of_errors(3, groups.clone(), wrong("1011010"));
        assert_eq!(errors.by_group(), [1.0, 0.5, 0.5]);
        assert_eq!(errors.mean(), 4.0 / 7.0);
        let losses = vec![0.5, 1.0, 2.0, 3.0, 2.0, 0.0, 1.0];
        let losses = Outcomes::of_losses(3, groups.clone(), losses);
        assert_eq!((losses.by_group(), losses.mean()), (vec![0.5, 2.0, 0.5], 9.5 / 7.0));
        let levels = vec![(0.5, wrong("0000000")), (1.0, wrong("1011010"))];
        let noisy = Outcomes::of_noise(3, groups, levels);
        assert_eq!((noisy.by_group(), noisy.mean()), (vec![0.5, 0.25, 0.25], 2.0 / 7.0));
    }

    #[test]
    fn those_of_one_measure_are_alike() {
        let groups = TestGroups::singles(2);
        let errors = Outcomes::of_errors(1, groups.clone(), wrong("01"));
        let losses = Outcomes::of_losses(1, groups.clone(), vec![0.0, 1.0]);
        let noisy =
            |amplitude| Outcomes::of_noise(1, groups.clone(), vec![(amplitude, wrong("01"))]);
        assert!(errors.is_like(&Outcomes::of_errors(2, groups.clone(), wrong("10"))));
        assert!(!errors.is_like(&losses) && !errors.is_like(&noisy(1.0)));
        assert!(noisy(1.0).is_like(&noisy(1.0)) && !noisy(1.0).is_like(&noisy(2.0)));
    }

    #[test]
    #[should_panic(expected = "every one of the 3 test examples")]
    fn an_outcome_too_few_is_a_programming_error() {
        let _ = Outcomes::of_errors(1, TestGroups::singles(3), wrong("10"));
    }
}
