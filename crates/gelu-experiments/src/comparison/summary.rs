use super::statistics::median;
use crate::runs::{ComparisonSnapshot, Metric, RunSnapshot, RunStatus, Selection, Split};

/// The runs of a comparison that differ by seed alone.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Canonical name of the activation.
    pub activation: &'a str,
    /// Their initial learning rate.
    pub learning_rate: f64,
    /// Their dropout rate.
    pub dropout: f64,
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

    /// The value of `metric` on `split` after each run's last epoch, one per run that has any.
    pub fn last_values(&self, metric: Metric, split: Split) -> Vec<f64> {
        let last = |run: &&RunSnapshot| run.epochs.last().and_then(|e| e.get(metric, split));
        self.runs.iter().filter_map(last).collect()
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
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group {
                activation: &key.activation,
                learning_rate: key.learning_rate,
                dropout: key.dropout,
                runs: vec![run],
            }),
        }
    }
    groups
}

/// For every activation and dropout rate, the group whose learning rate scores best, in plan
/// order. Groups without a finished epoch are chosen only where no other is left.
pub fn best_groups(snapshot: &ComparisonSnapshot) -> Vec<Group<'_>> {
    let score = |group: &Group<'_>| group.score(snapshot.selection).unwrap_or(f64::INFINITY);
    let mut best: Vec<Group<'_>> = Vec::new();
    for group in groups(snapshot) {
        let rival = best
            .iter()
            .position(|b| b.activation == group.activation && b.dropout == group.dropout);
        match rival {
            Some(index) if score(&group) < score(&best[index]) => best[index] = group,
            Some(_) => {}
            None => best.push(group),
        }
    }
    best
}
