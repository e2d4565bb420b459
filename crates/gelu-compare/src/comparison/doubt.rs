//! Reasons to doubt that runs are repetitions.

use super::finding::Finding;
use super::sample::Sample;

/// With this number of pairs or more, equal scores are rarely a coincidence of a coarse metric.
const TELLING: usize = 3;

/// Returns a warning if all runs of one setting have the same score. A program that ignores its seed repeats one run,
/// but p counts its runs as repetitions.
pub(super) fn doubt(finding: &Finding) -> Option<String> {
    let pairs = &finding.pairs;
    let count = pairs.len();
    if count < TELLING || pairs.any_diverged() || finding.is_constant {
        return None;
    }
    let name = match pairs.are_alike() {
        [true, false] => &finding.arm,
        [false, true] if finding.sample == Sample::Seeds => &finding.baseline,
        _ => return None,
    };
    Some(format!(
        "All {count} runs of {name} have the same score. If {name} ignores its seed, its runs are copies of one run."
    ))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Scores;
    use super::super::rule::Rule;
    use super::super::statistics::Schedule;
    use super::super::wording::Wording;
    use super::*;
    use crate::measure::Measure;

    fn of(pairs: &[[f64; 2]]) -> Option<String> {
        let scores = Scores::new("b", "a", (1..).zip(pairs.iter().copied()).collect());
        let schedule = Schedule::fixed(pairs.len() as u64);
        let rule = Rule { comparisons: 1, schedule, negligible: 0.0, alpha: 0.05, judgement: None };
        doubt(&Finding::of(scores, &rule, &Wording::of(&Measure::named("loss"))))
    }

    #[test]
    fn a_setting_whose_scores_are_all_equal_is_pointed_out() {
        let one = of(&[[1.0, 2.0], [1.0, 2.5], [1.0, 2.2]]).unwrap();
        assert!(one.starts_with("All 3 runs of b have the same score. If b ignores"), "{one}");
        assert!(of(&[[2.0, 1.0], [2.5, 1.0], [2.2, 1.0]]).unwrap().contains("runs of a have"));
        assert_eq!(of(&[[1.0, 1.0], [2.0, 2.0], [4.0, 4.5]]), None);
    }

    #[test]
    fn few_pairs_and_diverged_runs_raise_none() {
        assert_eq!(of(&[[1.0, 2.0]; 2]), None);
        assert_eq!(of(&[[f64::INFINITY, 2.0]; 8]), None);
        assert_eq!(of(&[]), None);
    }
}
