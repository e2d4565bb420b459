use super::*;
use crate::comparison::finding::Scores;
use crate::comparison::rule::Rule;
use crate::comparison::statistics::Schedule;
use crate::measure::Measure;

fn found(pairs: &[[f64; 2]], comparisons: usize, schedule: Schedule) -> Finding {
    let scores = Scores::new("GELU", "ReLU", (1..).zip(pairs.iter().copied()).collect());
    judged(scores, comparisons, schedule)
}

fn judged(scores: Scores, comparisons: usize, schedule: Schedule) -> Finding {
    let rule = Rule { schedule, comparisons, alpha: 0.05, negligible: 0.001, judgement: None };
    Finding::of(scores, &rule, &Wording::of(&Measure::test_error()))
}

fn said(pairs: &[[f64; 2]], comparisons: usize) -> String {
    found(pairs, comparisons, Schedule::fixed(pairs.len() as u64)).sentence
}

/// Returns pairs in which the baseline's errors are around 2%, and the arm's differ from them by `differences`, in
/// points.
fn points(differences: &[f64]) -> Vec<[f64; 2]> {
    let seed = |(seed, d): (usize, &f64)| {
        let baseline = 0.02 + 1.234_567e-4 * seed as f64;
        [baseline + d / 100.0, baseline]
    };
    differences.iter().enumerate().map(seed).collect()
}

const AHEAD: [f64; 8] = [-0.31, -0.25, -0.4, -0.3, -0.35, -0.28, -0.33, -0.3];
const WIDE: [f64; 8] = [-0.5, 0.3, -0.2, 0.1, -0.4, 0.2, -0.3, 0.35];

#[test]
fn the_winner_comes_first_with_all_that_is_needed_to_check_it() {
    // All eight differences agree: p is 2 of 2^8, times two comparisons. ⌊0.025 · 256⌋ is 6, so the ends are the
    // third smallest and the third largest mean of subsets: 0.275 (of 0.25 and 0.3) and 0.365 (of 0.4 and 0.33).
    assert_eq!(
        said(&points(&AHEAD), 2),
        "GELU beats ReLU by 0.315 points of test error (97.5% interval 0.275 to 0.365; 8 seeds; p = 0.0156)."
    );
    let behind = said(&points(&AHEAD.map(|d| -d)), 1);
    assert!(behind.starts_with("ReLU beats GELU by 0.315 points"), "{behind}");
    assert!(behind.ends_with("8 seeds; p = 0.0078)."), "{behind}");
}

#[test]
fn sameness_is_said_with_its_bound_and_its_interval() {
    let small = [-0.02, -0.013, 0.021, -0.03, 0.02, -0.011, -0.022, 0.017];
    let text = said(&points(&small), 1);
    assert!(
        text.starts_with(
            "GELU and ReLU are the same within 0.1 points of test error (90% interval −0.0"
        ),
        "{text}"
    );
    assert!(text.ends_with("; 8 seeds)."), "{text}");
    assert!(said(&points(&small[..5]), 1).contains("the same within"), "1 of 2^5 is enough");
}

#[test]
fn too_few_seeds_are_told_how_many_can() {
    let text = said(&points(&AHEAD[..5]), 1);
    assert_eq!(
        text,
        "GELU and ReLU cannot be told apart yet: GELU is ahead by 0.322 points of test error (5 seeds). 5 seeds \
         cannot decide a comparison, whatever they show: that takes 6 or more (--seeds 6)."
    );
    assert!(said(&points(&AHEAD[..5]), 4).contains("cannot decide 4 comparisons"));
    let one = said(&points(&[-0.3]), 1);
    assert!(one.contains("GELU is ahead by 0.30 points of test error (1 seed)"), "{one}");
    assert!(said(&[], 1).contains("no pair of runs is complete yet"));
}

