//! What makes one doubt that the runs are what they are taken for.

use super::found::Found;

/// From so many pairs on, equal scores are seldom the coincidence of a coarse measure.
const TELLING: usize = 3;

/// A sentence where all seeds of an arm have one score, or both arms the same seed by seed: seeds that nobody
/// draws from are no repetitions, and p takes them for such.
pub(super) fn doubt(found: &Found) -> Option<String> {
    let (a, b, pairs) = (&found.arm, &found.baseline, &found.ruling.pairs);
    let count = pairs.len();
    if count < TELLING || pairs.any_diverged() {
        return None;
    }
    let single = |name: &str| {
        format!(
            "All {count} seeds of {name} have one score: if it does not use its seed, that is one run, not \
             {count}."
        )
    };
    match pairs.are_alike() {
        [true, true] => Some(format!(
            "All {count} seeds of {a} have one score, and so have those of {b}: if they do not use their \
             seeds, these are two runs, not {}.",
            2 * count
        )),
        [true, false] => Some(single(a)),
        [false, true] => Some(single(b)),
        [false, false] if pairs.ties() == count => Some(format!(
            "{a} and {b} have the same score at every seed: is what is compared used at all?"
        )),
        [false, false] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::contrast::{Contrast, Rules};
    use super::*;
    use crate::measure::Looks;

    fn of(pairs: &[[f64; 2]]) -> Option<String> {
        let by_seed = (1..).zip(pairs.iter().copied()).collect();
        let looks = Looks::once(pairs.len() as u64);
        let rules = Rules { comparisons: 1, looks, negligible: 0.0 };
        doubt(&Found::of_scores("b", "a", &Contrast { by_seed }, &rules))
    }

    #[test]
    fn seeds_that_change_nothing_are_no_repetitions() {
        let both = of(&[[1.0, 2.0]; 8]).unwrap();
        assert!(both.starts_with("All 8 seeds of b have one score, and so have"), "{both}");
        assert!(both.ends_with("these are two runs, not 16."), "{both}");
        let one = of(&[[1.0, 2.0], [1.0, 2.5], [1.0, 2.2]]).unwrap();
        assert!(one.starts_with("All 3 seeds of b have one score: if it"), "{one}");
        assert!(of(&[[2.0, 1.0], [2.5, 1.0], [2.2, 1.0]]).unwrap().contains("seeds of a have"));
    }

    #[test]
    fn equal_scores_at_every_seed_are_asked_about() {
        let equal = of(&[[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]).unwrap();
        assert!(equal.starts_with("b and a have the same score at every seed"), "{equal}");
        assert_eq!(of(&[[1.0, 1.0], [2.0, 2.0], [4.0, 4.5]]), None);
    }

    #[test]
    fn few_pairs_and_diverged_runs_raise_none() {
        assert_eq!(of(&[[1.0, 2.0]; 2]), None);
        assert_eq!(of(&[[f64::INFINITY, 2.0]; 8]), None);
        assert_eq!(of(&[]), None);
    }
}
