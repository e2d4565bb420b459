use super::finding::{Finding, Guard, Scores};
use super::summary::{Group, best_groups};
use super::tasks::{Task, over_tasks};
use super::wording::Wording;
use crate::extension::{WiderInterval, extensions};
use crate::measure::{Measure, Over};
use crate::runs::{RunSnapshot, RunStatus, Snapshot, Stage};
use crate::setting::{Axis, Setting, Value};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// An arm compared with the baseline. Errors are fractions; losses are in their own unit. Fields without a value are
/// null. For example, there is no mean with fewer than two pairs, or if a run diverged.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The compared setting, with one entry per axis: `"activation": "relu"`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub arm: Setting,
    /// The arm with which it is compared.
    #[serde(serialize_with = "canonical")]
    #[schemars(with = "String")]
    pub baseline: Setting,
    /// The context, with one entry per axis: `"dropout": 0.5`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub context: Setting,
    /// The name of the primary measure.
    pub metric: String,
    /// The result of the comparison.
    #[serde(flatten)]
    pub finding: Finding,
}

fn canonical<S: Serializer>(setting: &Setting, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&setting.canonical())
}

impl Difference {
    /// Returns the difference with axes named as the columns of files are.
    pub(crate) fn in_columns(self, axes: &[Axis]) -> Self {
        let [arm, context] = [&self.arm, &self.context].map(|setting| setting.in_columns(axes));
        Self { arm, context, ..self }
    }
}

/// Further runs that undecided comparisons need.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FurtherSeeds {
    /// The setting, with the chosen values of tuned axes.
    pub setting: Setting,
    /// All seeds that the setting needs, including those that exist already.
    pub seeds: RangeInclusive<u64>,
}

/// Compares every arm with the baseline in every context. Contexts are in ascending order, arms in the order in which
/// they were requested. Only runs of the plan are judged.
///
/// If the verdict is over an axis, an arm is compared once over all values of the axis.
pub fn differences(snapshot: &Snapshot) -> Vec<Difference> {
    let best = best_groups(snapshot);
    if let Some((over, _)) = &snapshot.criterion.over {
        return over_axis(snapshot, &sides(snapshot, &best), over);
    }
    let difference = |side: &Side<'_>| Difference {
        arm: side.arm.arm.clone(),
        baseline: side.baseline.arm.clone(),
        context: side.arm.context.clone(),
        metric: snapshot.criterion.primary.clone(),
        finding: side.finding(snapshot),
    };
    sides(snapshot, &best).iter().map(difference).collect()
}

/// Compares every arm with the baseline over the values of an axis. A value counts only if all its planned runs are
/// complete.
fn over_axis(snapshot: &Snapshot, sides: &[Side<'_>], over: &Over) -> Vec<Difference> {
    let (rule, wording) = (snapshot.criterion.rule(), snapshot.wording());
    let context = |side: &Side<'_>| side.arm.context.without(&over.axis);
    let is_alike = |one: &Side<'_>, other: &Side<'_>| {
        one.arm.arm == other.arm.arm && context(one) == context(other)
    };
    let task = |side: &&Side<'_>| Task {
        name: side.arm.context.get(&over.axis).map_or_else(String::new, Value::to_string),
        by_seed: side.costs(snapshot, &snapshot.primary()),
    };
    let judged = |side: &Side<'_>| {
        let of_arm: Vec<&Side<'_>> = sides.iter().filter(|other| is_alike(side, other)).collect();
        let is_complete =
            |task: &Task| task.by_seed.len() as u64 >= snapshot.criterion.schedule.seeds;
        let tasks: Vec<Task> = of_arm.iter().map(task).filter(is_complete).collect();
        let [arm, baseline] = [&side.arm.arm, &side.baseline.arm];
        let scores = Scores {
            outstanding: of_arm.iter().map(|side| side.outstanding(snapshot)).sum(),
            ..Scores::new(&snapshot.label(arm), &snapshot.label(baseline), BTreeMap::new())
        };
        Difference {
            arm: arm.clone(),
            baseline: baseline.clone(),
            context: context(side),
            metric: snapshot.criterion.primary.clone(),
            finding: over_tasks(scores, &tasks, over.scale, &rule, &wording),
        }
    };
    let is_first = |(place, side): &(usize, &Side<'_>)| {
        !sides[..*place].iter().any(|before| is_alike(before, side))
    };
    sides.iter().enumerate().filter(is_first).map(|(_, side)| judged(side)).collect()
}

