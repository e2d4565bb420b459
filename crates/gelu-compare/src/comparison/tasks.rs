//! Verdicts over tasks. The unit is a task, with the mean over its seeds.

use super::finding::{Finding, OverTasks, Scores, TaskEffect};
use super::rule::Rule;
use super::sample::Sample;
use super::statistics::{Schedule, signed_rank_p, signed_ranks};
use super::wording::Wording;
use crate::measure::Scale;
use std::collections::BTreeMap;

/// The scores of a setting and of the baseline at one task, as costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The task's name.
    pub name: String,
    /// `[arm, baseline]` by seed.
    pub by_seed: BTreeMap<u64, [f64; 2]>,
}

/// Returns the verdict over `tasks`, with the effect at each of them. D_t is the mean difference over the seeds of
/// task t. The exact test of all D_t is done once, after all tasks of the rule's plan. `scores` names the setting and
/// the baseline.
pub(crate) fn over_tasks(
    scores: Scores,
    tasks: &[Task],
    scale: Scale,
    rule: &Rule,
    wording: &Wording,
) -> Finding {
    let costs: Vec<f64> = tasks.iter().map(|task| task.difference(scale)).collect();
    let scaled = match scale {
        Scale::Ranks => signed_ranks(&costs),
        _ => costs.clone(),
    };
    let pair = |d: &f64| if *d == f64::NEG_INFINITY { [0.0, f64::INFINITY] } else { [*d, 0.0] };
    let by_seed = (1..).zip(scaled.iter().map(pair)).collect();
    let scores = Scores { sample: Sample::Tasks, by_seed, ..scores };
    let finding = Finding::of(scores, rule, &wording.on_scale(scale));
    let is_whole = tasks.len() as u64 == rule.schedule.seeds;
    let p = signed_rank_p(&costs).filter(|_| is_whole);
    let effect =
        |((task, cost), scaled): ((&Task, &f64), &f64)| task.effect(*cost, *scaled, wording);
    let tasks: Vec<TaskEffect> = tasks.iter().zip(&costs).zip(&scaled).map(effect).collect();
    let mut over = OverTasks {
        scale,
        ahead: costs.iter().filter(|cost| **cost < 0.0).count(),
        signed_rank_p: p.map(|p| (p * rule.comparisons.max(1) as f64).min(1.0)),
        tasks,
        words: Vec::new(),
    };
    over.words = over.lines(&finding.arm, wording);
    Finding { over: Some(over), ..finding }
}

impl Task {
    /// Returns D_t as a cost; ±∞ if a run diverged.
    fn difference(&self, scale: Scale) -> f64 {
        let count = self.by_seed.len().max(1) as f64;
        let mean = |side: usize| self.by_seed.values().map(|pair| pair[side]).sum::<f64>() / count;
        let [arm, baseline] = [mean(0), mean(1)];
        match (arm.is_finite(), baseline.is_finite(), scale) {
            (true, true, Scale::Ratio) => {
                if arm == baseline {
                    0.0
                } else {
                    (arm - baseline) / baseline.abs()
                }
            }
            (true, true, _) => arm - baseline,
            (false, true, _) => f64::INFINITY,
            (true, false, _) => f64::NEG_INFINITY,
            (false, false, _) => 0.0,
        }
    }

    fn effect(&self, difference: f64, scaled: f64, wording: &Wording) -> TaskEffect {
        let rule = Rule {
            schedule: Schedule::fixed(self.by_seed.len() as u64),
            comparisons: 1,
            alpha: 0.05,
            negligible: 0.0,
            judgement: None,
        };
        let finding = Finding::of(Scores::new("", "", self.by_seed.clone()), &rule, wording);
        let mean = self.difference(Scale::Raw);
        TaskEffect {
            task: self.name.clone(),
            seeds: self.by_seed.len(),
            mean: mean.is_finite().then(|| wording.of_measure(mean)),
            on_scale: scaled.is_finite().then(|| wording.of_measure(scaled)),
            interval: finding.interval,
            ahead: (difference != 0.0).then_some(difference < 0.0),
        }
    }
}

impl OverTasks {
    fn lines(&self, arm: &str, wording: &Wording) -> Vec<String> {
        let p = self.signed_rank_p;
        let p = p.map_or_else(String::new, |p| format!("; by signed ranks p = {p:.2}"));
        let count = format!("{arm} is ahead in {} of {} tasks{p}.", self.ahead, self.tasks.len());
        std::iter::once(count).chain(self.tasks.iter().map(|task| task.words(wording))).collect()
    }
}

