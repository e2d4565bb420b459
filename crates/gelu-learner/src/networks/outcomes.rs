use super::TestGroups;

/// What a run made of the test examples at the epoch that is reported, as the measure that decides counts it:
/// of each group of examples the sum of their outcomes, beside their count. An outcome is 1 where the example
/// was classified wrongly, the share of noises under which it was, its loss, or its squared error. The mean over
/// all examples is the measure, or its square.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    epoch: usize,
    groups: TestGroups,
    kind: OutcomeKind,
    sums: Vec<f64>,
}

/// What an outcome of a test example is.
#[derive(Clone, Debug, PartialEq)]
pub enum OutcomeKind {
    /// 1 where the example was classified wrongly, or else 0.
    Error,
    /// The share of these amplitudes of noise under which it was classified wrongly.
    NoisyError(Vec<f64>),
    /// Its loss.
    Loss,
    /// Its squared error, of a measure that is the root of their mean.
    SquaredError,
}

impl Outcomes {
    /// Of a measure that counts errors, from which examples were classified wrongly.
    ///
    /// # Panics
    ///
    /// If there are more or fewer examples than the groups have, or none.
    pub fn of_errors(epoch: usize, groups: TestGroups, wrong: Vec<bool>) -> Self {
        let counts = counted(&groups, &[wrong]);
        Self::of_sums(epoch, summed(&groups, counts), groups, OutcomeKind::Error)
    }

    /// Of a measure that counts errors under noise, from which examples were classified wrongly at each
    /// amplitude.
    ///
    /// # Panics
    ///
    /// As [`of_errors`](Self::of_errors), and if there is no amplitude.
    pub fn of_noise(epoch: usize, groups: TestGroups, wrong: Vec<(f64, Vec<bool>)>) -> Self {
        assert!(!wrong.is_empty(), "outcomes under noise are those of some noise");
        let (amplitudes, levels): (Vec<f64>, Vec<Vec<bool>>) = wrong.into_iter().unzip();
        let counts = counted(&groups, &levels);
        let mut sums = summed(&groups, counts);
        sums.iter_mut().for_each(|sum| *sum /= levels.len() as f64);
        Self::of_sums(epoch, sums, groups, OutcomeKind::NoisyError(amplitudes))
    }

    /// Of a measure that is a mean of losses, from that of each example.
    ///
    /// # Panics
    ///
    /// As [`of_errors`](Self::of_errors).
    pub fn of_losses(epoch: usize, groups: TestGroups, losses: Vec<f32>) -> Self {
        let sums = summed(&groups, losses.into_iter().map(f64::from).collect());
        Self::of_sums(epoch, sums, groups, OutcomeKind::Loss)
    }

    /// Of a measure that is the root of a mean of squared errors, from that of each example.
    ///
    /// # Panics
    ///
    /// As [`of_errors`](Self::of_errors).
    pub fn of_squared_errors(epoch: usize, groups: TestGroups, squares: Vec<f32>) -> Self {
        let sums = summed(&groups, squares.into_iter().map(f64::from).collect());
        Self::of_sums(epoch, sums, groups, OutcomeKind::SquaredError)
    }

    /// Of any kind, from the sum of each group's outcomes.
    ///
    /// # Panics
    ///
    /// If there are more or fewer sums than groups, or none.
    pub fn of_sums(epoch: usize, sums: Vec<f64>, groups: TestGroups, kind: OutcomeKind) -> Self {
        let fits = sums.len() == groups.len() && !sums.is_empty();
        assert!(fits, "each of the {} groups of test examples has its sum", groups.len());
        Self { epoch, groups, kind, sums }
    }

    /// The epoch, from 1.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// What was sampled together.
    pub fn groups(&self) -> &TestGroups {
        &self.groups
    }

    /// What is summed.
    pub fn kind(&self) -> &OutcomeKind {
        &self.kind
    }

    /// The sum of each group's outcomes.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Name of the measure that they are of.
    pub fn measure(&self) -> &'static str {
        match self.kind {
            OutcomeKind::Error => "test-error",
            OutcomeKind::NoisyError(_) => "noisy-test-error",
            OutcomeKind::Loss => "test-loss",
            OutcomeKind::SquaredError => "test-rmse",
        }
    }

    /// Whether they are of the metric `name`, which is a mean over these amplitudes of noise, if there are any.
    pub fn are_of(&self, name: &str, amplitudes: &[f64]) -> bool {
        // Recipes write test-error, and programs test_error.
        self.measure() == name.replace('_', "-") && self.amplitudes() == amplitudes
    }

    /// Whether they are outcomes of one kind, under the same noises: those of one measure.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    /// The amplitudes of the noise; none where there was none.
    pub fn amplitudes(&self) -> &[f64] {
        match &self.kind {
            OutcomeKind::NoisyError(amplitudes) => amplitudes,
            OutcomeKind::Error | OutcomeKind::Loss | OutcomeKind::SquaredError => &[],
        }
    }

    /// The measure of each group: the mean over its examples.
    ///
    /// Of a root r = √(mean e²) it is (r + ē²/r)/2 with the group's mean square ē². Weighted by the groups'
    /// sizes these have r for their mean, and to first order they vary as r does when other groups are drawn:
    /// the delta method (van der Vaart, Asymptotic Statistics, 1998, chapter 3).
    pub fn by_group(&self) -> Vec<f64> {
        let means = self.sums.iter().zip(self.groups.sizes()).map(|(sum, size)| sum / size as f64);
        match self.kind {
            OutcomeKind::SquaredError => {
                let root = self.mean();
                // Nothing varies where every error is 0.
                let part =
                    |square: f64| if root > 0.0 { (root + square / root) / 2.0 } else { 0.0 };
                means.map(part).collect()
            }
            _ => means.collect(),
        }
    }

    /// The measure: the mean over all examples, and over the amplitudes; of squared errors its root.
    pub fn mean(&self) -> f64 {
        let mean = self.sums.iter().sum::<f64>() / self.groups.examples() as f64;
        if self.kind == OutcomeKind::SquaredError { mean.sqrt() } else { mean }
    }
}

/// At how many of the levels each example was classified wrongly.
fn counted(groups: &TestGroups, levels: &[Vec<bool>]) -> Vec<f64> {
    let examples = groups.examples();
    assert!(
        levels.iter().all(|wrong| wrong.len() == examples),
        "every one of the {examples} test examples has its outcome"
    );
    let count = |example: usize| levels.iter().filter(|wrong| wrong[example]).count() as f64;
    (0..examples).map(count).collect()
}

/// The sum of each group's values.
fn summed(groups: &TestGroups, values: Vec<f64>) -> Vec<f64> {
    let examples = groups.examples();
    assert!(values.len() == examples, "every one of the {examples} test examples has its outcome");
    let mut values = values.into_iter();
    groups.sizes().map(|size| values.by_ref().take(size).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaving one group out changes the root by what the jackknife of its parts says, to first order: the
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
