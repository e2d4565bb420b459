//! Verdicts as sentences that a person can repeat.

use super::doubt::doubt;
use super::found::Found;
use super::statistics::Mean;
use super::verdict::{ALPHA, Verdict};
use super::wording::{Wording, p_value, percent};

/// The verdict in one sentence, and in further ones what it cost and what makes one doubt it.
pub fn sentence(found: &Found, wording: &Wording) -> String {
    let (a, b) = (&found.arm, &found.baseline);
    let ruling = &found.ruling;
    if ruling.pairs.is_empty() {
        return format!("{a} against {b}: no pair of runs is complete yet.");
    }
    let measure = wording.measure();
    let said = match (ruling.verdict, found.mean()) {
        (Verdict::Better | Verdict::Worse, mean) => {
            let (winner, loser) = if ruling.verdict == Verdict::Better { (a, b) } else { (b, a) };
            let by = match mean {
                Some(mean) => {
                    let size = wording.number(mean.mean.abs(), resolution(found));
                    format!("{size}{} of {measure}", wording.unit())
                }
                None => format!("{measure}: {}", divergence(found)),
            };
            let by_or_in = if mean.is_some() { "by" } else { "in" };
            format!("{winner} beats {loser} {by_or_in} {by} ({})", evidence(found, wording))
        }
        (Verdict::Same, _) => format!(
            "{a} and {b} are the same within {} of {measure} ({}; {})",
            wording.short(found.rules.negligible),
            lead(found, wording, ""),
            evidence(found, wording),
        ),
        (Verdict::Undecided, _) if ruling.p.is_none() => so_far(found, wording),
        (Verdict::Undecided, _) => format!(
            "{a} against {b} is undecided: {} ({}){}",
            lead(found, wording, &format!(" of {measure}")),
            evidence(found, wording),
            what_would_decide(found),
        ),
    };
    let doubt = doubt(found).map_or_else(String::new, |doubt| format!(" {doubt}"));
    format!("{said}.{}{doubt}", price(found))
}

/// Before a look nothing is judged.
fn so_far(found: &Found, wording: &Wording) -> String {
    let (a, b) = (&found.arm, &found.baseline);
    let ruling = &found.ruling;
    let planned = ruling.next.map_or(0, |look| look.seeds);
    let come = match found.outstanding {
        0 => String::new(),
        1 => "; 1 run is still to come".to_owned(),
        runs => format!("; {runs} runs are still to come"),
    };
    format!(
        "{a} against {b}, after {} of {planned} seeds: {}{come}",
        ruling.pairs.len(),
        lead(found, wording, &format!(" of {}", wording.measure())),
    )
}

/// `GELU is ahead by 0.12 points`, followed by `of_measure`; with a diverged run, who diverged.
fn lead(found: &Found, wording: &Wording, of_measure: &str) -> String {
    let (a, b) = (&found.arm, &found.baseline);
    let pairs = &found.ruling.pairs;
    if pairs.any_diverged() || pairs.any_too_far_apart() {
        return divergence(found);
    }
    let mean = found.mean().map_or_else(|| pairs.differences()[0], |mean| mean.mean);
    if mean.abs() * pairs.len() as f64 <= pairs.tolerance() {
        return "the mean difference is 0".to_owned();
    }
    let size = wording.number(mean.abs(), resolution(found));
    let leader = if mean < 0.0 { a } else { b };
    format!("{leader} is ahead by {size}{}{of_measure}", wording.unit())
}

/// Half the width of the interval; no number where there is none.
fn resolution(found: &Found) -> f64 {
    found.interval().map_or(f64::NAN, |[low, high]| (high - low) / 2.0)
}

/// `interval 8.82 to 16.58; 12 seeds; p = 0.004`, the interval that of the lead of who is ahead.
fn evidence(found: &Found, wording: &Wording) -> String {
    let ruling = &found.ruling;
    let count = ruling.pairs.len();
    let mut parts = Vec::new();
    if let (Some(mean), Some(interval)) = (found.mean(), found.interval()) {
        parts.push(format!("interval {}", wording.interval(of_lead(mean, interval))));
    }
    parts.push(if count == 1 { "1 seed".to_owned() } else { format!("{count} seeds") });
    let tested = ruling.verdict != Verdict::Same && !ruling.too_few();
    if let Some(p) = ruling.p_adjusted().filter(|_| tested) {
        let said = p_value(p);
        let equals = if said.starts_with('<') { "" } else { "= " };
        parts.push(format!("p {equals}{said}"));
    }
    parts.extend(new_examples(found, wording));
    parts.join("; ")
}

