use super::statistics::median;
use crate::measure::{Metric, Selection, Split};
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};

/// The runs of a comparison that differ by seed alone.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Canonical name of the activation.
    pub activation: &'a str,
    /// Their initial learning rate.
    pub learning_rate: f64,
    /// Their dropout rate.
    pub dropout: f64,
    /// What they are for.
    pub stage: Stage,
    /// One run a seed, in plan order.
    pub runs: Vec<&'a RunSnapshot>,
}

impl Group<'_> {
    /// The median over seeds at every epoch any of them has finished: `(epoch, value)`.
    ///
    /// A diverged run counts as infinitely bad from the epoch it diverged in, so the median does
    /// not improve by losing it; runs that have not come so far are left out.
    pub fn median_curve(&self, metric: Metric, split: Split) -> Vec<(usize, f64)> {
        let last = self.runs.iter().map(|run| run.epochs.len()).max().unwrap_or(0);
        (1..=last)
            .filter_map(|epoch| {
                let values = self.runs.iter().filter_map(|run| value_at(run, epoch, metric, split));
                median(values).map(|value| (epoch, value))
            })
            .collect()
    }

    /// Median over seeds of each run's lowest value of the selection measure; `None` before any
    /// epoch is finished.
    pub fn score(&self, selection: Selection) -> Option<f64> {
        let (metric, split) = selection.measure();
        median(self.runs.iter().filter_map(|run| {
            if matches!(run.status, RunStatus::Diverged { .. }) {
                return Some(f64::INFINITY);
            }
            run.epochs.iter().filter_map(|e| e.get(metric, split)).min_by(f64::total_cmp)
        }))
    }

    /// The value of `metric` on `split` after each run's last epoch, one per run that has any and
    /// did not diverge.
    pub fn last_values(&self, metric: Metric, split: Split) -> Vec<f64> {
        let last = |run: &&RunSnapshot| run.epochs.last().and_then(|e| e.get(metric, split));
        self.sound_runs().filter_map(last).collect()
    }

    /// The value of `metric` on `split` after the epoch that was each run's best by `selection`,
    /// one per run that has any and did not diverge.
    pub fn best_values(&self, selection: Selection, metric: Metric, split: Split) -> Vec<f64> {
        let (by, on) = selection.measure();
        let best = |run: &&RunSnapshot| {
            let scored = run.epochs.iter().filter_map(|e| Some((e.get(by, on)?, e)));
            let (_, epoch) = scored.min_by(|a, b| a.0.total_cmp(&b.0))?;
            epoch.get(metric, split)
        };
        self.sound_runs().filter_map(best).collect()
    }

    fn sound_runs(&self) -> impl Iterator<Item = &&RunSnapshot> {
        self.runs.iter().filter(|run| !matches!(run.status, RunStatus::Diverged { .. }))
    }
}

fn value_at(run: &RunSnapshot, epoch: usize, metric: Metric, split: Split) -> Option<f64> {
    match run.status {
        RunStatus::Diverged { epoch: diverged } if epoch >= diverged => Some(f64::INFINITY),
        _ => run.epochs.get(epoch - 1)?.get(metric, split),
    }
}

/// The runs grouped by everything but the seed, in plan order.
pub fn groups(snapshot: &ComparisonSnapshot) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in &snapshot.runs {
        let key = &run.key;
        let same = |g: &&mut Group<'_>| {
            g.activation == key.activation
                && g.learning_rate == key.learning_rate
                && g.dropout == key.dropout
                && g.stage == key.stage
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group {
                activation: &key.activation,
                learning_rate: key.learning_rate,
                dropout: key.dropout,
                stage: key.stage,
                runs: vec![run],
            }),
        }
    }
    groups
}

/// For every activation and dropout rate, the group whose learning rate scores best, in plan
/// order. Groups without a finished epoch are chosen only where no other is left. Where there are
/// final runs, they are the best: their learning rate was chosen by the tuning ones.
pub fn best_groups(snapshot: &ComparisonSnapshot) -> Vec<Group<'_>> {
    let score = |group: &Group<'_>| group.score(snapshot.selection).unwrap_or(f64::INFINITY);
    let mut best: Vec<Group<'_>> = Vec::new();
    for group in groups(snapshot) {
        let rival = best
            .iter()
            .position(|b| b.activation == group.activation && b.dropout == group.dropout);
        match rival {
            Some(index) => {
                let final_runs = |group: &Group<'_>| group.stage == Stage::Final;
                let better = match (final_runs(&group), final_runs(&best[index])) {
                    (true, false) => true,
                    (false, true) => false,
                    _ => score(&group) < score(&best[index]),
                };
                if better {
                    best[index] = group;
                }
            }
            None => best.push(group),
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::example;

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
            if run.key.activation == "relu"
                && run.key.dropout == 0.5
                && run.key.learning_rate == 1e-3
            {
                run.epochs.iter_mut().for_each(|epoch| epoch.valid_loss = Some(9.0));
            }
        }
        let chosen: Vec<_> = best_groups(&snapshot)
            .iter()
            .map(|g| (g.activation, g.dropout, g.learning_rate))
            .collect();
        let expected =
            [("gelu", 0.0, 1e-3), ("relu", 0.0, 1e-3), ("gelu", 0.5, 1e-3), ("relu", 0.5, 1e-4)];
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
        last.epochs.iter_mut().for_each(|epoch| epoch.valid_loss = None);
        snapshot.runs.push(last);
        let best = best_groups(&snapshot);
        let stages: Vec<_> = best.iter().map(|g| (g.activation, g.stage)).collect();
        assert_eq!(stages[..2], [("gelu", Stage::Final), ("relu", Stage::Tuning)]);
        assert_eq!(best[0].runs.len(), 1);
    }

    #[test]
    fn a_diverged_run_counts_as_the_worst() {
        let snapshot = example();
        let groups = groups(&snapshot);
        let group =
            groups.iter().find(|g| g.activation == "relu" && g.learning_rate == 1e-4).unwrap();
        let curve = group.median_curve(Metric::Loss, Split::Valid);
        let sound = |epoch: usize| -> Vec<f64> {
            group.runs[..2].iter().map(|r| r.epochs[epoch - 1].valid_loss.unwrap()).collect()
        };
        // Of two sound runs and an infinitely bad one, the worse sound one is the median.
        let worse = sound(6).into_iter().fold(0.0, f64::max);
        assert_eq!(curve[5], (6, worse));
        assert_eq!(curve.len(), 12);
    }

    #[test]
    fn best_epoch_is_chosen_by_the_selection_not_by_the_measure_shown() {
        let mut snapshot = example();
        let run = &mut snapshot.runs[0];
        run.epochs[3].valid_loss = Some(0.0);
        run.epochs[3].test_error = Some(0.77);
        let groups = groups(&snapshot);
        let shown = groups[0].best_values(Selection::ValidLoss, Metric::Error, Split::Test);
        assert_eq!(shown[0], 0.77);
    }
}
