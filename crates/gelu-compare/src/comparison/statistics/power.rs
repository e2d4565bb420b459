//! The difference that a schedule would probably show.

use super::paired::Schedule;
use statrs::distribution::{ContinuousCDF, Normal};
use std::sync::LazyLock;

/// The probability that the test finds the difference.
const POWER: f64 = 0.8;
/// The table `plan,comparisons,seeds,ratio`, made by `tests/statistics/power.rs`. The ratio is the difference that
/// the test finds with 80% power at α = 0.05, in standard deviations of normal differences.
const TABLE: &str = include_str!("power.csv");

/// A row of [`TABLE`], with the ratio to what a z test would find.
struct Entry {
    until_decided: bool,
    share: f64,
    seeds: f64,
    factor: f64,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse::<f64>().expect("the table holds numbers");
        let (share, seeds) = (0.05 / number(1), number(2));
        Entry {
            until_decided: fields[0] == "until-decided",
            share,
            seeds,
            factor: number(3) / of_z_test(share, seeds),
        }
    };
    TABLE.lines().skip(1).map(entry).collect()
});

/// Returns the difference that the test shows with 80% power at the level `share` of one comparison. It is in
/// standard deviations of the differences, which are assumed to be normal. Returns `None` if the schedule cannot decide.
///
/// For simulated numbers of seeds and comparisons, this is the simulated value. Between and beyond them, the function
/// interpolates the ratio to the z test's value (z_{1−α′/2} + z_{0.8})/√N, which the test approaches.
pub fn detectable(schedule: Schedule, share: f64) -> Option<f64> {
    if !schedule.can_decide(share) {
        return None;
    }
    let seeds = schedule.seeds as f64;
    let here = || ENTRIES.iter().filter(|entry| entry.until_decided == schedule.until_decided);
    let mut numbers: Vec<f64> = here().map(|entry| entry.seeds).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let [below, above] = around(&numbers, seeds);
    let at = |number: f64| {
        let mut of: Vec<&Entry> = here().filter(|entry| entry.seeds == number).collect();
        of.sort_by(|a, b| a.share.total_cmp(&b.share));
        let shares: Vec<f64> = of.iter().map(|entry| entry.share).collect();
        let [lower, upper] = around(&shares, share);
        let factor = |share: f64| of.iter().find(|e| e.share == share).map_or(1.0, |e| e.factor);
        between([lower.ln(), upper.ln()], [factor(lower), factor(upper)], share.ln())
    };
    let factor = between([1.0 / below, 1.0 / above], [at(below), at(above)], 1.0 / seeds);
    Some(factor * of_z_test(share, seeds))
}

fn of_z_test(share: f64, seeds: f64) -> f64 {
    let normal = Normal::standard();
    (normal.inverse_cdf(1.0 - share / 2.0) + normal.inverse_cdf(POWER)) / seeds.sqrt()
}

/// Returns the neighbours of a number among ascending numbers, or the nearest one twice if the number is outside.
fn around(ascending: &[f64], number: f64) -> [f64; 2] {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    if let Some(same) = ascending.iter().find(|other| near(**other, number)) {
        return [*same; 2];
    }
    let place = ascending.partition_point(|other| *other < number);
    let last = ascending.len() - 1;
    [ascending[place.saturating_sub(1).min(last)], ascending[place.min(last)]]
}

fn between([x_0, x_1]: [f64; 2], [y_0, y_1]: [f64; 2], x: f64) -> f64 {
    if x_0 == x_1 { y_0 } else { y_0 + (y_1 - y_0) * (x - x_0) / (x_1 - x_0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_seeds_find_what_all_six_show() {
        // All six seeds have to agree, so Φ(ratio)^6 is 0.8.
        let ratio = detectable(Schedule::fixed(6), 0.05).unwrap();
        let power = Normal::standard().cdf(ratio).powi(6);
        assert!((power - 0.8).abs() < 0.02, "{ratio}: {power}");
    }

    #[test]
    fn more_seeds_show_less_and_more_comparisons_take_more() {
        let of = |schedule: Schedule, comparisons: f64| {
            detectable(schedule, 0.05 / comparisons).unwrap()
        };
        for schedule in [Schedule::fixed, Schedule::until_decided] {
            assert!(of(schedule(8), 1.0) > of(schedule(20), 1.0));
            assert!(of(schedule(27), 3.0) > of(schedule(29), 3.0));
            assert!(of(schedule(20), 7.0) > of(schedule(20), 1.0));
            assert!(of(schedule(500), 30.0) > of(schedule(500), 1.0));
        }
        assert!(of(Schedule::until_decided(20), 1.0) > of(Schedule::fixed(20), 1.0));
    }

    #[test]
    fn what_cannot_decide_shows_nothing() {
        assert_eq!(detectable(Schedule::fixed(5), 0.05), None);
        assert_eq!(detectable(Schedule::fixed(8), 0.05 / 7.0), None);
    }

    /// With enough seeds, the test is as good as a z test.
    #[test]
    fn many_seeds_are_like_a_z_test() {
        let ratio = detectable(Schedule::fixed(400), 0.05).unwrap() / of_z_test(0.05, 400.0);
        assert!((0.98..1.06).contains(&ratio), "{ratio}");
    }
}