/// What the difference is for new test examples: `on new pictures 8.1 to 17.3`.
fn new_examples(found: &Found, wording: &Wording) -> Option<String> {
    let (mean, seeds) = (found.mean()?, found.interval()?);
    let new = found.new_examples()?;
    let [new, seeds] = [[new.low, new.high], seeds].map(|ends| of_lead(mean, ends));
    Some(match seeds[0] > 0.0 && new[0] <= 0.0 {
        true => format!("on {}: on new ones it may be none", wording.these_examples()),
        false => format!("on new {} {}", wording.examples(), wording.interval(new)),
    })
}

/// An interval of arm − baseline as that of the lead of who is ahead.
fn of_lead(mean: Mean, [low, high]: [f64; 2]) -> [f64; 2] {
    if mean.mean < 0.0 { [-high, -low] } else { [low, high] }
}

/// What follows an undecided comparison.
fn what_would_decide(found: &Found) -> String {
    let ruling = &found.ruling;
    if ruling.too_few() {
        return match found.rules.fewest_pairs() {
            Some(fewest) => format!("; to tell better from worse takes {fewest} seeds or more"),
            None => "; these are too many comparisons to tell better from worse".to_owned(),
        };
    }
    if ruling.pairs.any_diverged() || ruling.pairs.any_too_far_apart() {
        return String::new();
    }
    match found.forecast() {
        Some(forecast) => {
            let more = match forecast.further {
                1 => "one more seed".to_owned(),
                further => format!("about {further} more seeds"),
            };
            let looks = &found.rules.looks;
            let err = ALPHA * (looks.spent(looks.last()) + looks.added().share);
            format!(
                "; {more} would probably decide it, in a look that was not planned: then up to {} of \
                 tables err",
                percent(err)
            )
        }
        None => "; these seeds do not tell how many more would decide it".to_owned(),
    }
}

/// What a look that was not planned costs: said wherever one was taken.
fn price(found: &Found) -> String {
    let Some(look) = found.ruling.look.filter(|look| !look.planned) else {
        return String::new();
    };
    let looks = &found.rules.looks;
    let position = looks.iter().take_while(|other| other.seeds <= look.seeds).count();
    let ordinal = match position {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        other => format!("{other}th"),
    };
    format!(
        " This was a {ordinal} look, which was not planned: together the looks err in at most {} of \
         tables.",
        percent(ALPHA * looks.spent(look))
    )
}

/// What stands beside a verdict, for those who check it: how much of the variance pairing left,
/// and what so many pairs can show.
pub fn details(found: &Found, wording: &Wording) -> Option<String> {
    let detectable = found.smallest_detectable()?;
    let pairs = &found.ruling.pairs;
    let paired = match pairs.variance_ratio() {
        Some(ratio) => format!("; pairing left {ratio:.2} of the two variances' sum"),
        None => String::new(),
    };
    let apart = match found.built_differently {
        true => {
            "; their networks are built differently, so that seeds pair batches and draws alone"
        }
        false => "",
    };
    let (a, b) = (&found.arm, &found.baseline);
    let ties = match pairs.ties() {
        0 => String::new(),
        ties => format!(", equal in {ties}"),
    };
    Some(format!(
        "{a} against {b}: better in {} of {}{ties}; so many seeds show differences from {}{} on with \
         80 % power{paired}{apart}",
        pairs.better(),
        pairs.len(),
        wording.number(detectable, detectable),
        wording.unit(),
    ))
}

/// Why there is no mean: `3 of 8 runs of ELU diverged, and 1 of GELU`.
fn divergence(found: &Found) -> String {
    if !found.ruling.pairs.any_diverged() {
        return "scores are further apart than the largest number".to_owned();
    }
    let count = found.ruling.pairs.len();
    let [of_a, of_b] = found.ruling.pairs.diverged();
    let (a, b) = (&found.arm, &found.baseline);
    let of = |diverged: usize, name: &str| format!("{diverged} of {count} runs of {name}");
    let who = match (of_a, of_b) {
        (_, 0) => of(of_a, a),
        (0, _) => of(of_b, b),
        _ => format!("{} and {}", of(of_a, a), of(of_b, b)),
    };
    format!("{who} diverged")
}

#[cfg(test)]
mod tests {
    use super::super::contrast::{Contrast, Rules};
    use super::*;
    use crate::measure::{Looks, Measure};

    fn by_looks(pairs: &[[f64; 2]], comparisons: usize, looks: Looks) -> Found {
        let by_seed = (1..).zip(pairs.iter().copied()).collect();
        let rules = Rules { comparisons, looks, negligible: 0.001 };
        Found::of_scores("GELU", "ReLU", &Contrast { by_seed }, &rules)
    }

