use super::statistics::median;
use crate::measure::{EpochMetrics, Measure, Reported};
use crate::runs::{RunSnapshot, RunStatus, Snapshot, Stage};
use crate::setting::{Role, Setting};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The runs of a comparison that differ only in the seed.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The values of the compared axes.
    pub arm: Setting,
    /// The values of the tuned axes.
    pub tuned: Setting,
    /// The context: the values of the axes at which the verdict holds.
    pub context: Setting,
    /// The stage that the runs belong to.
    pub stage: Stage,
    /// Whether the runs are in the plan. Other runs are shown, but no verdict uses them.
    pub planned: bool,
    /// One run per seed, in plan order.
    pub runs: Vec<&'a RunSnapshot>,
}

impl<'a> Group<'a> {
    /// Returns the group with only its complete runs, finished and diverged, which are the ones that count.
    pub fn complete(&self) -> Self {
        self.filtered(|run| run.status.is_complete())
    }

    /// Returns the group with only its complete runs. Before there is any, returns it with all runs that have not
    /// failed, as they are now.
    pub fn complete_or_started(&self) -> Self {
        let complete = self.complete();
        match complete.runs.is_empty() {
            true => self.filtered(|run| !matches!(run.status, RunStatus::Failed { .. })),
            false => complete,
        }
    }

    fn filtered(&self, wanted: impl Fn(&RunSnapshot) -> bool) -> Self {
        let runs = self.runs.iter().copied().filter(|run| wanted(run)).collect();
        Self { runs, ..self.clone() }
    }

    /// Returns the median over seeds as `(epoch, value)`, at every epoch that any of the runs has reached.
    ///
    /// A diverged run counts as infinitely bad from the epoch in which it diverged, so that losing a run does not
    /// improve the median. Runs that have not reached the epoch are left out.
    pub fn median_curve(&self, measure: &Measure) -> Vec<(usize, f64)> {
        let last = self.runs.iter().map(|run| run.epochs.len()).max().unwrap_or(0);
        (1..=last)
            .filter_map(|epoch| {
                let values = self.runs.iter().filter_map(|run| value_at(run, epoch, measure));
                median(values).map(|value| (epoch, value))
            })
            .collect()
    }

    /// Returns the values that the complete runs measured at `reported`, one value per run. The value of a diverged
    /// run is infinite, so that it counts as the worst. Returns no values if the comparison has no such measure.
    pub fn values(&self, snapshot: &Snapshot, reported: Reported, measure: &Measure) -> Vec<f64> {
        if !snapshot.has(&measure.column) {
            return Vec::new();
        }
        let selection = snapshot.selection();
        let value = |run: &&RunSnapshot| match run.status {
            RunStatus::Diverged { .. } => Some(measure.direction.worst()),
            RunStatus::Finished => reported.epoch_of(&selection, &run.epochs)?.get(&measure.column),
            _ => None,
        };
        self.runs.iter().filter_map(value).collect()
    }

    /// Returns the group's value of a measure: the median over the complete runs, each at its reported epoch. Before
    /// there is any, it is the median over the runs under way, at the epochs that would be reported now.
    pub fn standing(&self, snapshot: &Snapshot, measure: &Measure) -> Option<f64> {
        let complete_or_started = self.complete_or_started();
        median(complete_or_started.runs.iter().filter_map(|run| match run.status {
            RunStatus::Diverged { .. } => {
                snapshot.has(&measure.column).then_some(measure.direction.worst())
            }
            _ => reported_epoch(snapshot, run)?.get(&measure.column),
        }))
    }

    /// Returns the cost by which tuned values are chosen: the median of the selection measure over the complete runs,
    /// at the reported epoch. Returns `None` before any run is complete. Only the first seeds choose, and only once
    /// (see [`Snapshot::choosing_seeds`]); if the runs only tune, all seeds choose.
    pub fn score(&self, snapshot: &Snapshot) -> Option<f64> {
        let measure = snapshot.selection();
        let first = snapshot.choosing_seeds;
        let choosing = self.filtered(|run| run.key.seed <= first || run.key.stage == Stage::Tuning);
        let values = choosing.values(snapshot, snapshot.design.reported, &measure);
        median(values.into_iter().map(|value| measure.cost(value)))
    }
}

/// Returns the epoch of a run that its results are taken from.
pub fn reported_epoch<'a>(snapshot: &Snapshot, run: &'a RunSnapshot) -> Option<&'a EpochMetrics> {
    snapshot.design.reported.epoch_of(&snapshot.selection(), &run.epochs)
}

