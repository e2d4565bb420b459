use super::summary::{Group, best_groups};
use super::{Contrast, Found, Ruling};
use crate::measure::{Looks, Measure, Outcomes, Split};
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};
use crate::setting::Setting;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What a comparison of an arm with the baseline found.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The arm.
    pub arm: Setting,
    /// The arm that it is compared with.
    pub baseline: Setting,
    /// What this holds at.
    pub context: Setting,
    /// What was found, between the labels of the two.
    pub found: Found,
}

/// Runs that verdicts wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct FurtherSeeds {
    /// The setting, tuned on the seeds of the first look.
    pub setting: Setting,
    /// All seeds that the next look needs; those that are there already count.
    pub seeds: RangeInclusive<u64>,
}

/// Every arm beside the baseline, in every context: these ascending, arms in the order asked for. Only runs of the plan are judged.
pub fn differences(snapshot: &ComparisonSnapshot) -> Vec<Difference> {
    let best = best_groups(snapshot);
    let rules = snapshot.criterion.rules();
    let differs = |arm: &Setting| snapshot.built_differently.contains(arm);
    let difference = |side: &Side<'_>| {
        let ruling = rules.rule(&contrast(snapshot, side));
        let [arm, baseline] = [&side.arm.arm, &side.baseline.arm];
        Difference {
            arm: arm.clone(),
            baseline: baseline.clone(),
            context: side.arm.context.clone(),
            found: Found {
                arm: snapshot.label(arm),
                baseline: snapshot.label(baseline),
                outstanding: side.outstanding(&ruling, &rules.looks),
                rules: rules.clone(),
                outcomes: side.outcomes(&ruling, snapshot),
                without_outcomes: side.without_outcomes(&ruling, snapshot),
                built_differently: differs(arm) != differs(baseline),
                ruling,
            },
        }
    };
    sides(snapshot, &best).iter().map(difference).collect()
}

/// Whether a look at any comparison has been taken: seeds that are added then have their price.
pub fn looked_at(snapshot: &ComparisonSnapshot) -> bool {
    differences(snapshot).iter().any(|difference| difference.found.ruling.look.is_some())
}

/// What the next looks need, where the first is taken and has left a comparison open: nothing where
/// all is decided, or the last look was taken. A pure function of what is on disk, so whoever asks
/// gets the same answer.
pub fn further_seeds(snapshot: &ComparisonSnapshot) -> Vec<FurtherSeeds> {
    let best = best_groups(snapshot);
    let rules = snapshot.criterion.rules();
    let mut wanted: Vec<FurtherSeeds> = Vec::new();
    for side in sides(snapshot, &best) {
        let ruling = rules.rule(&contrast(snapshot, &side));
        let (Some(_), Some(next)) = (ruling.look, ruling.next) else { continue };
        for group in [side.baseline, side.arm] {
            let setting = group.runs[0].key.setting.clone();
            let further = FurtherSeeds { setting, seeds: 1..=next.seeds };
            if !wanted.contains(&further) {
                wanted.push(further);
            }
        }
    }
    wanted
}

/// The two groups of a contrast.
pub(super) struct Side<'a> {
    pub(super) arm: &'a Group<'a>,
    pub(super) baseline: &'a Group<'a>,
}

impl Side<'_> {
    fn outstanding(&self, ruling: &Ruling, looks: &Looks) -> usize {
        let until = ruling.next.or(ruling.look).unwrap_or(looks.last()).seeds;
        let runs = self.arm.runs.iter().chain(&self.baseline.runs);
        runs.filter(|run| run.key.seed <= until && !run.status.is_over()).count()
    }
}

