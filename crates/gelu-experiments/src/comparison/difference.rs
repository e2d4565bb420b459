use super::contrast::{Contrast, Followed, follow, rule};
use super::statistics::{Further, Mean, Proportion, further_pairs, smallest_detectable};
use super::summary::{Group, best_groups, reported_epoch};
use super::verdict::{ALPHA, Ruling, Verdict};
use crate::measure::{Looks, Primary};
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};
use std::ops::RangeInclusive;

/// What a comparison of an activation with the baseline at one dropout rate found.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Canonical name.
    pub activation: String,
    /// Canonical name.
    pub baseline: String,
    /// Dropout rate of both.
    pub dropout: f64,
    /// The pairs, p and the verdict.
    pub ruling: Ruling,
    /// The mean of activation − baseline; `None` with fewer than two pairs or a diverged run.
    pub mean: Option<Mean>,
    /// Runs that are planned and not complete.
    pub outstanding: usize,
    /// δ of the comparison.
    pub negligible: f64,
    /// Whether seeds are added until it is decided.
    pub sequential: bool,
}

/// Runs that verdicts wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct FurtherSeeds {
    /// Canonical name.
    pub activation: String,
    /// Dropout rate.
    pub dropout: f64,
    /// The learning rate chosen on the seeds of the first look.
    pub learning_rate: f64,
    /// All seeds that the next look needs; those that are there already count.
    pub seeds: RangeInclusive<u64>,
}

impl Difference {
    /// The 95 % interval of the mean difference.
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.mean.map(|mean| mean.interval(ALPHA))
    }

    /// The share of pairs in which the activation is better, ties half.
    pub fn probability_better(&self) -> Option<Proportion> {
        let pairs = &self.ruling.pairs;
        Proportion::new(pairs.better() as f64 + 0.5 * pairs.ties() as f64, pairs.len())
    }

    /// The smallest effect that so many pairs show with 80 % power.
    pub fn smallest_detectable(&self) -> Option<f64> {
        smallest_detectable(self.mean?.count, self.mean?.deviation, ALPHA)
    }

    /// How many more pairs would probably decide it; `None` where it is decided, or nothing is
    /// known yet.
    pub fn further(&self) -> Option<Further> {
        let (ruling, mean) = (&self.ruling, self.mean?);
        (ruling.verdict == Verdict::Undecided).then(|| {
            let seen = [mean.mean, mean.deviation];
            let least = ruling.fewest_pairs();
            further_pairs(mean.count, seen, self.negligible, ruling.level, least)
        })
    }
}

/// Every activation beside the baseline, at every dropout rate: rates ascending, activations in
/// the order asked for.
pub fn differences(snapshot: &ComparisonSnapshot) -> Vec<Difference> {
    let best = best_groups(snapshot);
    let sides = sides(snapshot, &best);
    let rulings = judge(snapshot, &sides).rulings;
    let criterion = &snapshot.criterion;
    let difference = |(side, ruling): (&Side<'_>, Ruling)| Difference {
        activation: side.activation.activation.to_owned(),
        baseline: side.baseline.activation.to_owned(),
        dropout: side.activation.dropout,
        mean: Mean::of(&ruling.pairs.differences()).filter(|_| !ruling.pairs.any_diverged()),
        outstanding: side.outstanding(),
        negligible: criterion.negligible,
        sequential: criterion.until_decided.is_some(),
        ruling,
    };
    sides.iter().zip(rulings).map(difference).collect()
}

/// What the next look of a comparison that goes on until it is decided needs: nothing where seeds
/// are fixed, all is decided, or the last look was taken. A pure function of what is on disk, so
/// whoever asks gets the same answer.
pub fn further_seeds(snapshot: &ComparisonSnapshot) -> Vec<FurtherSeeds> {
    let best = best_groups(snapshot);
    let sides = sides(snapshot, &best);
    let Followed { rulings, next_look } = judge(snapshot, &sides);
    let Some(look) = next_look.filter(|&look| look > Looks::FIRST) else { return Vec::new() };
    let open = sides.iter().zip(&rulings).filter(|(_, r)| r.verdict == Verdict::Undecided);
    let mut wanted: Vec<FurtherSeeds> = Vec::new();
    for (side, _) in open {
        for group in [side.baseline, side.activation] {
            let further = FurtherSeeds {
                activation: group.activation.to_owned(),
                dropout: group.dropout,
                learning_rate: group.learning_rate,
                seeds: 1..=look,
            };
            if !wanted.contains(&further) {
                wanted.push(further);
            }
        }
    }
    wanted
}

/// The two groups of a contrast.
pub(super) struct Side<'a> {
    pub(super) activation: &'a Group<'a>,
    pub(super) baseline: &'a Group<'a>,
}

impl Side<'_> {
    fn outstanding(&self) -> usize {
        let runs = self.activation.runs.iter().chain(&self.baseline.runs);
        runs.filter(|run| !run.status.is_over()).count()
    }
}

