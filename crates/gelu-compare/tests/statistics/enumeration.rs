//! A second implementation of the paired test, written from its description alone. It enumerates every sign pattern,
//! in whole numbers, for up to 12 seeds.

use gelu_compare::comparison::statistics::{Decision, PairedTest, Schedule};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the share of the level that n of N seeds spend, as a fraction.
fn spent(schedule: Schedule, n: usize) -> f64 {
    let (n, planned) = (n as f64, schedule.seeds as f64);
    match schedule.until_decided {
        _ if n > planned => 1.0 + (1.0 - planned / n) / 2.0,
        true => (n / planned) * (n / planned),
        false if n == planned => 1.0,
        false => 0.0,
    }
}

/// Returns the number of seeds after which the observed pattern is struck. With `one_sided`, patterns with the
/// largest sum are struck first, and otherwise those with the largest absolute value of the sum.
fn struck(d: &[i64], schedule: Schedule, level: f64, one_sided: bool) -> Option<usize> {
    // Bit s of a pattern flips the sign of seed s + 1.
    let mut struck: Vec<bool> = vec![false];
    for n in 1..=d.len() {
        struck = (0..1usize << n).map(|pattern| struck[pattern & ((1 << (n - 1)) - 1)]).collect();
        let size = |pattern: usize| {
            let signed = |(s, d): (usize, &i64)| if pattern >> s & 1 == 1 { -d } else { *d };
            let sum: i64 = d[..n].iter().enumerate().map(signed).sum();
            if one_sided { sum } else { sum.abs() }
        };
        let allowed = (level * spent(schedule, n) * (1u64 << n) as f64).floor() as usize;
        let mut sizes: Vec<i64> = (0..1 << n).filter(|&p| !struck[p]).map(size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for group in sizes.into_iter().rev().filter(|size| *size > 0) {
            let members: Vec<usize> =
                (0..1usize << n).filter(|&p| !struck[p] && size(p) == group).collect();
            if struck.iter().filter(|struck| **struck).count() + members.len() > allowed {
                break;
            }
            members.iter().for_each(|&p| struck[p] = true);
        }
        if struck[0] {
            return Some(n);
        }
    }
    None
}

/// Returns small whole differences, with ties and zeros.
fn differences(random: &mut ChaCha8Rng) -> Vec<i64> {
    let count = random.random_range(1..=12);
    let shift = random.random_range(-4..=4);
    (0..count).map(|_| shift + random.random_range(-5..=5)).collect()
}

fn schedule(random: &mut ChaCha8Rng, count: usize) -> Schedule {
    let seeds = random.random_range(count.saturating_sub(3).max(1)..=count + 3) as u64;
    if random.random::<bool>() { Schedule::fixed(seeds) } else { Schedule::until_decided(seeds) }
}

fn test(d: &[i64], schedule: Schedule, level: f64, negligible: f64) -> PairedTest {
    let pairs: Vec<[f64; 2]> = d.iter().map(|d| [0.25 * *d as f64, 0.0]).collect();
    PairedTest::new(&pairs, schedule, level, negligible)
}

const LEVELS: [f64; 4] = [0.05, 0.05 / 3.0, 0.01, 0.2];

#[test]
fn what_is_struck_is_what_an_enumeration_strikes() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut decided = 0;
    for _ in 0..1500 {
        let d = differences(&mut random);
        let schedule = schedule(&mut random, d.len());
        let level = LEVELS[random.random_range(0..LEVELS.len())];
        let first = struck(&d, schedule, level, false);
        let standing = test(&d, schedule, level, 0.0).standing();
        assert_eq!(standing.after, first, "{d:?}, {schedule:?}, {level}");
        let sum: i64 = d.iter().sum();
        let expected = first.and_then(|after| {
            let then: i64 = d[..after].iter().sum();
            match (then.signum(), sum.signum()) {
                (-1, -1) => Some(Decision::Below),
                (1, 1) => Some(Decision::Above),
                _ => None,
            }
        });
        assert_eq!(standing.decision, expected, "{d:?}, {schedule:?}, {level}");
        decided += usize::from(expected.is_some());
    }
    assert!(decided > 200, "{decided}");
}

