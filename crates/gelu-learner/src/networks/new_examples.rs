use super::Outcomes;
use serde::Deserialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A confidence interval of the mean difference for new seeds and new test examples of the same kind, not only for
/// these test examples.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct NewExamples {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of groups of test examples; examples that were sampled together count as one group.
    pub groups: usize,
}

/// The reason why there is no interval over new examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoNewExamples {
    /// There are fewer than two seeds, so the spread of seeds is unknown.
    #[error("it takes the outcomes of two seeds or more, and there are those of {0}")]
    Seeds(usize),
    /// There are too few groups, so the spread of test examples is unknown.
    #[error(
        "the test examples come from {groups} {}, most of them from one: that says nothing of new ones",
        if *groups == 1 { "source" } else { "sources" }
    )]
    Groups {
        /// The number of groups.
        groups: usize,
    },
    /// Two runs cannot be compared example by example.
    #[error(
        "the runs were measured on different test sets: one of {} examples in {} groups, and one of \
         {} in {}", sizes[0][0], sizes[0][1], sizes[1][0], sizes[1][1]
    )]
    TestSets {
        /// The numbers of examples and groups of two runs.
        sizes: [[usize; 2]; 2],
    },
    /// Two runs saved outcomes of different measures.
    #[error("the runs have kept outcomes of different measures")]
    Measures,
}

/// Returns the interval that covers the mean difference over new seeds and new test examples with probability 1 −
/// `alpha`. `pairs` are the outcomes of the two runs of each seed.
///
/// Let d_sg be the difference between the runs of seed s on group g (the mean over the group's examples), w_g the
/// share of all examples that are in group g, n the number of seeds and G the number of groups. The difference on the
/// test set is the ratio estimator d̄_s = Σ_g w_g d_sg for each seed; d̄ is its mean over seeds, and
///
/// ```text
/// V_s  = Σ_s (d̄_s − d̄)² / (n(n − 1))                             of seeds
/// V_g  = G*/(G* − 1) · Σ_g w_g² (d̄_g − d̄)²                       of groups, d̄_g = Σ_s d_sg / n
/// V_sg = nG*/(nG* − 1) · Σ_s Σ_g (w_g/n)² (d_sg − d̄)²             of both, which the two others count twice
/// V    = max(V_s, V_g, V_s + V_g − V_sg)
/// d̄ ± t₁₋ₐ⸝₂ · √V   with   V² / (V_s²/(n − 1) + V_g²/(G* − 1))   degrees of freedom
/// ```
///
/// G* = 1 / Σ_g w_g² is the number of equal groups that would give as much information (Kish 1965); it is G if all
/// groups have the same size. With G*, a few large groups do not count as many.
///
/// The sum of two variances minus that of the cells is the variance of a mean clustered in two ways (Cameron, Gelbach
/// and Miller 2011); the degrees of freedom are Satterthwaite's.
///
/// # Errors
///
/// If there are fewer than two seeds, if G* is below 2, or if the runs were measured on different test sets or by
/// different measures.
pub fn new_examples(pairs: &[[&Outcomes; 2]], alpha: f64) -> Result<NewExamples, NoNewExamples> {
    let seeds = pairs.len();
    if seeds < 2 {
        return Err(NoNewExamples::Seeds(seeds));
    }
    let first = pairs[0][0];
    for &outcomes in pairs.iter().flatten() {
        check_alike(first, outcomes)?;
    }
    let groups = first.groups();
    let examples = groups.examples() as f64;
    let weights: Vec<f64> = groups.sizes().map(|size| size as f64 / examples).collect();
    let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    // Rounding may put two groups of one size slightly below 2.
    if effective < 2.0 - 1e-9 {
        return Err(NoNewExamples::Groups { groups: groups.len() });
    }
    let differences: Vec<Vec<f64>> = pairs.iter().map(difference).collect();
    let (mean, [of_seeds, of_groups, of_both]) = variances(&differences, &weights, effective);
    let variance = of_seeds.max(of_groups).max(of_seeds + of_groups - of_both);
    let spread = of_seeds.powi(2) / (seeds as f64 - 1.0) + of_groups.powi(2) / (effective - 1.0);
    let half = match variance > 0.0 {
        true => quantile(variance.powi(2) / spread, alpha) * variance.sqrt(),
        false => 0.0,
    };
    Ok(NewExamples { low: mean - half, high: mean + half, groups: groups.len() })
}