impl TaskEffect {
    /// Returns `iris: 0.4 (0.1 to 0.7; 14 seeds)`.
    pub(crate) fn words(&self, wording: &Wording) -> String {
        let ends = self.interval.map(|interval| interval.ends());
        let resolution = ends.map_or(f64::NAN, |[low, high]| (high - low) / 2.0);
        let mean = self.mean.map_or_else(
            || "a run diverged".to_owned(),
            |mean| format!("{}{}", wording.number(mean, resolution), wording.unit()),
        );
        let interval =
            ends.map_or_else(String::new, |ends| format!("{}; ", wording.interval(ends)));
        let seeds = if self.seeds == 1 { "seed" } else { "seeds" };
        format!("{}: {mean} ({interval}{} {seeds})", self.task, self.seeds)
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Verdict;
    use super::*;
    use crate::measure::Measure;

    fn tasks(differences: &[f64]) -> Vec<Task> {
        let task = |(index, d): (usize, &f64)| {
            let level = 1.0 + index as f64;
            let seed =
                |seed: u64| (seed, [level + d + 1e-3 * seed as f64, level - 2e-3 * seed as f64]);
            Task { name: format!("task {index}"), by_seed: (1..=6).map(seed).collect() }
        };
        differences.iter().enumerate().map(task).collect()
    }

    fn of(tasks: &[Task], scale: Scale) -> (Finding, OverTasks) {
        let wording = Wording::of(&Measure::named("loss"));
        let schedule = Schedule::fixed(tasks.len() as u64);
        let rule = Rule { schedule, comparisons: 1, alpha: 0.05, negligible: 0.0, judgement: None };
        let scores = Scores::new("GELU", "ReLU", BTreeMap::new());
        let finding = over_tasks(scores, tasks, scale, &rule, &wording);
        let over = finding.over.clone().unwrap();
        (finding, over)
    }

    #[test]
    fn tasks_are_the_units() {
        let all = tasks(&[-0.3, -0.5, -0.2, -0.6, -0.4, -0.35]);
        let (finding, over) = of(&all, Scale::Raw);
        assert_eq!(
            (finding.verdict, finding.p, over.ahead),
            (Verdict::Better, Some(2.0 / 64.0), 6)
        );
        assert!(finding.sentence.contains("on average (95% interval "), "{}", finding.sentence);
        assert!(finding.sentence.contains("; 6 tasks; p = 0.0312)"), "{}", finding.sentence);
        assert_eq!(over.signed_rank_p, Some(2.0 / 64.0));
        assert!((over.tasks[0].mean.unwrap() + 0.2895).abs() < 1e-12);
        let few = of(&all[..5], Scale::Raw).0;
        assert_eq!(few.verdict, Verdict::Undecided);
        assert!(few.sentence.contains("takes 6 tasks or more"), "{}", few.sentence);
    }

    #[test]
    fn scales_make_tasks_alike() {
        let all = tasks(&[-0.3, -0.5, -0.2, -0.6, -0.4, 0.01]);
        let ratio = of(&all, Scale::Ratio).0;
        // The means over seeds are 1 + i + d + 0.0035 and 1 + i − 0.007.
        let share = |(i, d): (f64, f64)| (d + 0.0105) / (1.0 + i - 0.007);
        let expected = [(0., -0.3), (1., -0.5), (2., -0.2), (3., -0.6), (4., -0.4), (5., 0.01)]
            .map(share)
            .iter()
            .sum::<f64>()
            / 6.0;
        assert!((ratio.mean.unwrap() - expected).abs() < 1e-12);
        let ranks = of(&all, Scale::Ranks).0;
        assert!((ranks.mean.unwrap() - (-19.0 / 6.0)).abs() < 1e-12, "{:?}", ranks.mean);
    }

    #[test]
    fn a_task_with_a_diverged_run_is_the_worst() {
        let mut all = tasks(&[-0.3, -0.5, -0.2, -0.6, -0.4, -0.35]);
        all[2].by_seed.insert(3, [f64::INFINITY, 1.0]);
        let (finding, over) = of(&all, Scale::Raw);
        assert_eq!((finding.verdict, finding.mean, over.ahead), (Verdict::Undecided, None, 5));
        assert_eq!((over.tasks[2].mean, over.tasks[2].ahead), (None, Some(false)));
    }
}