    fn of(pairs: &[[f64; 2]], comparisons: usize) -> Found {
        by_looks(pairs, comparisons, Looks::once(pairs.len() as u64))
    }

    fn said(found: &Found) -> String {
        sentence(found, &Wording::of(&Measure::test_error()))
    }

    /// Errors of the baseline around 2 %, and these differences from it, in points.
    fn points(differences: &[f64]) -> Vec<[f64; 2]> {
        let seed = |(seed, d): (usize, &f64)| {
            let baseline = 0.02 + 1e-4 * seed as f64;
            [baseline + d / 100.0, baseline]
        };
        differences.iter().enumerate().map(seed).collect()
    }

    const AHEAD: [f64; 8] = [-0.31, -0.25, -0.4, -0.3, -0.35, -0.28, -0.33, -0.3];
    const WIDE: [f64; 8] = [-0.5, 0.3, -0.2, 0.1, -0.4, 0.2, -0.3, 0.35];

    #[test]
    fn the_winner_comes_first_with_all_that_is_needed_to_check_it() {
        // scipy.stats.t.interval(0.975, 7, mean, sem): −0.360784 to −0.269216.
        assert_eq!(
            said(&of(&points(&AHEAD), 2)),
            "GELU beats ReLU by 0.315 points of test error (interval 0.269 to 0.361; 8 seeds; \
             p = 0.0156)."
        );
        let behind = said(&of(&points(&AHEAD.map(|d| -d)), 1));
        assert!(behind.starts_with("ReLU beats GELU by 0.315 points"), "{behind}");
        assert!(behind.ends_with("8 seeds; p = 0.0078)."), "{behind}");
    }

    #[test]
    fn sameness_is_said_with_its_bound_and_who_is_ahead() {
        let small = [-0.02, -0.01, -0.02, -0.03, -0.02, -0.01, -0.02, -0.02];
        let text = said(&of(&points(&small), 1));
        assert!(
            text.starts_with(
                "GELU and ReLU are the same within 0.1 points of test error (GELU is ahead by \
                 0.0187 points; interval 0.0"
            ),
            "{text}"
        );
        assert!(text.ends_with("; 8 seeds)."), "{text}");
        let none = said(&of(&points(&[0.0; 8]), 1));
        assert!(none.contains("(the mean difference is 0; interval 0.00 to 0.00"), "{none}");
    }

    #[test]
    fn too_few_seeds_are_told_how_many_can() {
        let text = said(&of(&points(&AHEAD[..5]), 1));
        assert_eq!(
            text,
            "GELU against ReLU is undecided: GELU is ahead by 0.322 points of test error (interval \
             0.252 to 0.392; 5 seeds); to tell better from worse takes 7 seeds or more."
        );
        let text = said(&of(&points(&AHEAD[..5]), 4));
        assert!(text.ends_with("takes 9 seeds or more."), "{text}");
        let one = said(&of(&points(&[-0.3]), 1));
        assert!(one.contains("GELU is ahead by 0.30 points of test error (1 seed)"), "{one}");
        assert!(said(&of(&[], 1)).contains("no pair of runs is complete yet"));
    }

    #[test]
    fn between_looks_nothing_is_judged() {
        let text = said(&by_looks(&points(&AHEAD[..5]), 1, Looks::until_decided(20)));
        assert_eq!(
            text,
            "GELU against ReLU, after 5 of 10 seeds: GELU is ahead by 0.322 points of test error."
        );
        let mut waiting = by_looks(&points(&AHEAD[..5]), 1, Looks::once(8));
        waiting.outstanding = 6;
        assert!(said(&waiting).ends_with("of test error; 6 runs are still to come."));
    }