/// Returns whether any pair of runs is complete. From then on, seeds that are added increase the chance of a wrong
/// verdict.
pub fn has_begun(snapshot: &Snapshot) -> bool {
    let best = best_groups(snapshot);
    sides(snapshot, &best)
        .iter()
        .any(|side| !side.by_seed(snapshot, &snapshot.primary()).is_empty())
}

/// Returns the seeds with which undecided comparisons continue: the next one if the comparison continues until it is
/// decided, or all seeds that were added to the planned ones. This is a pure function of what is on disk, so every
/// process gets the same answer.
pub(crate) fn further_seeds(snapshot: &Snapshot) -> Vec<FurtherSeeds> {
    let best = best_groups(snapshot);
    let (schedule, last) = (snapshot.criterion.schedule, snapshot.last_seed());
    if snapshot.criterion.over.is_some() {
        return Vec::new();
    }
    let mut wanted: Vec<FurtherSeeds> = Vec::new();
    for side in sides(snapshot, &best) {
        let finding = side.finding(snapshot);
        let n = finding.seeds as u64;
        let until = match schedule.until_decided {
            true if n < last => n + 1,
            false if n >= schedule.seeds && n < last => last,
            _ => continue,
        };
        // If nothing varies with the seed, more seeds cannot show more. Seeds that the user adds are trained
        // nevertheless.
        let is_hopeless =
            finding.is_constant && finding.judgement.is_none() && schedule.until_decided;
        if !finding.is_open() || is_hopeless || n < snapshot.criterion.rule().first() {
            continue;
        }
        for group in [side.baseline, side.arm] {
            let setting = group.runs[0].key.setting.clone();
            let further = FurtherSeeds { setting, seeds: 1..=until };
            if !wanted.contains(&further) {
                wanted.push(further);
            }
        }
    }
    wanted
}

/// An arm and the baseline in one context.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The runs of the arm.
    pub arm: &'a Group<'a>,
    /// The runs of the baseline.
    pub baseline: &'a Group<'a>,
}

impl<'a> Side<'a> {
    fn finding(&self, snapshot: &Snapshot) -> Finding {
        let (rule, wording) = (snapshot.criterion.rule(), snapshot.wording());
        Finding::widened(self.scores(snapshot), &rule, &wording, |seeds, alpha| {
            self.wider(snapshot, seeds, alpha)
        })
    }

    /// Returns an extension's interval that holds for more than new seeds, at level `alpha`. It uses the pairs of the
    /// first `seeds` seeds.
    fn wider(
        &self,
        snapshot: &Snapshot,
        seeds: usize,
        alpha: f64,
    ) -> Option<Result<WiderInterval, String>> {
        let primary = snapshot.primary();
        let runs = self.paired(|run| score(snapshot, &primary, run).map(|_| run));
        let pairs: Vec<[&RunSnapshot; 2]> = runs.into_values().take(seeds).collect();
        extensions().iter().find_map(|by| by.interval(snapshot, &pairs, alpha))
    }

    fn scores(&self, snapshot: &Snapshot) -> Scores {
        let [arm, baseline] = [&self.arm.arm, &self.baseline.arm];
        let differs = |arm: &Setting| snapshot.design.built_differently.contains(arm);
        let of = |measure: &Measure| self.costs(snapshot, measure);
        let guard = snapshot.criterion.no_worse.as_ref().map(|no_worse| {
            let measure = snapshot.measure(&no_worse.metric);
            Guard { wording: Wording::of(&measure), margin: no_worse.margin, by_seed: of(&measure) }
        });
        Scores {
            arm: snapshot.label(arm),
            baseline: snapshot.label(baseline),
            by_seed: of(&snapshot.primary()),
            guard,
            outstanding: self.outstanding(snapshot),
            built_differently: differs(arm) != differs(baseline),
            ..Scores::default()
        }
    }

    /// Returns the same as [`by_seed`](Self::by_seed), but nothing for runs that only tune, because they say nothing
    /// about the networks that are compared.
    fn costs(&self, snapshot: &Snapshot, measure: &Measure) -> BTreeMap<u64, [f64; 2]> {
        match [self.arm.stage, self.baseline.stage].contains(&Stage::Tuning) {
            true => BTreeMap::new(),
            false => self.by_seed(snapshot, measure),
        }
    }

    fn outstanding(&self, snapshot: &Snapshot) -> usize {
        let last = snapshot.last_seed();
        let runs = self.arm.runs.iter().chain(&self.baseline.runs);
        runs.filter(|run| run.key.seed <= last && !run.status.is_over()).count()
    }

