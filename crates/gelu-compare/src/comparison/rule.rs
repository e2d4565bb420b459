use super::sample::Sample;
use super::statistics::{Schedule, detectable, fewest_seeds, session};
use super::wording::two_digits;
use crate::measure::Criterion;

/// The rule that every comparison of a table is judged by.
///
/// Each of the m comparisons is tested at level α/m. Together they err in at most a share α of tables, however the
/// comparisons depend on each other (Bonferroni).
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The number of planned seeds, and when the test may decide.
    pub schedule: Schedule,
    /// m: the number of comparisons.
    pub comparisons: usize,
    /// α: the maximum probability that any verdict of the table is wrong.
    pub alpha: f64,
    /// δ: differences up to this size are negligible; 0 if nothing is called the same.
    pub negligible: f64,
    /// The number of the judgement in a session's budget, from 1; `None` outside sessions.
    pub judgement: Option<u64>,
}

impl Criterion {
    /// Returns a sentence on what the plan can show, for printing before the first run.
    pub(crate) fn prospect(&self) -> String {
        let sample = if self.over.is_some() { Sample::Tasks } else { Sample::Seeds };
        self.rule().prospect(sample)
    }

    /// Returns the rule that every comparison is judged by.
    pub fn rule(&self) -> Rule {
        Rule {
            // Over tasks, the units are tasks, and they are judged once.
            schedule: self
                .over
                .as_ref()
                .map_or(self.schedule, |&(_, tasks)| Schedule::fixed(tasks)),
            comparisons: self.comparisons,
            alpha: self.alpha,
            negligible: self.negligible,
            judgement: self.judgement,
        }
    }
}

impl Rule {
    /// Returns α′ = α/m: the level of one comparison.
    pub fn share(&self) -> f64 {
        self.alpha / self.comparisons.max(1) as f64
    }

    /// Returns the smallest number of seeds that can decide a comparison.
    pub fn fewest_seeds(&self) -> u64 {
        fewest_seeds(self.share())
    }

    /// Returns whether the planned seeds can decide anything.
    pub fn can_decide(&self) -> bool {
        self.schedule.can_decide(self.share())
    }

    /// Returns the number of seeds that every comparison has before it can end: all of a fixed plan.
    pub fn first(&self) -> u64 {
        match self.judgement {
            Some(_) => session::FIRST as u64,
            None => self.schedule.first(self.share()),
        }
    }

    /// Returns a sentence on what the planned seeds or tasks can show, for printing before the first run.
    pub fn prospect(&self, sample: Sample) -> String {
        let (count, unit) = (self.schedule.seeds, sample.unit());
        if let Some(j) = self.judgement {
            return format!(
                "Judgement {j} of this budget: at most {count} pairs of runs at level {}; it gives up early where an \
                 improvement is unlikely",
                two_digits(self.alpha)
            );
        }
        let all = match self.comparisons {
            0 | 1 => "a comparison".to_owned(),
            several => format!("{several} comparisons"),
        };
        let units = if count == 1 { unit.to_owned() } else { format!("{unit}s") };
        match detectable(self.schedule, self.share()) {
            None => format!(
                "{count} {units} cannot decide {all}, whatever they show: that takes {} or more{}",
                self.fewest_seeds(),
                match sample {
                    Sample::Tasks => String::new(),
                    _ => format!(" (--seeds {})", self.fewest_seeds()),
                }
            ),
            Some(ratio) => format!(
                "With {}{count} {units} you will detect, 80% of the time, a true difference of {ratio:.1} standard \
                 deviations {}; smaller ones may stay undecided",
                if self.schedule.until_decided { "up to " } else { "" },
                match sample {
                    Sample::Tasks => "of the tasks' differences",
                    _ => "of the differences between runs with the same seed",
                },
            ),
        }
    }
}

/// Returns the beginning of a sentence on the maximum chance that any of `verdicts` verdicts is wrong. The caller
/// adds the condition under which this holds.
pub(crate) fn error_rate(verdicts: usize, level: f64) -> String {
    // 100 · 0.07 is 7.000000000000001.
    let share = (1e12 * level).round() / 1e10;
    match verdicts {
        1 => format!("The chance that this verdict is wrong is at most {share}%"),
        several => {
            format!("The chance that any of these {several} verdicts is wrong is at most {share}%")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(schedule: Schedule, comparisons: usize) -> Rule {
        Rule { schedule, comparisons, alpha: 0.05, negligible: 0.0, judgement: None }
    }

    #[test]
    fn what_seeds_can_show_is_said_before_they_are_paid_for() {
        let eight = rule(Schedule::fixed(8), 1).prospect(Sample::Seeds);
        assert!(
            eight.starts_with(
                "With 8 seeds you will detect, 80% of the time, a true difference of 1."
            ),
            "{eight}"
        );
        let open = rule(Schedule::until_decided(20), 1).prospect(Sample::Seeds);
        assert!(open.starts_with("With up to 20 seeds you will detect, 80%"), "{open}");
        let none = rule(Schedule::fixed(8), 7).prospect(Sample::Seeds);
        let expected = "8 seeds cannot decide 7 comparisons, whatever they show: that takes 9 or more (--seeds 9)";
        assert_eq!(none, expected);
    }

    #[test]
    fn a_level_is_said_as_it_was_typed() {
        for (level, said) in [(0.05, "5%."), (0.07, "7%."), (0.29, "29%."), (0.001, "0.1%.")] {
            let text = format!("{}.", error_rate(2, level));
            assert!(text.ends_with(&format!("at most {said}")), "{text}");
        }
    }
}
