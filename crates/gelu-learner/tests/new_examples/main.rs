//! Tests of the interval over new examples: a comparison with numpy on random outcomes (`new_examples.py` in this
//! folder makes `new_examples.json`), and a simulation of its coverage. `GELU_SIMULATIONS=20000` simulates 20,000
//! tables of each kind.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use gelu_compare::comparison::statistics::Mean;
use gelu_learner::networks::{NewExamples, Outcomes, TestGroups, new_examples};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Deserialize)]
struct Case {
    kind: String,
    alpha: f64,
    sizes: Vec<usize>,
    a: Vec<Run>,
    b: Vec<Run>,
    expected: Option<NewExamples>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Run {
    Losses(Vec<f32>),
    Errors(Vec<String>),
}

fn bits(text: &str) -> Vec<bool> {
    text.bytes().map(|byte| byte == b'1').collect()
}

fn outcomes(case: &Case, run: &Run) -> Outcomes {
    let groups = TestGroups::of_sizes(case.sizes.iter().copied());
    match run {
        Run::Losses(losses) => Outcomes::of_losses(1, groups, losses.clone()),
        Run::Errors(levels) if case.kind == "errors" => {
            Outcomes::of_errors(1, groups, bits(&levels[0]))
        }
        Run::Errors(levels) => {
            let levels = (1..).zip(levels).map(|(a, level)| (f64::from(a), bits(level)));
            Outcomes::of_noise(1, groups, levels.collect())
        }
    }
}

#[test]
fn intervals_over_new_examples_are_those_of_numpy() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("new_examples.json")).unwrap();
    let (mut intervals, mut none) = (0, 0);
    for (index, case) in cases.iter().enumerate() {
        let of = |runs: &[Run]| runs.iter().map(|run| outcomes(case, run)).collect::<Vec<_>>();
        let (a, b) = (of(&case.a), of(&case.b));
        let pairs: Vec<[&Outcomes; 2]> = a.iter().zip(&b).map(|(a, b)| [a, b]).collect();
        let found = new_examples(&pairs, case.alpha).ok();
        assert_eq!(found.map(|f| f.groups), case.expected.map(|e| e.groups), "case {index}");
        let (Some(found), Some(expected)) = (found, case.expected) else {
            none += 1;
            continue;
        };
        intervals += 1;
        for (found, expected) in [(found.low, expected.low), (found.high, expected.high)] {
            let close = (found - expected).abs() <= 1e-7 * expected.abs().max(1e-3);
            assert!(close, "case {index}: {found}, numpy has {expected}");
        }
    }
    assert!(intervals >= 40 && none >= 3, "{intervals} intervals, {none} without one");
}

/// Number of simulated tables of each kind. With 300, the standard error of a coverage of 95% is 1.3 points.
fn repetitions() -> usize {
    let asked = std::env::var("GELU_SIMULATIONS").ok();
    asked.map_or(300, |text| text.parse().unwrap())
}

/// Returns a standard normal random number, by Box and Muller.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius: f64 = random.random::<f64>();
    (-2.0 * (1.0 - radius).ln()).sqrt() * (TAU * random.random::<f64>()).cos()
}

/// The share of 95% intervals that cover the true difference, 0: of intervals over new examples, and of intervals
/// over seeds on one test set.
#[derive(Debug, Default)]
struct Coverage {
    new_examples: f64,
    seeds: f64,
}

/// Simulates comparisons; `table` samples the outcomes of both runs of every seed.
fn simulate(table: impl Fn(&mut ChaCha8Rng) -> Vec<[Outcomes; 2]>) -> Coverage {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_123);
    let mut coverage = Coverage::default();
    for _ in 0..repetitions() {
        let pairs = table(&mut random);
        let pairs: Vec<[&Outcomes; 2]> = pairs.iter().map(|[a, b]| [a, b]).collect();
        let found = new_examples(&pairs, 0.05).unwrap();
        let differences: Vec<f64> = pairs.iter().map(|[a, b]| a.mean() - b.mean()).collect();
        let [low, high] = Mean::of(&differences).unwrap().interval(0.05);
        coverage.new_examples += f64::from(found.low <= 0.0 && 0.0 <= found.high);
        coverage.seeds += f64::from(low <= 0.0 && 0.0 <= high);
    }
    let repetitions = repetitions() as f64;
    coverage.new_examples /= repetitions;
    coverage.seeds /= repetitions;
    coverage
}

/// Asserts that the coverage is within 4 standard errors of `range`.
#[track_caller]
fn assert_covers(what: &str, coverage: &Coverage, range: [f64; 2]) {
    eprintln!("{what}: {coverage:?}");
    let slack = 4.0 * (0.05 * 0.95 / repetitions() as f64).sqrt();
    let [low, high] = range;
    let found = coverage.new_examples;
    assert!(low - slack <= found && found <= high + slack, "{what}: {coverage:?}");
}