pub(super) fn sides<'a>(snapshot: &ComparisonSnapshot, best: &'a [Group<'a>]) -> Vec<Side<'a>> {
    let name = &snapshot.criterion.baseline;
    let beside = |dropout: f64| {
        let of_rate: Vec<&Group<'_>> = best.iter().filter(|g| g.dropout == dropout).collect();
        let baseline = of_rate.iter().copied().find(|group| group.activation == name);
        let others = of_rate.into_iter().filter(|group| group.activation != name);
        let pair = |activation| Some(Side { activation, baseline: baseline? });
        others.filter_map(pair).collect::<Vec<_>>()
    };
    snapshot.dropouts().into_iter().flat_map(beside).collect()
}

fn judge(snapshot: &ComparisonSnapshot, sides: &[Side<'_>]) -> Followed {
    let contrasts: Vec<Contrast> = sides.iter().map(|side| contrast(snapshot, side)).collect();
    let negligible = snapshot.criterion.negligible;
    match snapshot.criterion.until_decided {
        Some(until) => follow(&contrasts, until.looks(), negligible),
        None => Followed { rulings: rule(&contrasts, negligible), next_look: None },
    }
}

fn contrast(snapshot: &ComparisonSnapshot, side: &Side<'_>) -> Contrast {
    // Runs that only tune say nothing about the networks that are compared.
    if [side.activation.stage, side.baseline.stage].contains(&Stage::Tuning) {
        return Contrast::default();
    }
    let value = |run: &RunSnapshot| primary_value(snapshot, run);
    let of_baseline = |seed: u64| side.baseline.runs.iter().find(|run| run.key.seed == seed);
    let pair = |run: &&RunSnapshot| {
        let seed = run.key.seed;
        Some((seed, [value(run)?, value(of_baseline(seed)?)?]))
    };
    Contrast { by_seed: side.activation.runs.iter().filter_map(pair).collect() }
}

/// The primary measure of a complete run at the epoch that is reported; +∞ where it diverged.
fn primary_value(snapshot: &ComparisonSnapshot, run: &RunSnapshot) -> Option<f64> {
    let primary = snapshot.criterion.primary;
    match run.status {
        _ if primary == Primary::NoisyTestError => noisy_test_error(snapshot, run),
        RunStatus::Diverged { .. } => Some(f64::INFINITY),
        RunStatus::Finished => {
            let (metric, split) = primary.by_epoch();
            reported_epoch(snapshot, run)?.get(metric, split)
        }
        _ => None,
    }
}

/// The mean test error of a complete run over the amplitudes declared; +∞ where it diverged. `None`
/// where none are declared, or one was not measured: a mean over others would be another measure.
pub fn noisy_test_error(snapshot: &ComparisonSnapshot, run: &RunSnapshot) -> Option<f64> {
    let at = |&amplitude: &f64| match run.status {
        RunStatus::Diverged { .. } => Some(f64::INFINITY),
        _ => run.noise.iter().find(|point| point.amplitude == amplitude)?.test_error,
    };
    let errors: Vec<f64> = snapshot.criterion.amplitudes.iter().map(at).collect::<Option<_>>()?;
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{NoiseMetrics, UntilDecided};
    use crate::report::example::example;

    /// GELU and ReLU with `seeds` seeds at one setting: ReLU's errors lie `shift` above GELU's.
    fn two(seeds: u64, shift: impl Fn(u64) -> f64) -> ComparisonSnapshot {
        let mut snapshot = example();
        let pattern = snapshot.runs[0].clone();
        snapshot.criterion.until_decided = Some(UntilDecided { max_seeds: 16 });
        snapshot.runs.clear();
        for seed in 1..=seeds {
            for activation in ["gelu", "relu"] {
                let mut run = pattern.clone();
                run.key.seed = seed;
                run.key.activation = activation.to_owned();
                let worse = if activation == "relu" { shift(seed) } else { 0.0 };
                let last = run.epochs.last_mut().unwrap();
                last.test_error = Some(0.02 + 1e-4 * (seed % 5) as f64 + worse);
                snapshot.runs.push(run);
            }
        }
        snapshot
    }

    #[test]
    fn a_difference_is_taken_pair_by_pair_at_the_epoch_that_is_reported() {
        let snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        let found = differences(&snapshot);
        assert_eq!(found.len(), 1);
        let mean = found[0].mean.unwrap();
        assert!((mean.mean - 0.00245).abs() < 1e-12 && mean.count == 8);
        assert_eq!(found[0].ruling.verdict, Verdict::Worse);
        assert_eq!(found[0].probability_better().unwrap().share(), 0.0);
    }

    #[test]
    fn the_training_loss_decides_where_it_is_the_primary_measure() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        snapshot.criterion.primary = Primary::TrainLoss;
        for run in &mut snapshot.runs {
            let lower = if run.key.activation == "relu" { 0.25 } else { 0.0 };
            run.epochs.last_mut().unwrap().train_loss = 1.0 - lower + 1e-3 * run.key.seed as f64;
        }
        let found = &differences(&snapshot)[0];
        assert!((found.mean.unwrap().mean + 0.25).abs() < 1e-12, "{found:?}");
        assert_eq!(found.ruling.verdict, Verdict::Better);
    }

    #[test]
    fn under_noise_the_mean_over_all_declared_amplitudes_is_compared() {
        let mut snapshot = two(8, |_| 0.0);
        snapshot.criterion.until_decided = None;
        snapshot.criterion.primary = Primary::NoisyTestError;
        snapshot.criterion.amplitudes = vec![1.0, 2.0];
        for run in &mut snapshot.runs {
            let worse = if run.key.activation == "relu" { 0.02 } else { 0.0 };
            let test_error = Some(0.3 + worse + 1e-4 * run.key.seed as f64);
            let at = |amplitude: f64| NoiseMetrics { amplitude, test_loss: 1.0, test_error };
            run.noise = vec![at(0.0), at(1.0), at(2.0)];
            run.noise[1].test_error = Some(0.1);
        }
        let found = &differences(&snapshot)[0];
        assert!((found.mean.unwrap().mean - 0.01).abs() < 1e-12, "{found:?}");
        assert_eq!(found.ruling.verdict, Verdict::Worse);
        snapshot.runs[0].noise.pop();
        assert_eq!(differences(&snapshot)[0].ruling.pairs.len(), 7, "an amplitude is missing");
    }

    #[test]
    fn only_complete_pairs_count() {
        let mut snapshot = two(8, |_| 0.002);
        snapshot.runs[0].status = RunStatus::Running;
        snapshot.runs[3].status = RunStatus::Failed { reason: "x".into() };
        let found = &differences(&snapshot)[0];
        assert_eq!((found.ruling.pairs.len(), found.outstanding), (6, 1));
    }

    #[test]
    fn every_activation_is_compared_with_the_baseline_at_every_dropout_rate() {
        let mut snapshot = example();
        snapshot.criterion.baseline = "relu".to_owned();
        let found = differences(&snapshot);
        let named: Vec<_> =
            found.iter().map(|d| (d.activation.as_str(), d.baseline.as_str(), d.dropout)).collect();
        assert_eq!(named, [("gelu", "relu", 0.0), ("gelu", "relu", 0.5)]);
        snapshot.criterion.baseline = "elu".to_owned();
        assert!(differences(&snapshot).is_empty());
    }

    #[test]
    fn tuning_runs_are_not_compared() {
        let mut snapshot = example();
        snapshot.runs.iter_mut().for_each(|run| run.key.stage = Stage::Tuning);
        assert!(differences(&snapshot).iter().all(|d| d.ruling.pairs.is_empty()));
    }

    #[test]
    fn seeds_are_wanted_until_all_is_decided_or_the_last_look_is_taken() {
        let erratic = |seed: u64| if seed.is_multiple_of(2) { 0.01 } else { -0.0101 };
        let wanted = |snapshot: &ComparisonSnapshot| -> Vec<(String, u64)> {
            let all = further_seeds(snapshot).into_iter();
            all.map(|further| (further.activation, *further.seeds.end())).collect()
        };
        // The first look is the plan's own business.
        assert_eq!(wanted(&two(7, erratic)), []);
        let next = |look| [("gelu".to_owned(), look), ("relu".to_owned(), look)];
        assert_eq!(wanted(&two(8, erratic)), next(12));
        assert_eq!(wanted(&two(12, erratic)), next(16));
        assert_eq!(wanted(&two(16, erratic)), [], "the last look");
        assert_eq!(wanted(&two(8, |seed| 0.01 + 1e-4 * seed as f64)), [], "decided");
        let mut fixed = two(8, erratic);
        fixed.criterion.until_decided = None;
        assert_eq!(wanted(&fixed), []);
    }

    #[test]
    fn a_decided_activation_gets_no_more_seeds_and_the_baseline_does() {
        let mut snapshot = two(12, |seed| 0.01 + 1e-4 * seed as f64);
        let relu: Vec<_> =
            snapshot.runs.iter().filter(|run| run.key.activation == "relu").cloned().collect();
        for mut run in relu {
            run.key.activation = "elu".to_owned();
            let erratic = if run.key.seed.is_multiple_of(2) { 0.01 } else { -0.0101 };
            run.epochs.last_mut().unwrap().test_error = Some(0.02 + erratic);
            snapshot.runs.push(run);
        }
        let names: Vec<_> = further_seeds(&snapshot).into_iter().map(|f| f.activation).collect();
        assert_eq!(names, ["gelu", "elu"]);
    }
}