    /// Returns `[arm, baseline]` as costs for each seed of which both runs are complete.
    fn by_seed(&self, snapshot: &Snapshot, measure: &Measure) -> BTreeMap<u64, [f64; 2]> {
        self.paired(|run| Some(measure.cost(score(snapshot, measure, run)?)))
    }

    fn paired<V>(&self, value: impl Fn(&'a RunSnapshot) -> Option<V>) -> BTreeMap<u64, [V; 2]> {
        let of_baseline = |seed: u64| self.baseline.runs.iter().find(|run| run.key.seed == seed);
        let pair = |run: &&'a RunSnapshot| {
            let seed = run.key.seed;
            Some((seed, [value(run)?, value(of_baseline(seed)?)?]))
        };
        self.arm.runs.iter().filter_map(pair).collect()
    }
}

/// Returns the planned groups among `best`, a snapshot's [`best_groups`], each with the baseline's group in the same
/// context.
pub fn sides<'a>(snapshot: &Snapshot, best: &'a [Group<'a>]) -> Vec<Side<'a>> {
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

/// Returns the value of a metric at the reported epoch of a complete run, or the worst value if the run diverged.
/// Returns `None` for other runs, and if the metric was not measured.
pub fn score(snapshot: &Snapshot, measure: &Measure, run: &RunSnapshot) -> Option<f64> {
    match run.status {
        RunStatus::Diverged { .. } => Some(measure.direction.worst()),
        RunStatus::Finished if measure.of_run => {
            extensions().iter().find_map(|by| by.value(snapshot, run, measure))
        }
        RunStatus::Finished => {
            let reported = snapshot.design.reported.epoch_of(&snapshot.selection(), &run.epochs)?;
            reported.get(&measure.column)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Verdict;
    use crate::comparison::statistics::Schedule;
    use crate::extension::{Extras, example};
    use crate::measure::Scale;
    use crate::runs::AddedSeeds;
    use crate::testing;

    /// Returns GELU and ReLU with `seeds` seeds in one context. ReLU's errors are higher than GELU's by `shift`.
    fn two(seeds: u64, shift: impl Fn(u64) -> f64) -> Snapshot {
        let mut snapshot = testing::example();
        let pattern = snapshot.runs[0].clone();
        snapshot.criterion.comparisons = 1;
        snapshot.criterion.schedule = Schedule::fixed(seeds);
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
        let finding = &found[0].finding;
        assert!((finding.mean.unwrap() - 0.00245).abs() < 1e-12 && finding.seeds == 8);
        assert_eq!((finding.verdict, finding.probability_better), (Verdict::Worse, Some(0.0)));
    }

    #[test]
    fn the_training_loss_decides_where_it_is_the_primary_measure() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        snapshot.criterion.primary = "train-loss".to_owned();
        for run in &mut snapshot.runs {
            let seed = 1e-3 * (run.key.seed % 3) as f64;
            let relu = run.key.setting.text("activation") == "relu";
            let loss = if relu { 0.75 + seed } else { 1.0 };
            run.epochs.last_mut().unwrap().set("train_loss", loss);
        }
        let found = &differences(&snapshot)[0].finding;
        assert!((found.mean.unwrap() + 0.25 - 9e-3 / 8.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.verdict, Verdict::Better);
    }

    #[test]
    fn a_metric_of_whole_runs_is_what_an_extension_knows() {
        example::install();
        let mut snapshot = two(8, |_| 0.0);
        snapshot.criterion.primary = "size".to_owned();
        snapshot.design.measures.push(Measure { of_run: true, ..Measure::named("size") });
        for run in &mut snapshot.runs {
            let worse = if run.key.setting.text("activation") == "relu" { 0.02 } else { 0.0 };
            let size = 0.3 + worse + 1e-4 * (run.key.seed % 3) as f64 * (1.0 + worse);
            run.extras = Extras::default().with(size);
        }
        let found = &differences(&snapshot)[0].finding;
        assert!((found.mean.unwrap() - 0.02).abs() < 1e-5, "{found:?}");
        assert_eq!(found.verdict, Verdict::Worse);
        snapshot.runs[15].extras = Extras::default();
        assert_eq!(differences(&snapshot)[0].finding.seeds, 7, "seed 8 lacks one");
        snapshot.runs[15].status = RunStatus::Diverged { epoch: 1 };
        assert_eq!(differences(&snapshot)[0].finding.seeds, 8);
    }

    #[test]
    fn what_holds_for_more_than_new_seeds_is_said_and_where_it_could_be_zero() {
        example::install();
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        let mut with = |interval: Result<[f64; 2], &str>| {
            let wider = interval.map(|[low, high]| WiderInterval {
                low,
                high,
                of: "new words".to_owned(),
                doubt: "on these words; on others it could be zero".to_owned(),
            });
            for run in &mut snapshot.runs {
                run.extras = Extras::default().with(wider.clone().map_err(str::to_owned));
            }
            differences(&snapshot).remove(0).finding
        };
        let wide = with(Ok([0.001, 0.004]));
        assert!(wide.sentence.contains("; on new words 0.10 to 0.40)"), "{}", wide.sentence);
        assert_eq!(wide.wider_interval.unwrap().high, 0.004);
        let doubtful = with(Ok([-0.001, 0.006]));
        assert!(
            doubtful.sentence.contains("; on these words; on others it could be zero)"),
            "{}",
            doubtful.sentence
        );
        let none = with(Err("There is none."));
        assert_eq!(none.no_wider_interval.as_deref(), Some("There is none."));
        assert!(none.sentence.ends_with("p = 0.0078)."), "{}", none.sentence);
    }

    #[test]
    fn where_networks_are_built_differently_it_is_said_what_seeds_pair() {
        let mut snapshot = two(8, |seed| 0.002 + 1e-4 * seed as f64);
        let said = |snapshot: &Snapshot| differences(snapshot)[0].finding.details.clone().unwrap();
        assert!(!said(&snapshot).contains("built"));
        let arm = differences(&snapshot)[0].arm.clone();
        snapshot.design.built_differently = vec![arm];
        assert!(
            said(&snapshot)
                .contains("built differently: with the same seed they see the same batches")
        );
        snapshot.design.built_differently.push(snapshot.criterion.baseline.clone());
        assert!(!said(&snapshot).contains("built"), "both are of the other kind");
    }

    #[test]
    fn only_complete_pairs_count() {
        let mut snapshot = two(8, |_| 0.002);
        snapshot.runs[0].status = RunStatus::Running;
        snapshot.runs[3].status = RunStatus::Failed { reason: "x".into() };
        let found = &differences(&snapshot)[0].finding;
        assert_eq!((found.seeds, found.outstanding), (6, 1));
    }

    #[test]
    fn every_activation_is_compared_with_the_baseline_at_every_dropout_rate() {
        let mut snapshot = testing::example();
        snapshot.criterion.baseline = Setting::new([("activation", "relu")]);
        let found = differences(&snapshot);
        let named: Vec<_> =
            found.iter().map(|d| format!("{} {} {}", d.arm, d.baseline, d.context)).collect();
        assert_eq!(named, ["gelu relu dropout 0", "gelu relu dropout 0.5"]);
        snapshot.criterion.baseline = Setting::new([("activation", "elu")]);
        assert!(differences(&snapshot).is_empty());
    }

    #[test]
    fn over_an_axis_an_arm_is_compared_once() {
        let mut snapshot = testing::example();
        let over = Over { axis: "dropout".to_owned(), scale: Scale::Raw };
        snapshot.criterion.over = Some((over, 2));
        snapshot.criterion.comparisons = 1;
        snapshot.criterion.schedule = Schedule::fixed(3);
        let found = differences(&snapshot);
        let [difference] = found.as_slice() else { panic!("{} differences", found.len()) };
        assert!(difference.context.is_empty());
        let tasks = |found: &[Difference]| found[0].finding.over.as_ref().unwrap().tasks.len();
        assert_eq!(
            (tasks(&found), difference.finding.seeds, difference.finding.planned_seeds),
            (2, 2, 2)
        );
        assert!(
            difference.finding.sentence.contains("takes 6 tasks or more"),
            "{:?}",
            difference.finding
        );
        // A task counts only if all its runs are complete.
        snapshot.runs[0].status = RunStatus::Running;
        assert_eq!(tasks(&differences(&snapshot)), 1);
        snapshot.runs.iter_mut().for_each(|run| run.key.stage = Stage::Tuning);
        assert_eq!(tasks(&differences(&snapshot)), 0, "runs that only tune");
    }

    #[test]
    fn tuning_runs_are_not_compared() {
        let mut snapshot = testing::example();
        snapshot.runs.iter_mut().for_each(|run| run.key.stage = Stage::Tuning);
        assert!(differences(&snapshot).iter().all(|d| d.finding.pairs.is_empty()));
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
    fn seeds_are_wanted_until_all_is_decided_or_none_is_left() {
        let erratic = |seed: u64| if seed.is_multiple_of(2) { 0.01 } else { -0.0101 };
        let until_decided = |seeds, shift: fn(u64) -> f64| {
            let mut snapshot = two(seeds, shift);
            snapshot.criterion.schedule = Schedule::until_decided(20);
            snapshot
        };
        let wanted = |snapshot: &Snapshot| -> Vec<(String, u64)> {
            let all = further_seeds(snapshot).into_iter();
            all.map(|further| (further.setting.text("activation"), *further.seeds.end())).collect()
        };
        // The first seeds are part of the plan, and are not further ones.
        let seven = until_decided(7, erratic);
        assert_eq!((wanted(&seven), has_begun(&seven)), (vec![], true));
        let next = |seed| [("gelu".to_owned(), seed), ("relu".to_owned(), seed)];
        assert_eq!(wanted(&until_decided(8, erratic)), next(9));
        assert_eq!(wanted(&until_decided(19, erratic)), next(20));
        assert_eq!(wanted(&until_decided(20, erratic)), [], "no more are planned");
        let decided = until_decided(8, |seed| 0.01 + 1e-4 * seed as f64);
        assert_eq!(wanted(&decided), [], "decided");
        // With several workers, later seeds may be complete before the first one.
        let mut later = until_decided(8, erratic);
        later.runs.retain(|run| run.key.seed > 1);
        assert_eq!((wanted(&later), has_begun(&later)), (vec![], true));
        let mut fixed = two(8, erratic);
        assert_eq!(wanted(&fixed), []);
        fixed.added_seeds = vec![AddedSeeds { seeds: 20, at: String::new() }];
        assert_eq!(wanted(&fixed), next(20), "seeds that were added");
    }

    #[test]
    fn a_session_judges_by_its_own_rule() {
        let of = |shift: fn(u64) -> f64, seeds| {
            let mut snapshot = two(seeds, shift);
            snapshot.criterion.schedule = Schedule::until_decided(20);
            (snapshot.criterion.alpha, snapshot.criterion.judgement) = (0.025, Some(1));
            // ReLU is the incumbent.
            snapshot.criterion.baseline = Setting::new([("activation", "relu")]);
            let further = further_seeds(&snapshot).first().map(|further| *further.seeds.end());
            let finding = differences(&snapshot).remove(0).finding;
            (finding.verdict, finding.is_open(), further, finding)
        };
        let ahead: fn(u64) -> f64 = |seed| 0.01 + 1e-4 * seed as f64;
        assert_eq!(of(ahead, 2).2, None, "the first three are the plan's own business");
        let (verdict, is_open, further, finding) = of(ahead, 7);
        assert_eq!((verdict, is_open, further), (Verdict::Undecided, true, Some(8)));
        assert_eq!((finding.interval, finding.p), (None, None));
        let (verdict, is_open, further, finding) = of(ahead, 8);
        assert_eq!((verdict, is_open, further), (Verdict::Better, false, None));
        let interval = finding.interval.unwrap();
        assert!(
            (interval.level - 0.992).abs() < 1e-9 && interval.high.unwrap() < 0.0,
            "{interval:?}"
        );
        assert!(finding.sentence.starts_with("GELU beats ReLU by "), "{}", finding.sentence);
        let behind: fn(u64) -> f64 = |seed| -0.01 - 1e-4 * seed as f64;
        let (verdict, is_open, further, finding) = of(behind, 3);
        assert_eq!((verdict, is_open, further), (Verdict::Undecided, false, None));
        assert!(
            finding.sentence.starts_with(
                "GELU is not shown to be better than ReLU, and is given up because an improvement is unlikely: ReLU is \
                 ahead by "
            ),
            "{}",
            finding.sentence
        );
        let (_, _, _, equal) = of(|_| 0.0, 8);
        assert!(equal.is_given_up(), "{}", equal.sentence);
    }

    #[test]
    fn a_decided_activation_gets_no_more_seeds_and_the_baseline_does() {
        let mut snapshot = two(15, |seed| 0.01 + 1e-4 * seed as f64);
        snapshot.criterion.schedule = Schedule::until_decided(20);
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
        snapshot.criterion.schedule = Schedule::fixed(8);
        for run in snapshot.runs.iter_mut().filter(|run| [4, 9, 10].contains(&run.key.seed)) {
            run.status = RunStatus::Running;
        }
        assert_eq!(differences(&snapshot)[0].finding.outstanding, 2, "both of seed 4");
    }
}