#[test]
fn the_same_is_what_two_enumerations_strike() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut same = 0;
    for _ in 0..600 {
        let d = differences(&mut random);
        let schedule = schedule(&mut random, d.len());
        let margin = random.random_range(1..12);
        let below: Vec<i64> = d.iter().map(|d| margin - d).collect();
        let above: Vec<i64> = d.iter().map(|d| margin + d).collect();
        let of = |d: &[i64]| struck(d, schedule, 0.05, true);
        let both = of(&below).zip(of(&above)).map(|(a, b)| a.max(b));
        let different = struck(&d, schedule, 0.05, false);
        let standing = test(&d, schedule, 0.05, 0.25 * margin as f64).standing();
        let first = both.into_iter().chain(different).min();
        assert_eq!(standing.after, first, "{d:?}, {schedule:?}, {margin}");
        let is_same = standing.decision == Some(Decision::Same);
        let sums = below.iter().sum::<i64>().min(above.iter().sum());
        assert_eq!(
            is_same,
            first.is_some() && first == both && sums > 0,
            "{d:?}, {schedule:?}, {margin}"
        );
        same += usize::from(is_same);
    }
    assert!(same > 50, "{same}");
}

/// p is the smallest level that strikes, and p ≤ level decides.
#[test]
fn p_is_the_level_that_an_enumeration_just_strikes_at() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..300 {
        let d = differences(&mut random);
        let schedule = schedule(&mut random, d.len());
        let test = test(&d, schedule, 0.05, 0.0);
        let Some(p) = test.p() else { continue };
        let is_struck = |level: f64| struck(&d, schedule, level, false).is_some();
        if p < 1.0 {
            assert!(is_struck(p * (1.0 + 1e-9)), "{d:?}, {schedule:?}: {p}");
        }
        assert!(!is_struck(p * (1.0 - 1e-9)), "{d:?}, {schedule:?}: {p}");
        assert_eq!(p <= 0.05, is_struck(0.05), "{d:?}, {schedule:?}: {p}");
    }
}

/// The enumeration does not strike d − θ for any θ inside the interval, but strikes for one just outside. Checked on
/// a grid of eighths of a difference.
#[test]
fn the_interval_holds_what_an_enumeration_leaves() {
    const FINE: i64 = 1 << 20;
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut checked = 0;
    for _ in 0..150 {
        let d = differences(&mut random);
        let schedule = schedule(&mut random, d.len());
        let test = test(&d, schedule, 0.05, 0.0);
        let Some(interval) = test.interval() else { continue };
        if test.standing().decision == Some(Decision::Same) {
            continue;
        }
        let is_struck = |theta: f64| {
            let theta = (theta * 4.0 * FINE as f64).round() as i64;
            let shifted: Vec<i64> = d.iter().map(|d| FINE * d - theta).collect();
            struck(&shifted, schedule, 0.05, false).is_some()
        };
        let (low, high) = (interval.low, interval.high);
        let near = 1e-4 * (1.0 + low.abs().max(high.abs()).min(1e3));
        if low.is_finite() && low != 0.0 {
            assert!(
                is_struck(low - near) && !is_struck(low + near),
                "{d:?}, {schedule:?}: {interval:?}"
            );
        }
        if high.is_finite() && high != 0.0 {
            assert!(
                is_struck(high + near) && !is_struck(high - near),
                "{d:?}, {schedule:?}: {interval:?}"
            );
        }
        let decided = test.standing().decision.is_some();
        let holds_0 = low < -1e-12 && high > 1e-12;
        assert!(!(decided && holds_0), "{d:?}, {schedule:?}: {interval:?}");
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
}
