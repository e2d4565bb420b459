use super::statistics::{Plan, detectable, fewest_seeds, session};
use super::wording::two_digits;
use crate::measure::Criterion;

/// What every comparison of a table is judged by.
///
/// Each of the m comparisons is tested at level α/m, so that all of them together err in at most a share α of tables,
/// whatever depends on what (Bonferroni).
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// How many seeds are planned, and when the test may decide.
    pub plan: Plan,
    /// m.
    pub comparisons: usize,
    /// α.
    pub alpha: f64,
    /// δ; 0 where nothing is called the same.
    pub negligible: f64,
    /// Which judgement of a session's budget it is, from 1; `None` outside sessions.
    pub judgement: Option<u64>,
}

impl Criterion {
    /// What every comparison is judged by.
    pub fn rule(&self) -> Rule {
        Rule {
            plan: self.plan,
            comparisons: self.comparisons,
            alpha: self.alpha,
            negligible: self.negligible,
            judgement: self.judgement,
        }
    }
}

impl Rule {
    /// α′ = α/m: the level of one comparison.
    pub fn share(&self) -> f64 {
        self.alpha / self.comparisons.max(1) as f64
    }

    /// The smallest number of seeds that can decide a comparison.
    pub fn fewest_seeds(&self) -> u64 {
        fewest_seeds(self.share())
    }

    /// Whether the planned seeds can decide anything.
    pub fn can_decide(&self) -> bool {
        self.plan.can_decide(self.share())
    }

    /// How many seeds every comparison has before anything can end it: all of a fixed plan.
    pub fn first(&self) -> u64 {
        match self.judgement {
            Some(_) => session::FIRST as u64,
            None => self.plan.first(self.share()),
        }
    }

    /// What the planned seeds can show, in a sentence that is printed before the first run.
    pub fn prospect(&self) -> String {
        let seeds = self.plan.seeds;
        if let Some(j) = self.judgement {
            return format!(
                "Judgement {j} of this budget: at most {seeds} pairs of runs at level {}; it gives up early where an \
                 improvement is unlikely",
                two_digits(self.alpha)
            );
        }
        let all = match self.comparisons {
            0 | 1 => "a comparison".to_owned(),
            several => format!("{several} comparisons"),
        };
        match detectable(self.plan, self.share()) {
            None => format!(
                "{seeds} {} cannot decide {all}, whatever they show: that takes {} or more (--seeds {1})",
                if seeds == 1 { "seed" } else { "seeds" },
                self.fewest_seeds(),
            ),
            Some(ratio) => format!(
                "{}{seeds} seeds show a difference of {ratio:.1} standard deviations (of the differences between \
                 paired runs) 80% of the time",
                if self.plan.until_decided { "Up to " } else { "" },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(plan: Plan, comparisons: usize) -> Rule {
        Rule { plan, comparisons, alpha: 0.05, negligible: 0.0, judgement: None }
    }

    #[test]
    fn what_seeds_can_show_is_said_before_they_are_paid_for() {
        let eight = rule(Plan::fixed(8), 1).prospect();
        assert!(eight.starts_with("8 seeds show a difference of 1."), "{eight}");
        let open = rule(Plan::until_decided(20), 1).prospect();
        assert!(open.starts_with("Up to 20 seeds show a difference of 0."), "{open}");
        let none = rule(Plan::fixed(8), 7).prospect();
        let expected = "8 seeds cannot decide 7 comparisons, whatever they show: that takes 9 or more (--seeds 9)";
        assert_eq!(none, expected);
    }
}