fn check_alike(one: &Outcomes, other: &Outcomes) -> Result<(), NoNewExamples> {
    if one.groups() != other.groups() {
        let sizes = [one, other].map(|of| [of.groups().examples(), of.groups().len()]);
        return Err(NoNewExamples::TestSets { sizes });
    }
    match one.is_like(other) {
        true => Ok(()),
        false => Err(NoNewExamples::Measures),
    }
}

/// Returns d_sg of one seed.
fn difference([one, other]: &[&Outcomes; 2]) -> Vec<f64> {
    one.by_group().iter().zip(other.by_group()).map(|(one, other)| one - other).collect()
}

/// Returns d̄, and V_s, V_g and V_sg; a row of `differences` is a seed.
fn variances(differences: &[Vec<f64>], weights: &[f64], effective: f64) -> (f64, [f64; 3]) {
    let n = differences.len() as f64;
    let of_seed = |row: &Vec<f64>| row.iter().zip(weights).map(|(d, w)| d * w).sum::<f64>();
    let by_seed: Vec<f64> = differences.iter().map(of_seed).collect();
    let mean = by_seed.iter().sum::<f64>() / n;
    let mut by_group = vec![0.0; weights.len()];
    let mut of_both = 0.0;
    for row in differences {
        for ((sum, weight), d) in by_group.iter_mut().zip(weights).zip(row) {
            let share = weight * (d - mean) / n;
            *sum += share;
            of_both += share * share;
        }
    }
    let of_seeds = by_seed.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n * (n - 1.0));
    let of_groups = by_group.iter().map(|sum| sum * sum).sum::<f64>();
    let of_groups = of_groups * effective / (effective - 1.0);
    of_both *= n * effective / (n * effective - 1.0);
    (mean, [of_seeds, of_groups, of_both])
}

