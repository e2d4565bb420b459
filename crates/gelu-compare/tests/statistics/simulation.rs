//! Simulations: how often verdicts err, when they find an existing difference, and whether forecasts are right. The
//! book's page "How a verdict is made" has the results.
//!
//! `GELU_SIMULATED_TABLES=1000 cargo test --release --test statistics simulated -- --nocapture` prints the book's
//! numbers. With `GELU_SIMULATION_PICTURE=FILE.svg` it also draws the book's image. Without the variable it simulates
//! fewer tables.

use super::tables::{Spread, at_most, interval, normal, simulate, tables, wrong};
use gelu_compare::comparison::colour;
use gelu_compare::comparison::statistics::{
    Decision, Mean, PairedTest, Schedule, Standing, forecast,
};
use gelu_compare::report::{Curve, Figure, Panel, svg};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const ALPHA: f64 = 0.05;
/// δ, in standard deviations of a score.
const MARGIN: f64 = 0.6;
const SCHEDULES: [Schedule; 4] = [
    Schedule::fixed(8),
    Schedule::fixed(20),
    Schedule::until_decided(8),
    Schedule::until_decided(20),
];

fn name(schedule: Schedule) -> String {
    let kind = if schedule.until_decided { "until decided, at most" } else { "fixed," };
    format!("{kind} {} seeds", schedule.seeds)
}

#[test]
fn simulated_tables_err_in_no_more_than_one_of_twenty() {
    const HELD: [Spread; 7] = [
        Spread::Normal,
        Spread::T3,
        Spread::Cauchy,
        Spread::Steps,
        Spread::Offset,
        Spread::Diverging,
        Spread::Unequal,
    ];
    let count = tables();
    let mut panels = Vec::new();
    for schedule in SCHEDULES {
        let mut curves = Vec::new();
        for (kind, spread) in HELD.into_iter().enumerate() {
            let mut points = Vec::new();
            for comparisons in [1, 3] {
                let levels = vec![0.0; comparisons];
                let found = wrong(&levels, spread, schedule, 0.0, schedule.seeds, count);
                println!(
                    "{}, {comparisons} comparisons, {spread:?}: {:.1}% wrong",
                    name(schedule),
                    100.0 * found
                );
                assert!(
                    found <= at_most(ALPHA, count),
                    "{schedule:?}, {comparisons}, {spread:?}: {found}"
                );
                points.push((comparisons as f64, 100.0 * found));
            }
            curves.push(curve(Some(format!("{spread:?}")), kind, points));
        }
        // The promised rate, and 0, so that the axis starts there.
        for level in [ALPHA, 0.0] {
            curves.push(curve(None, 7, vec![(1.0, 100.0 * level), (3.0, 100.0 * level)]));
        }
        panels.push(Panel { title: name(schedule), y_axis: "wrong tables, %".to_owned(), curves });
    }
    if let Some(path) = std::env::var_os("GELU_SIMULATION_PICTURE") {
        let figure = Figure {
            title: "Tables with a wrong verdict".to_owned(),
            caption: format!(
                "{count} simulated tables per point, no difference; dashed: the promise"
            ),
            x_axis: "comparisons in the table".to_owned(),
            logarithmic: false,
            panels,
        };
        std::fs::write(path, svg(&figure)).unwrap();
    }
}

fn curve(label: Option<String>, position: usize, points: Vec<(f64, f64)>) -> Curve {
    let dashed = label.is_none();
    Curve { label, colour: colour(position), dashed, points, band: Vec::new() }
}

/// Half of the differences are 0, half are δ. For the latter, *same* is wrong, as well as *better* and *worse*.
#[test]
fn simulated_tables_of_zero_and_margin_err_no_more() {
    let count = tables();
    for schedule in SCHEDULES {
        let found = wrong(
            &[0.0, MARGIN, 0.0, MARGIN],
            Spread::Normal,
            schedule,
            MARGIN,
            schedule.seeds,
            count,
        );
        println!("{}, 0 and δ mixed: {:.1}% wrong", name(schedule), 100.0 * found);
        assert!(found <= at_most(ALPHA, count), "{schedule:?}: {found}");
    }
}

#[test]
fn simulated_tables_that_go_on_beyond_the_plan_err_as_the_sentence_says() {
    let count = tables();
    for schedule in SCHEDULES {
        for comparisons in [1, 3] {
            let found = wrong(&vec![0.0; comparisons], Spread::Normal, schedule, 0.0, 40, count);
            println!(
                "{}, gone on to 40, {comparisons}: {:.1}% wrong",
                name(schedule),
                100.0 * found
            );
            assert!(found <= at_most(ALPHA * schedule.spent(40), count), "{schedule:?}: {found}");
        }
    }
}

/// The error rate when the assumption does not hold. It is printed, and only roughly checked.
#[test]
fn simulated_tables_of_skewed_scores_err_more_often() {
    let count = tables();
    for schedule in [Schedule::fixed(8), Schedule::fixed(20)] {
        for spread in [Spread::Failing, Spread::Skewed] {
            let found = wrong(&[0.0], spread, schedule, 0.0, schedule.seeds, count);
            println!("{}, {spread:?}: {:.1}% wrong", name(schedule), 100.0 * found);
            assert!(found > 0.0 && found < 0.9, "{schedule:?}, {spread:?}: {found}");
        }
    }
}

fn ends(schedule: Schedule, effect: f64, count: usize) -> Vec<Standing> {
    let table = |table: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(20_260_102 + table as u64);
        // The unit is a standard deviation of the difference.
        let pair = |random: &mut ChaCha8Rng| [normal(random) - effect, 0.0];
        let pairs: Vec<[f64; 2]> = (0..schedule.seeds).map(|_| pair(&mut random)).collect();
        PairedTest::new(&pairs, schedule, ALPHA, 0.0).standing()
    };
    (0..count).into_par_iter().map(table).collect()
}

