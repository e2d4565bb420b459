//! The table of differences that a plan can detect, `src/comparison/statistics/power.csv`.
//!
//! `GELU_POWER_TABLE=FILE cargo test --release --test statistics power_table` makes it, in half an hour on two cores.

use super::tables::normal;
use gelu_compare::comparison::statistics::{PairedTest, Schedule, detectable, fewest_seeds};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::fmt::Write;

const POWER: f64 = 0.8;

/// Returns the ratio that 80% of `draws` samples show, from the smallest ratio that each sample shows.
fn ratio(schedule: Schedule, level: f64, draws: usize) -> f64 {
    let seeds = schedule.seeds as usize;
    let smallest = |draw: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(draw as u64);
        let sample: Vec<f64> = (0..seeds).map(|_| normal(&mut random)).collect();
        let shows = |effect: f64| {
            let pairs: Vec<[f64; 2]> = sample.iter().map(|z| [z + effect, 0.0]).collect();
            PairedTest::new(&pairs, schedule, level, 0.0).standing().after.is_some()
                && sample.iter().sum::<f64>() + effect * seeds as f64 > 0.0
        };
        let (mut low, mut high) = (0.0, 6.0);
        for _ in 0..10 {
            let middle = f64::midpoint(low, high);
            if shows(middle) { high = middle } else { low = middle }
        }
        f64::midpoint(low, high)
    };
    let mut all: Vec<f64> = (0..draws).into_par_iter().map(smallest).collect();
    all.sort_by(f64::total_cmp);
    all[(POWER * draws as f64) as usize]
}

/// The grid of the table; values between are interpolated.
const COMPARISONS: [u64; 11] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20];
const FIXED: [u64; 16] = [6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 28, 32, 64, 100];
const UNTIL_DECIDED: [u64; 8] = [6, 8, 10, 12, 16, 20, 30, 60];

#[test]
fn power_table() {
    let Some(path) = std::env::var_os("GELU_POWER_TABLE") else { return };
    let mut text = "plan,comparisons,seeds,ratio\n".to_owned();
    let fixed = FIXED.map(Schedule::fixed).into_iter();
    for schedule in fixed.chain(UNTIL_DECIDED.map(Schedule::until_decided)) {
        // A test after every seed takes many times longer.
        let (name, draws) =
            if schedule.until_decided { ("until-decided", 600) } else { ("fixed", 2000) };
        for comparisons in COMPARISONS {
            let (level, seeds) = (0.05 / comparisons as f64, schedule.seeds);
            let is_between = schedule.until_decided && ![1, 3, 8, 20].contains(&comparisons);
            if seeds >= fewest_seeds(level) && !is_between {
                writeln!(text, "{name},{comparisons},{seeds},{:.3}", ratio(schedule, level, draws))
                    .unwrap();
            }
        }
        std::fs::write(&path, &text).unwrap();
    }
}

#[test]
fn what_the_table_says_is_shown_four_times_in_five() {
    for (schedule, comparisons) in [
        (Schedule::fixed(8), 1),
        (Schedule::fixed(12), 3),
        (Schedule::fixed(30), 7),
        (Schedule::until_decided(18), 2),
    ] {
        let level = 0.05 / f64::from(comparisons);
        let said = detectable(schedule, level).unwrap();
        let seen = ratio(schedule, level, 400);
        assert!(
            (said / seen - 1.0).abs() < 0.12,
            "{schedule:?}, {comparisons}: {said}, and {seen} is seen"
        );
    }
}