#[test]
fn before_the_test_may_decide_nothing_is_judged() {
    let text = found(&points(&AHEAD[..5]), 1, Schedule::until_decided(20)).sentence;
    assert_eq!(
        text,
        "GELU and ReLU, after 5 of at most 20 seeds: GELU is ahead by 0.322 points of test error."
    );
    let by_seed = (1..).zip(points(&AHEAD[..5])).collect();
    let waiting = Scores { outstanding: 6, ..Scores::new("GELU", "ReLU", by_seed) };
    let text = judged(waiting, 1, Schedule::fixed(8)).sentence;
    assert!(
        text.starts_with("GELU and ReLU, after 5 of 8 seeds: GELU is ahead by 0.322"),
        "{text}"
    );
    assert!(text.ends_with("of test error; 6 runs are still to come."), "{text}");
}

#[test]
fn undecided_says_how_many_seeds_would_decide_it_and_what_they_cost() {
    let text = said(&points(&[-0.5, 0.1, -0.4, 0.1, -0.45, 0.0, -0.3, 0.12]), 1);
    assert!(
        text.starts_with("GELU and ReLU cannot be told apart yet: GELU is ahead by 0.1"),
        "{text}"
    );
    assert!(
        text.contains("(95% interval −0.") && text.contains("; 8 seeds). If that is its true"),
        "{text}"
    );
    assert!(
        text.contains("in all would decide it; the chance of a wrong verdict in this table"),
        "{text}"
    );
    assert!(text.contains("then rises from 5% to "), "{text}");
}

#[test]
fn seeds_beyond_the_plan_are_said_with_their_price() {
    let mut pairs = points(&WIDE);
    pairs.extend(points(&[
        -2.0, -2.1, -1.9, -2.05, -1.95, -2.2, -2.1, -2.0, -1.8, -2.0, -2.1, -2.2,
    ]));
    let text = found(&pairs, 1, Schedule::fixed(8)).sentence;
    assert!(text.starts_with("GELU beats ReLU by"), "{text}");
    let price = "8 seeds were planned; with those that were added, the chance of a wrong verdict in this table rises \
                 from 5% to 6.5%.";
    assert!(text.ends_with(price), "{text}");
}

#[test]
fn what_later_seeds_contradict_lapses() {
    let mut differences = vec![-1.0, -1.1, -0.9, -1.2, -1.05, -0.95, -1.15, -1.02];
    differences.extend([9.0, 8.0, 9.5, 8.5]);
    let turned = found(&points(&differences), 1, Schedule::until_decided(20));
    assert_eq!(
        (turned.verdict, turned.lapsed, turned.decided_after),
        (Verdict::Undecided, true, Some(8))
    );
    assert_eq!((turned.p, turned.interval), (None, None));
    let text = &turned.sentence;
    assert!(
        text.starts_with(
            "GELU and ReLU cannot be told apart any more: later seeds contradict what 8 had shown. Now ReLU is ahead"
        ),
        "{text}"
    );
}

#[test]
fn seeds_that_change_nothing_decide_nothing() {
    let text = said(&[[0.03, 0.02]; 8], 1);
    assert!(
        text.starts_with(
            "GELU and ReLU cannot be told apart: their difference is the same at all 8"
        ),
        "{text}"
    );
    assert!(
        text.ends_with("If a program ignores its seed, its runs are copies of one run."),
        "{text}"
    );
}

#[test]
fn scores_of_any_size_are_said_with_digits_that_say_something() {
    let loss = |pairs: &[[f64; 2]]| {
        let scores = Scores::new("GELU", "ReLU", (1..).zip(pairs.iter().copied()).collect());
        let rule = Rule {
            schedule: Schedule::fixed(6),
            comparisons: 1,
            alpha: 0.05,
            negligible: 0.0,
            judgement: None,
        };
        Finding::of(scores, &rule, &Wording::of(&Measure::named("loss"))).sentence
    };
    // ⌊0.05 · 64⌋ / 2 is 1, so the ends are the smallest and the largest difference.
    let pairs = |size: f64| {
        let pair = |d: f64| [(3.0 + d) * size, (3.0 + 2.0 * d) * size];
        [1.0, 1.1, 1.2, 1.3, 1.4, 1.5].map(pair)
    };
    let tiny = loss(&pairs(1e-9));
    assert!(
        tiny.contains("beats ReLU by 1.25e-9 of loss (95% interval 1.00e-9 to 1.50e-9; 6"),
        "{tiny}"
    );
    let small = loss(&pairs(1e-200));
    assert!(small.contains("by 1.25e-200 of loss (95% interval 1.00e-200 to 1.50e-200"), "{small}");
    let large = loss(&pairs(1e200));
    assert!(large.contains("by 1.25e200 of loss (95% interval 1.00e200 to 1.50e200"), "{large}");
    let noise = loss(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5].map(|k| [(0.1 + 0.2) * k, 0.3 * k]));
    assert!(
        noise.starts_with(
            "GELU and ReLU cannot be told apart: they have the same score at all 6 seeds"
        ),
        "{noise}"
    );
    let apart = loss(&[[-1e308, 1e308]; 6]);
    assert!(apart.contains("ReLU"), "{apart}");
}