#[test]
fn simulated_effects_are_found_and_the_sooner_the_larger_they_are() {
    let count = tables();
    let mut before = (0.0, 21.0);
    for effect in [0.5, 1.0, 1.5, 2.0] {
        let share = |ends: &[Standing]| {
            let found = ends.iter().filter(|end| end.decision == Some(Decision::Below)).count();
            found as f64 / count as f64
        };
        let open = ends(Schedule::until_decided(20), effect, count);
        let seeds: usize = open.iter().map(|end| end.after.unwrap_or(20)).sum();
        let now = (share(&open), seeds as f64 / count as f64);
        let fixed = share(&ends(Schedule::fixed(20), effect, count));
        println!(
            "effect {effect}: found in {:.0}% after {:.1} seeds; of 20 fixed seeds in {:.0}%",
            100.0 * now.0,
            now.1,
            100.0 * fixed
        );
        assert!(now.0 >= before.0 && now.1 < before.1, "{effect}: {now:?} after {before:?}");
        before = now;
    }
    assert!(before.0 > 0.99 && before.1 < 9.5, "{before:?}");
}

#[test]
fn simulated_intervals_cover_as_often_as_they_say() {
    for schedule in [Schedule::fixed(8), Schedule::fixed(20), Schedule::until_decided(20)] {
        // For a plan that tests after every seed, the bisection takes a hundred tests.
        let count = if schedule.until_decided { tables() } else { 4 * tables() };
        for spread in [Spread::Normal, Spread::T3] {
            let covers = |table: usize| {
                let mut random = ChaCha8Rng::seed_from_u64(7_000_000 + table as u64);
                let mut pair = || [spread.score(false, 1.0, &mut random), 0.0];
                let pairs: Vec<[f64; 2]> = (0..schedule.seeds).map(|_| pair()).collect();
                interval(&pairs, schedule).is_none_or(|[low, high]| low <= 1.0 && 1.0 <= high)
            };
            let covered = (0..count).into_par_iter().filter(|&table| covers(table)).count();
            let missed = 1.0 - covered as f64 / count as f64;
            println!(
                "{}, {spread:?}: the interval covers in {:.1}%",
                name(schedule),
                100.0 * (1.0 - missed)
            );
            assert!(missed <= at_most(ALPHA, count), "{schedule:?}, {spread:?}: {missed}");
        }
    }
}

/// Eight seeds, one comparison, δ from 0.1 to 0.6 and true differences from 0 to 1 standard deviations.
#[test]
fn simulated_forecasts_come_true() {
    let of = |table: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(20_260_103 + table as u64);
        let (effect, margin) = (random.random::<f64>(), 0.1 + 0.5 * random.random::<f64>());
        let schedule = Schedule::fixed(8);
        let mut pairs: Vec<[f64; 2]> =
            (0..8).map(|_| [effect + normal(&mut random), 0.0]).collect();
        let standing =
            |pairs: &[[f64; 2]]| PairedTest::new(pairs, schedule, ALPHA, margin).standing();
        if standing(&pairs).decision.is_some() {
            return None;
        }
        let seen = Mean::of(&pairs.iter().map(|pair| pair[0]).collect::<Vec<_>>())?;
        let Some(total) = forecast(seen, schedule, margin, ALPHA) else { return Some(None) };
        pairs.extend((8..total).map(|_| [effect + normal(&mut random), 0.0]));
        Some(Some(standing(&pairs).decision.is_some()))
    };
    let all: Vec<Option<bool>> = (0..4 * tables()).into_par_iter().filter_map(of).collect();
    let told: Vec<bool> = all.iter().flatten().copied().collect();
    let kept = told.iter().filter(|kept| **kept).count() as f64 / told.len() as f64;
    println!(
        "of {} undecided comparisons {:.0}% get a forecast; of these {:.0}% are decided then",
        all.len(),
        100.0 * told.len() as f64 / all.len() as f64,
        100.0 * kept
    );
    let slack = 4.0 * (0.7f64 * 0.3 / told.len() as f64).sqrt();
    assert!(told.len() * 3 > all.len() && kept >= 0.7 - slack, "{kept} of {}", told.len());
}

/// Tasks from a population with a mean effect of 0 and unequal noise.
#[test]
fn simulated_verdicts_over_tasks_err_no_more() {
    let count = 4 * tables();
    for tasks in [8, 20] {
        let is_wrong = |table: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(9_000_000 + table as u64);
            let mut task = || {
                let noise = 0.2 + 2.0 * random.random::<f64>();
                [normal(&mut random) + noise * normal(&mut random), 0.0]
            };
            let pairs: Vec<[f64; 2]> = (0..tasks).map(|_| task()).collect();
            let test = PairedTest::new(&pairs, Schedule::fixed(tasks), ALPHA, 0.0);
            test.standing().decision.is_some()
        };
        let wrong = (0..count).into_par_iter().filter(|&table| is_wrong(table)).count();
        let wrong = wrong as f64 / count as f64;
        println!("over {tasks} tasks: {:.1}% wrong", 100.0 * wrong);
        assert!(wrong <= at_most(ALPHA, count), "{tasks} tasks: {wrong}");
    }
}

/// Guards against a test that never errs because it never decides.
#[test]
fn simulated_tables_are_decided_where_there_is_something() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let ends = simulate(&[0.0, -2.5], Spread::Normal, Schedule::fixed(20), 1.5, 20, &mut random);
    assert_eq!(ends[1].decision, Some(Decision::Below));
    assert_eq!(ends[0].decision, Some(Decision::Same));
}