    #[test]
    fn undecided_says_how_many_more_and_what_they_cost() {
        let text = said(&of(&points(&WIDE), 1));
        assert!(text.starts_with("GELU against ReLU is undecided: GELU is ahead by"), "{text}");
        assert!(
            text.contains("would probably decide it, in a look that was not planned"),
            "{text}"
        );
        assert!(text.ends_with("then up to 7.5 % of tables err."), "{text}");
        let open: Vec<f64> = (0..20).map(|i| WIDE[i % 8]).collect();
        let text = said(&by_looks(&points(&open), 1, Looks::until_decided(20)));
        assert!(text.ends_with("then up to 5.83 % of tables err."), "{text}");
        let level: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 50.0 } else { -50.0 }).collect();
        let text = said(&of(&points(&level), 1));
        assert!(text.ends_with("these seeds do not tell how many more would decide it."), "{text}");
    }

    #[test]
    fn a_look_that_was_not_planned_is_said_with_its_price() {
        let mut pairs = points(&WIDE);
        pairs.extend(points(&[-2.0; 12]));
        let text = said(&by_looks(&pairs, 1, Looks::once(8).with_added([20])));
        assert!(text.starts_with("GELU beats ReLU by"), "{text}");
        assert!(
            text.ends_with(
                "This was a second look, which was not planned: together the looks err in at most \
                 7.5 % of tables."
            ),
            "{text}"
        );
    }

    #[test]
    fn what_holds_for_new_examples_is_said_and_where_it_may_be_none() {
        use crate::measure::{Bits, Outcomes, TestGroups};
        use std::sync::Arc;
        // The activation is wrong in the first `wrong` pictures of 100, the baseline in 20 others.
        let of = |wrong: [usize; 8], groups: TestGroups| {
            let outcomes = |range: std::ops::Range<usize>| {
                let bits = (0..100).map(|picture| range.contains(&picture)).collect::<Bits>();
                Arc::new(Outcomes::of_errors(1, groups.clone(), bits))
            };
            let errors: Vec<[f64; 2]> = wrong.map(|count| [count as f64 / 100.0, 0.2]).to_vec();
            let mut found = of(&errors, 1);
            found.outcomes = wrong.map(|count| [outcomes(0..count), outcomes(80..100)]).to_vec();
            said(&found)
        };
        let many = of([2, 3, 2, 3, 2, 3, 2, 3], TestGroups::singles(100));
        assert!(many.starts_with("GELU beats ReLU by 17.50 points"), "{many}");
        assert!(many.contains("p = 0.0078; on new examples "), "{many}");
        let few = of([16, 17, 16, 17, 16, 17, 16, 17], TestGroups::singles(100));
        assert!(
            few.contains(
                "; on these examples: on new ones it may be none). All 8 seeds of ReLU have one"
            ),
            "{few}"
        );
    }

    #[test]
    fn scores_of_any_size_are_said_with_digits_that_say_something() {
        let loss = |pairs: &[[f64; 2]]| {
            let by_seed = (1..).zip(pairs.iter().copied()).collect();
            let rules = Rules { comparisons: 1, looks: Looks::once(6), negligible: 0.0 };
            let found = Found::of_scores("GELU", "ReLU", &Contrast { by_seed }, &rules);
            sentence(&found, &Wording::of(&Measure::named("loss")))
        };
        // Differences −1, −1.1, …: 1.25 ± 2.570582 · 0.187083 / √6, t by scipy.stats.t.ppf(0.975, 5).
        let pairs = |size: f64| {
            let pair = |d: f64| [(3.0 + d) * size, (3.0 + 2.0 * d) * size];
            [1.0, 1.1, 1.2, 1.3, 1.4, 1.5].map(pair)
        };
        let tiny = loss(&pairs(1e-9));
        assert!(
            tiny.contains("beats ReLU by 1.25e-9 of loss (interval 1.05e-9 to 1.45e-9; 6"),
            "{tiny}"
        );
        let small = loss(&pairs(1e-200));
        assert!(small.contains("by 1.25e-200 of loss (interval 1.05e-200 to 1.45e-200"), "{small}");
        let large = loss(&pairs(1e200));
        assert!(large.contains("by 1.25e200 of loss (interval 1.05e200 to 1.45e200"), "{large}");
        let noise = loss(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5].map(|k| [(0.1 + 0.2) * k, 0.3 * k]));
        assert!(
            noise.starts_with("GELU against ReLU is undecided: the mean difference is 0"),
            "{noise}"
        );
        let apart = loss(&[[-1e308, 1e308]; 6]);
        assert!(
            apart.starts_with(
                "GELU beats ReLU in loss: scores are further apart than the largest number (6"
            ),
            "{apart}"
        );
    }

    #[test]
    fn divergence_takes_the_place_of_a_mean() {
        let mut pairs = points(&[-0.1; 8]);
        for pair in &mut pairs[..3] {
            pair[0] = f64::INFINITY;
        }
        let text = said(&of(&pairs, 1));
        assert!(text.contains("undecided: 3 of 8 runs of GELU diverged (8 seeds; p ="), "{text}");
        assert!(!text.contains("interval") && !text.contains("inf"), "{text}");
        let lost = said(&of(&[[f64::INFINITY, 0.02]; 8], 1));
        assert_eq!(
            lost,
            "ReLU beats GELU in test error: 8 of 8 runs of GELU diverged (8 seeds; p = 0.0078)."
        );
    }
}