impl Side<'_> {
    /// What the runs of a ruling's pairs have kept; empty where one of them has not.
    fn outcomes(&self, ruling: &Ruling, snapshot: &ComparisonSnapshot) -> Vec<[Arc<Outcomes>; 2]> {
        let pair = |[arm, baseline]: [Option<Arc<Outcomes>>; 2]| Some([arm?, baseline?]);
        self.kept(ruling, snapshot).map(pair).collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether one of these runs has kept nothing, where all could have.
    fn without_outcomes(&self, ruling: &Ruling, snapshot: &ComparisonSnapshot) -> bool {
        // Only what is measured on counted test examples can be told example by example.
        let of_examples = snapshot.primary().split == Some(Split::Test);
        of_examples
            && snapshot.test_examples > 0
            && self.kept(ruling, snapshot).flatten().any(|kept| kept.is_none())
    }

    /// What each run of a ruling's pairs has kept, the arm's first.
    fn kept(
        &self,
        ruling: &Ruling,
        snapshot: &ComparisonSnapshot,
    ) -> impl Iterator<Item = [Option<Arc<Outcomes>>; 2]> {
        let kept = |group: &Group<'_>, seed: u64| {
            let run = group.runs.iter().find(|run| run.key.seed == seed)?;
            run.outcomes_of(&snapshot.criterion).cloned()
        };
        let seeds = 1..=ruling.pairs.len() as u64;
        seeds.map(move |seed| [kept(self.arm, seed), kept(self.baseline, seed)])
    }
}