/// Returns a sampler of differences that are sums of an effect of the seed, one of the group and one of both. `parts`
/// are their contributions to the variance of the mean, all in the same unit.
fn nested(
    seeds: usize,
    groups: &TestGroups,
    parts: [f64; 3],
) -> impl Fn(&mut ChaCha8Rng) -> Vec<[Outcomes; 2]> {
    let [of_seeds, of_groups, of_both] = parts.map(f64::sqrt);
    let count = groups.len() as f64;
    let scales = [seeds as f64, count, seeds as f64 * count].map(f64::sqrt);
    let zero = Outcomes::of_losses(1, groups.clone(), vec![0.0; groups.examples()]);
    move |random| {
        let by_group: Vec<f64> =
            groups.sizes().map(|_| of_groups * scales[1] * normal(random)).collect();
        let mut seed = || {
            let by_seed = of_seeds * scales[0] * normal(random);
            let mut losses = Vec::with_capacity(groups.examples());
            for (size, group) in groups.sizes().zip(&by_group) {
                let d = by_seed + group + of_both * scales[2] * normal(random);
                losses.extend(std::iter::repeat_n(d as f32, size));
            }
            [Outcomes::of_losses(1, groups.clone(), losses), zero.clone()]
        };
        (0..seeds).map(|_| seed()).collect()
    }
}

#[test]
fn means_over_new_examples_are_covered_whatever_varies() {
    let mut without_it = Vec::new();
    for (seeds, groups) in [(8, 2_000), (12, 500), (20, 300)] {
        let singles = TestGroups::singles(groups);
        for parts in [[1.0, 0.1, 0.2], [1.0, 1.0, 0.2], [0.1, 1.0, 0.2], [0.1, 0.1, 1.0]] {
            let coverage = simulate(nested(seeds, &singles, parts));
            let what = format!("{seeds} seeds, {groups} examples, variances {parts:?}");
            assert_covers(&what, &coverage, [0.945, 0.975]);
            if parts[1] == 1.0 {
                without_it.push(coverage.seeds);
            }
        }
    }
    assert!(without_it.iter().all(|&seeds| seeds < 0.92), "over seeds alone: {without_it:?}");
}

#[test]
fn groups_of_unequal_size_are_covered_too() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    // Groups of different sizes, like the words of tweets or the frames of recordings.
    let sizes = |random: &mut ChaCha8Rng, groups: usize, spread: f64| {
        let size = |_| 1 + (12.0 * (spread * normal(random)).exp()) as usize;
        TestGroups::of_sizes((0..groups).map(size).collect::<Vec<_>>())
    };
    for (seeds, groups, spread, range) in
        [(8, 500, 0.5, [0.945, 0.97]), (20, 300, 0.5, [0.945, 0.97]), (8, 40, 1.0, [0.90, 0.98])]
    {
        let groups = sizes(&mut random, groups, spread);
        let coverage = simulate(nested(seeds, &groups, [0.3, 1.0, 0.2]));
        assert_covers(
            &format!("{seeds} seeds, {} groups, {spread}", groups.len()),
            &coverage,
            range,
        );
    }
}

/// Errors like those of classifiers: the words of a tweet are hard together, each of the two arms has its own
/// weaknesses, and neither is better.
#[test]
fn shares_of_errors_over_new_groups_are_covered() {
    let (seeds, tweets) = (12, 400);
    let coverage = simulate(|random| {
        let groups = TestGroups::of_sizes((0..tweets).map(|_| random.random_range(4..25)));
        let mut effects = |count: usize, scale: f64| -> Vec<f64> {
            (0..count).map(|_| scale * normal(random)).collect()
        };
        let (hard, examples) = (effects(tweets, 0.8), effects(groups.examples(), 1.0));
        let weak = [effects(tweets, 0.4), effects(tweets, 0.4)];
        let of_run = effects(2 * seeds, 0.05);
        let mut run = |arm: usize, seed: usize| {
            let mut example = 0;
            let mut wrong = Vec::with_capacity(examples.len());
            for (group, size) in groups.sizes().enumerate() {
                for _ in 0..size {
                    let level = hard[group] + weak[arm][group] + examples[example];
                    let level = level + of_run[2 * seed + arm] + 0.7 * normal(random);
                    wrong.push(level > 1.5);
                    example += 1;
                }
            }
            Outcomes::of_errors(1, groups.clone(), wrong.into_iter().collect())
        };
        (0..seeds).map(|seed| [run(0, seed), run(1, seed)]).collect()
    });
    assert_covers("errors of tweets", &coverage, [0.94, 0.975]);
    assert!(coverage.seeds < 0.85, "{coverage:?}");
}