pub(super) fn value_at(run: &RunSnapshot, epoch: usize, measure: &Measure) -> Option<f64> {
    match run.status {
        RunStatus::Diverged { epoch: diverged } if epoch >= diverged => {
            Some(measure.direction.worst())
        }
        _ => run.epochs.get(epoch - 1)?.get(&measure.column),
    }
}

/// Returns the runs grouped by everything but the seed, in plan order. Runs outside the plan have groups of their
/// own.
pub fn groups(snapshot: &Snapshot) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(&Setting, Stage, bool), usize> = HashMap::new();
    for run in &snapshot.runs {
        let key = &run.key;
        let kind = (&key.setting, key.stage, run.planned);
        match places.get(&kind) {
            Some(&place) => groups[place].runs.push(run),
            None => {
                places.insert(kind, groups.len());
                let part = |role| key.setting.of_role(&snapshot.design.axes, role);
                groups.push(Group {
                    arm: part(Role::Compared),
                    tuned: part(Role::Tuned),
                    context: part(Role::Each),
                    stage: key.stage,
                    planned: run.planned,
                    runs: vec![run],
                });
            }
        }
    }
    groups
}

/// Returns, for every arm and context, the group whose tuned setting scores best, in plan order. A group without a
/// complete run is chosen only if there is no other, and a group outside the plan only if there is none in the plan.
/// If there are final runs, their group is the best, because the tuning runs have chosen its tuned values.
pub fn best_groups(snapshot: &Snapshot) -> Vec<Group<'_>> {
    let score = |group: &Group<'_>| group.score(snapshot).unwrap_or(f64::INFINITY);
    let rank = |group: &Group<'_>| (group.planned, group.stage == Stage::Final);
    let mut best: Vec<Group<'_>> = Vec::new();
    for group in groups(snapshot) {
        let setting = |b: &Group<'_>| b.arm == group.arm && b.context == group.context;
        let Some(rival) = best.iter_mut().find(|b| setting(b)) else {
            best.push(group);
            continue;
        };
        let better = match rank(&group).cmp(&rank(rival)) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => score(&group) < score(rival),
        };
        if better {
            *rival = group;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::statistics::Schedule;
    use crate::testing::{example, setting};

    #[test]
    fn groups_differ_by_everything_but_the_seed() {
        let snapshot = example();
        let groups = groups(&snapshot);
        assert_eq!(groups.len(), 2 * 2 * 2);
        assert!(groups.iter().all(|group| group.runs.len() == 3));
    }

    #[test]
    fn best_learning_rate_is_chosen_by_validation_for_each_dropout_rate() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            if run.key.setting.text("activation") == "relu"
                && run.key.setting.number("dropout") == 0.5
                && run.key.setting.number("lr") == 1e-3
            {
                run.epochs.iter_mut().for_each(|epoch| epoch.set("valid_loss", 9.0));
            }
        }
        let chosen: Vec<_> =
            best_groups(&snapshot).iter().map(|g| g.runs[0].key.setting.to_string()).collect();
        let expected = [
            "gelu lr 0.001 dropout 0",
            "relu lr 0.001 dropout 0",
            "gelu lr 0.001 dropout 0.5",
            "relu lr 0.0001 dropout 0.5",
        ];
        assert_eq!(chosen, expected);
    }

    #[test]
    fn final_runs_stand_for_their_activation_whatever_tuning_runs_score() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.key.stage = Stage::Tuning;
        }
        let mut last = snapshot.runs[0].clone();
        last.key.stage = Stage::Final;
        last.epochs.iter_mut().for_each(|epoch| epoch.set("valid_loss", None));
        snapshot.runs.push(last);
        let best = best_groups(&snapshot);
        let stages: Vec<_> = best.iter().map(|g| (g.arm.canonical(), g.stage)).collect();
        let expected = [("gelu", Stage::Final), ("relu", Stage::Tuning)];
        assert_eq!(stages[..2], expected.map(|(name, stage)| (name.to_owned(), stage)));
        assert_eq!(best[0].runs.len(), 1);
    }

    #[test]
    fn a_diverged_run_counts_as_the_worst() {
        let snapshot = example();
        let groups = groups(&snapshot);
        let group = groups
            .iter()
            .find(|g| g.arm.canonical() == "relu" && g.tuned.number("lr") == 1e-4)
            .unwrap();
        let curve = group.median_curve(&snapshot.measure("valid_loss"));
        let sound = |epoch: usize| -> Vec<f64> {
            group.runs[..2].iter().map(|r| r.epochs[epoch - 1].get("valid_loss").unwrap()).collect()
        };
        // The median of two sound runs and an infinitely bad one is the worse sound run.
        let worse = sound(6).into_iter().fold(0.0, f64::max);
        assert_eq!(curve[5], (6, worse));
        assert_eq!(curve.len(), 12);
    }

    #[test]
    fn best_epoch_is_chosen_by_the_selection_not_by_the_measure_shown() {
        let mut snapshot = example();
        let run = &mut snapshot.runs[0];
        run.epochs[3].set("valid_loss", 0.0);
        run.epochs[3].set("test_error", 0.77);
        let best = Reported::BestEpoch;
        let shown = groups(&snapshot)[0].values(&snapshot, best, &snapshot.measure("test_error"));
        assert_eq!(shown[0], 0.77);
    }

    #[test]
    fn a_learning_rate_is_scored_at_the_epoch_that_is_reported() {
        let mut snapshot = example();
        // At an earlier epoch, the slower rate was the best of all.
        for run in snapshot.runs.iter_mut().filter(|run| run.key.setting.number("lr") == 1e-4) {
            run.epochs[2].set("valid_loss", 0.0);
        }
        let rates = |snapshot: &Snapshot| -> Vec<f64> {
            best_groups(snapshot).iter().map(|group| group.tuned.number("lr")).collect()
        };
        assert_eq!(rates(&snapshot), [1e-3; 4]);
        snapshot.design.reported = Reported::BestEpoch;
        assert_eq!(rates(&snapshot), [1e-4; 4]);
    }

    #[test]
    fn only_complete_runs_count_and_diverged_ones_are_the_worst() {
        let mut snapshot = example();
        snapshot.runs[0].status = RunStatus::Interrupted;
        snapshot.runs[0].epochs.truncate(2);
        let values = |snapshot: &Snapshot, activation, rate| {
            let groups = groups(snapshot);
            let group =
                groups.iter().find(|g| g.runs[0].key.setting == setting(activation, rate, 0.0));
            let last = Reported::LastEpoch;
            group.unwrap().values(snapshot, last, &snapshot.measure("test_loss"))
        };
        assert_eq!(values(&snapshot, "gelu", 1e-3).len(), 2);
        let diverged = values(&snapshot, "relu", 1e-4);
        assert_eq!((diverged.len(), diverged[2]), (3, f64::INFINITY));
        assert!(values(&example(), "gelu", 1e-3).len() == 3);
    }

    #[test]
    fn seeds_after_the_first_eight_choose_no_learning_rate() {
        let mut snapshot = example();
        snapshot.criterion.schedule = Schedule::until_decided(20);
        let mut late = snapshot.runs[2].clone();
        assert_eq!(late.key.setting.number("lr"), 1e-4);
        for seed in 9..=20 {
            late.key.seed = seed;
            late.epochs.iter_mut().for_each(|epoch| epoch.set("valid_loss", 0.0));
            snapshot.runs.push(late.clone());
        }
        assert_eq!(best_groups(&snapshot)[0].tuned.number("lr"), 1e-3);
    }

    #[test]
    fn runs_beside_the_plan_choose_nothing_and_stand_apart() {
        let mut snapshot = example();
        let before: Vec<f64> =
            best_groups(&snapshot).iter().map(|g| g.tuned.number("lr")).collect();
        let mut beside = snapshot.runs[0].clone();
        beside.planned = false;
        beside.epochs.iter_mut().for_each(|epoch| epoch.set("valid_loss", 0.0));
        let mut silu = beside.clone();
        silu.key.setting.set("activation", "silu");
        beside.key.setting.set("lr", 0.5);
        let further = crate::runs::RunSnapshot { planned: false, ..snapshot.runs[0].clone() };
        snapshot.runs.extend([beside, further, silu]);
        let best = best_groups(&snapshot);
        let rates: Vec<f64> = best[..4].iter().map(|g| g.tuned.number("lr")).collect();
        assert_eq!((rates, best[0].runs.len()), (before, 3));
        assert_eq!(
            (best.len(), best[4].arm.canonical().as_str()),
            (5, "silu"),
            "shown all the same"
        );
    }
}