/// The planned groups beside the baseline's.
pub(super) fn sides<'a>(snapshot: &ComparisonSnapshot, best: &'a [Group<'a>]) -> Vec<Side<'a>> {
    let against = &snapshot.criterion.baseline;
    let beside = |context: Setting| {
        let here: Vec<&Group<'_>> =
            best.iter().filter(|g| g.context == context && g.planned).collect();
        let baseline = here.iter().copied().find(|group| group.arm == *against);
        let others = here.into_iter().filter(|group| group.arm != *against);
        let pair = |arm| Some(Side { arm, baseline: baseline? });
        others.filter_map(pair).collect::<Vec<_>>()
    };
    snapshot.contexts().into_iter().flat_map(beside).collect()
}

fn contrast(snapshot: &ComparisonSnapshot, side: &Side<'_>) -> Contrast {
    // Runs that only tune say nothing about the networks that are compared.
    if [side.arm.stage, side.baseline.stage].contains(&Stage::Tuning) {
        return Contrast::default();
    }
    let (primary, selection) = (snapshot.primary(), snapshot.selection());
    let value = |run: &RunSnapshot| primary_cost(snapshot, &primary, &selection, run);
    let of_baseline = |seed: u64| side.baseline.runs.iter().find(|run| run.key.seed == seed);
    let pair = |run: &&RunSnapshot| {
        let seed = run.key.seed;
        Some((seed, [value(run)?, value(of_baseline(seed)?)?]))
    };
    Contrast { by_seed: side.arm.runs.iter().filter_map(pair).collect() }
}

/// The primary measure of a complete run at the epoch that is reported, as a cost; +∞ where it diverged.
fn primary_cost(
    snapshot: &ComparisonSnapshot,
    primary: &Measure,
    selection: &Measure,
    run: &RunSnapshot,
) -> Option<f64> {
    match run.status {
        _ if !snapshot.criterion.amplitudes.is_empty() => noisy_test_error(snapshot, run),
        RunStatus::Diverged { .. } => Some(f64::INFINITY),
        RunStatus::Finished => {
            let reported = snapshot.reported.epoch_of(selection, &run.epochs)?;
            Some(primary.cost(reported.get(&primary.column)?))
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
    use crate::comparison::{Verdict, details};
    use crate::measure::NoiseMetrics;
    use crate::report::snapshot_example::example;

    /// GELU and ReLU with `seeds` seeds at one setting: ReLU's errors lie `shift` above GELU's.
    fn two(seeds: u64, shift: impl Fn(u64) -> f64) -> ComparisonSnapshot {
        let mut snapshot = example();
        let pattern = snapshot.runs[0].clone();
        snapshot.criterion.comparisons = 1;
        snapshot.criterion.looks = Looks::once(seeds);
        snapshot.runs.clear();
        for seed in 1..=seeds {
            for activation in ["gelu", "relu"] {
                let mut run = pattern.clone();
                run.key.seed = seed;
                run.key.setting.set("activation", activation);
                let worse = if activation == "relu" { shift(seed) } else { 0.0 };
                let last = run.epochs.last_mut().unwrap();
                last.set("test_error", 0.02 + 1e-4 * (seed % 5) as f64 + worse);
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
        let mean = found[0].found.mean().unwrap();
        assert!((mean.mean - 0.00245).abs() < 1e-12 && mean.count == 8);
        assert_eq!(found[0].found.ruling.verdict, Verdict::Worse);
        assert_eq!(found[0].found.probability_better().unwrap().share(), 0.0);
    }

    #[test]
    fn the_training_loss_decides_where_it_is_the_primary_measure() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        snapshot.criterion.primary = "train-loss".to_owned();
        for run in &mut snapshot.runs {
            let lower = if run.key.setting.text("activation") == "relu" { 0.25 } else { 0.0 };
            run.epochs
                .last_mut()
                .unwrap()
                .set("train_loss", 1.0 - lower + 1e-3 * run.key.seed as f64);
        }
        let found = &differences(&snapshot)[0].found;
        assert!((found.mean().unwrap().mean + 0.25).abs() < 1e-12, "{found:?}");
        assert_eq!(found.ruling.verdict, Verdict::Better);
    }

    #[test]
    fn under_noise_the_mean_over_all_declared_amplitudes_is_compared() {
        let mut snapshot = two(8, |_| 0.0);
        snapshot.criterion.primary = "noisy-test-error".to_owned();
        snapshot.criterion.amplitudes = vec![1.0, 2.0];
        for run in &mut snapshot.runs {
            let worse = if run.key.setting.text("activation") == "relu" { 0.02 } else { 0.0 };
            let test_error = Some(0.3 + worse + 1e-4 * run.key.seed as f64);
            let at = |amplitude: f64| NoiseMetrics { amplitude, test_loss: 1.0, test_error };
            run.noise = vec![at(0.0), at(1.0), at(2.0)];
            run.noise[1].test_error = Some(0.1);
        }
        let found = &differences(&snapshot)[0].found;
        assert!((found.mean().unwrap().mean - 0.01).abs() < 1e-12, "{found:?}");
        assert_eq!(found.ruling.verdict, Verdict::Worse);
        snapshot.runs[0].noise.pop();
        assert_eq!(
            differences(&snapshot)[0].found.ruling.pairs.len(),
            7,
            "an amplitude is missing"
        );
    }

    #[test]
    fn where_runs_kept_no_outcomes_a_reason_is_given() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        let reason =
            |snapshot: &ComparisonSnapshot| differences(snapshot)[0].found.no_new_examples();
        assert!(reason(&snapshot).unwrap().starts_with("runs have not kept"));
        // Where they are not examples of a test set, nothing is missing.
        snapshot.criterion.primary = "train-loss".to_owned();
        assert_eq!(reason(&snapshot), None);
        snapshot.criterion.primary = "test-error".to_owned();
        snapshot.test_examples = 0;
        assert_eq!(reason(&snapshot), None);
    }

    #[test]
    fn where_networks_are_built_differently_it_is_said_what_seeds_pair() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        let said = |snapshot: &ComparisonSnapshot| {
            details(&differences(snapshot)[0].found, &snapshot.wording()).unwrap()
        };
        assert!(!said(&snapshot).contains("built"));
        let arm = differences(&snapshot)[0].arm.clone();
        snapshot.built_differently = vec![arm];
        assert!(said(&snapshot).ends_with("so that seeds pair batches and draws alone"));
        snapshot.built_differently.push(snapshot.criterion.baseline.clone());
        assert!(!said(&snapshot).contains("built"), "both are of the other kind");
    }

    #[test]
    fn only_complete_pairs_count() {
        let mut snapshot = two(8, |_| 0.002);
        snapshot.runs[0].status = RunStatus::Running;
        snapshot.runs[3].status = RunStatus::Failed { reason: "x".into() };
        let found = &differences(&snapshot)[0].found;
        assert_eq!((found.ruling.pairs.len(), found.outstanding), (6, 1));
    }

    #[test]
    fn every_activation_is_compared_with_the_baseline_at_every_dropout_rate() {
        let mut snapshot = example();
        snapshot.criterion.baseline = Setting::new([("activation", "relu")]);
        let found = differences(&snapshot);
        let named: Vec<_> =
            found.iter().map(|d| format!("{} {} {}", d.arm, d.baseline, d.context)).collect();
        assert_eq!(named, ["gelu relu dropout 0", "gelu relu dropout 0.5"]);
        snapshot.criterion.baseline = Setting::new([("activation", "elu")]);
        assert!(differences(&snapshot).is_empty());
    }

    #[test]
    fn tuning_runs_are_not_compared() {
        let mut snapshot = example();
        snapshot.runs.iter_mut().for_each(|run| run.key.stage = Stage::Tuning);
        assert!(differences(&snapshot).iter().all(|d| d.found.ruling.pairs.is_empty()));
    }

    #[test]
    fn runs_beside_the_plan_change_no_verdict() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        let before = differences(&snapshot);
        let mut beside = snapshot.runs[1].clone();
        assert_eq!(beside.key.setting.text("activation"), "relu");
        beside.planned = false;
        beside.key.setting.set("lr", 0.5);
        beside.epochs.iter_mut().for_each(|epoch| {
            epoch.set("valid_loss", 0.0);
            epoch.set("test_error", 0.0);
        });
        let mut further = beside.clone();
        further.key.setting.set("lr", 1e-3);
        further.key.seed = 9;
        snapshot.runs.extend([beside, further]);
        assert_eq!(differences(&snapshot), before);
        snapshot.runs.iter_mut().for_each(|run| run.planned = false);
        assert!(differences(&snapshot).is_empty(), "nothing was planned");
    }

    #[test]
    fn seeds_are_wanted_until_all_is_decided_or_the_last_look_is_taken() {
        let erratic = |seed: u64| if seed.is_multiple_of(2) { 0.01 } else { -0.0101 };
        let until_decided = |seeds, shift: fn(u64) -> f64| {
            let mut snapshot = two(seeds, shift);
            snapshot.criterion.looks = Looks::until_decided(20);
            snapshot
        };
        let wanted = |snapshot: &ComparisonSnapshot| -> Vec<(String, u64)> {
            let all = further_seeds(snapshot).into_iter();
            all.map(|further| (further.setting.text("activation"), *further.seeds.end())).collect()
        };
        // The first look is the plan's own business.
        let nine = until_decided(9, erratic);
        assert_eq!((wanted(&nine), looked_at(&nine)), (vec![], false));
        let next = |look| [("gelu".to_owned(), look), ("relu".to_owned(), look)];
        let ten = until_decided(10, erratic);
        assert!(looked_at(&ten));
        assert_eq!(wanted(&ten), next(15));
        assert_eq!(wanted(&until_decided(15, erratic)), next(20));
        assert_eq!(wanted(&until_decided(20, erratic)), [], "the last look");
        let decided = until_decided(10, |seed| 0.01 + 1e-4 * seed as f64);
        assert_eq!(wanted(&decided), [], "decided");
        let mut fixed = two(8, erratic);
        assert_eq!(wanted(&fixed), []);
        fixed.criterion.looks = Looks::once(8).with_added([20]);
        assert_eq!(wanted(&fixed), next(20), "a look that was added");
    }

    #[test]
    fn a_decided_activation_gets_no_more_seeds_and_the_baseline_does() {
        let mut snapshot = two(15, |seed| 0.01 + 1e-4 * seed as f64);
        snapshot.criterion.looks = Looks::until_decided(20);
        snapshot.criterion.comparisons = 2;
        let relu: Vec<_> = snapshot
            .runs
            .iter()
            .filter(|run| run.key.setting.text("activation") == "relu")
            .cloned()
            .collect();
        for mut run in relu {
            run.key.setting.set("activation", "elu");
            let erratic = if run.key.seed.is_multiple_of(2) { 0.01 } else { -0.0101 };
            run.epochs.last_mut().unwrap().set("test_error", 0.02 + erratic);
            snapshot.runs.push(run);
        }
        let names: Vec<_> =
            further_seeds(&snapshot).into_iter().map(|f| f.setting.text("activation")).collect();
        assert_eq!(names, ["gelu", "elu"]);
    }

    #[test]
    fn runs_beyond_the_plan_are_not_waited_for() {
        let mut snapshot = two(10, |_| 0.002);
        snapshot.criterion.looks = Looks::once(8);
        for run in snapshot.runs.iter_mut().filter(|run| [4, 9, 10].contains(&run.key.seed)) {
            run.status = RunStatus::Running;
        }
        assert_eq!(differences(&snapshot)[0].found.outstanding, 2, "both of seed 4");
    }
}