/// Returns t₁₋ₐ⸝₂ for `freedom` degrees of freedom, whole or not.
fn quantile(freedom: f64, alpha: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom).expect("there are more than 0 degrees of freedom");
    t.inverse_cdf(1.0 - alpha / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::TestGroups;

    fn losses(groups: &TestGroups, losses: &[f32]) -> Outcomes {
        Outcomes::of_losses(1, groups.clone(), losses.to_vec())
    }

    fn interval(groups: &TestGroups, rows: &[&[f32]]) -> Result<NewExamples, NoNewExamples> {
        let zero = losses(groups, &vec![0.0; groups.examples()]);
        let rows: Vec<Outcomes> = rows.iter().map(|row| losses(groups, row)).collect();
        let pairs: Vec<[&Outcomes; 2]> = rows.iter().map(|row| [row, &zero]).collect();
        new_examples(&pairs, 0.05)
    }

    #[test]
    fn without_a_difference_between_examples_it_is_the_interval_over_seeds() {
        let groups = TestGroups::singles(5);
        let rows: Vec<[f32; 5]> = [1.0, 2.0, 4.0].map(|d| [d; 5]).to_vec();
        let found = interval(&groups, &[&rows[0], &rows[1], &rows[2]]).unwrap();
        let expected = gelu_compare::comparison::statistics::Mean::of(&[1.0, 2.0, 4.0])
            .unwrap()
            .interval(0.05);
        assert!((found.low - expected[0]).abs() < 1e-9 && (found.high - expected[1]).abs() < 1e-9);
        assert_eq!(found.groups, 5);
    }

    #[test]
    fn without_a_difference_between_seeds_it_is_the_interval_over_examples() {
        let row = [1.0, 2.0, 4.0, 1.0];
        let found = interval(&TestGroups::singles(4), &[&row, &row]).unwrap();
        let expected = gelu_compare::comparison::statistics::Mean::of(&[1.0, 2.0, 4.0, 1.0])
            .unwrap()
            .interval(0.05);
        assert!((found.low - expected[0]).abs() < 1e-9 && (found.high - expected[1]).abs() < 1e-9);
    }

    #[test]
    fn examples_sampled_together_count_once() {
        let rows: [&[f32]; 2] = [&[1.0, 1.0, 1.0, 3.0, 3.0, 3.0], &[1.0, 1.0, 1.0, 3.0, 3.0, 3.0]];
        let apart = interval(&TestGroups::singles(6), &rows).unwrap();
        let together = interval(&TestGroups::of_sizes([3, 3]), &rows).unwrap();
        assert_eq!((apart.groups, together.groups), (6, 2));
        // scipy.stats.t.interval(0.95, 1, 2, scipy.stats.sem([1, 3]))
        assert!((together.high - 14.706_204_736).abs() < 1e-6, "{together:?}");
        assert!(together.high - together.low > 5.0 * (apart.high - apart.low));
    }

    #[test]
    fn equal_runs_have_no_width() {
        let found = interval(&TestGroups::singles(3), &[&[0.5; 3], &[0.5; 3]]).unwrap();
        assert_eq!((found.low, found.high), (0.5, 0.5));
    }

    #[test]
    fn one_seed_one_source_and_different_test_sets_have_none() {
        let none = |groups: &[usize], rows: &[&[f32]]| {
            interval(&TestGroups::of_sizes(groups.iter().copied()), rows).unwrap_err()
        };
        assert_eq!(none(&[1, 1], &[]), NoNewExamples::Seeds(0));
        assert_eq!(none(&[1, 1], &[&[1.0, 2.0]]), NoNewExamples::Seeds(1));
        let rows: [&[f32]; 2] = [&[1.0; 12], &[2.0; 12]];
        let one = none(&[12], &rows);
        assert!(one.to_string().contains("come from 1 source, most of them"), "{one}");
        assert_eq!(none(&[10, 1, 1], &rows), NoNewExamples::Groups { groups: 3 });

        let [short, long] =
            [2, 3].map(|count| losses(&TestGroups::singles(count), &vec![1.0; count]));
        let differ = new_examples(&[[&long, &long], [&long, &short]], 0.05).unwrap_err();
        assert!(
            differ.to_string().contains("3 examples in 3 groups, and one of 2 in 2"),
            "{differ}"
        );
        let regrouped = losses(&TestGroups::of_sizes([2, 1]), &[1.0; 3]);
        assert!(new_examples(&[[&long, &regrouped], [&long, &long]], 0.05).is_err());
        let wrong = (0..3).map(|_| true).collect();
        let errors = Outcomes::of_errors(1, TestGroups::singles(3), wrong);
        let differ = new_examples(&[[&long, &long], [&errors, &long]], 0.05);
        assert_eq!(differ, Err(NoNewExamples::Measures));
    }

    #[test]
    fn quantiles_of_fractions_of_a_degree_are_those_of_scipy() {
        // scipy.stats.t.ppf(1 - alpha / 2, freedom)
        for (freedom, alpha, expected) in QUANTILES {
            let found = quantile(freedom, alpha);
            assert!((found / expected - 1.0).abs() < 1e-7, "{freedom}, α {alpha}: {found}");
        }
    }

    const QUANTILES: [(f64, f64, f64); 6] = [
        (0.5, 0.05, 164.55767348048818),
        (1.7, 0.05, 5.1188389882530565),
        (7.3, 0.0016, 4.875588097557838),
        (11.94, 0.05, 2.180027773393375),
        (480.5, 0.00625, 2.746478190570539),
        (20000.25, 0.05, 1.9600826036753074),
    ];
}