#[test]
fn divergence_takes_the_place_of_a_mean() {
    let mut pairs = points(&[-0.1, -0.11, -0.12, -0.1, -0.13, -0.09, -0.1, -0.14]);
    for pair in &mut pairs[..3] {
        pair[0] = f64::INFINITY;
    }
    let text = said(&pairs, 1);
    assert!(
        text.ends_with("cannot be told apart yet: GELU diverged in 3 of 8 runs (8 seeds)."),
        "{text}"
    );
    assert!(!text.contains("interval") && !text.contains("inf"), "{text}");
    let lost = said(&[[f64::INFINITY, 0.02]; 8], 1);
    assert_eq!(
        lost,
        "ReLU beats GELU in test error: GELU diverged in 8 of 8 runs (8 seeds; p = 0.0078)."
    );
}

#[test]
fn the_other_metric_must_not_get_worse() {
    let of = |worse: f64| {
        let loss =
            |seed: u64| (seed, [1.0 + worse + 1e-3 * seed as f64, 1.0 + 1.1e-3 * seed as f64]);
        let guard = Guard {
            wording: Wording::of(&Measure::named("loss")),
            margin: 0.01,
            by_seed: (1..=8).map(loss).collect(),
        };
        let by_seed = (1..).zip(points(&AHEAD)).collect();
        let scores = Scores { guard: Some(guard), ..Scores::new("GELU", "ReLU", by_seed) };
        judged(scores, 1, Schedule::fixed(8))
    };
    let kept = of(0.001);
    assert_eq!((kept.verdict, kept.no_worse), (Verdict::Better, Some(true)));
    assert!(
        kept.sentence.ends_with("p = 0.0078), and is at most 0.01 worse in loss."),
        "{}",
        kept.sentence
    );
    let lost = of(0.02);
    assert_eq!((lost.verdict, lost.no_worse), (Verdict::Undecided, Some(false)));
    assert!(
        lost.sentence.starts_with(
            "GELU beats ReLU in test error, but may be worse in loss by more than 0.01"
        ),
        "{}",
        lost.sentence
    );
}

#[test]
fn levels_are_said_with_two_digits_of_what_they_lack() {
    let said = [0.95, 0.9, 0.975, 1.0 - 0.05 / 3.0, 0.9975, 1.0 - 0.05 * 0.16].map(level);
    assert_eq!(said, ["95%", "90%", "97.5%", "98.3%", "99.75%", "99.2%"]);
}

#[test]
fn a_difference_below_the_margin_is_the_same_and_still_a_difference() {
    let small = AHEAD.map(|d| d / 10.0);
    let finding = found(&points(&small), 1, Schedule::fixed(8));
    assert!(
        finding.sentence.starts_with("GELU and ReLU are the same within 0.1 points"),
        "{finding:?}"
    );
    let details = finding.details.unwrap();
    assert!(
        details.contains("does not contain 0: they differ, by less than the 0.1 points"),
        "{details}"
    );
    // If the interval contains 0, the details do not mention it.
    let around = found(&points(&WIDE.map(|d| d / 20.0)), 1, Schedule::fixed(8));
    assert!(
        around.sentence.contains("are the same") && !around.details.unwrap().contains("contain 0")
    );
}
