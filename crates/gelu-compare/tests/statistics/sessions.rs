//! Simulated sessions of 100 proposals: how many keep a change that is no improvement, how many find an improvement,
//! and the cost.
//!
//! `GELU_SIMULATED_SESSIONS=200 cargo test --release --test statistics sessions -- --nocapture` prints the book's
//! numbers.

use super::tables::normal;
use gelu_compare::comparison::statistics::session::{Judgement, judge, schedule};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The number of proposals in a session.
const PROPOSALS: usize = 100;

fn sessions() -> usize {
    let asked = std::env::var("GELU_SIMULATED_SESSIONS").ok();
    asked.map_or(60, |text| text.parse().expect("GELU_SIMULATED_SESSIONS is a number"))
}

/// The result of a session.
#[derive(Clone, Copy, Debug, Default)]
struct Session {
    kept: usize,
    kept_false: usize,
    improvements: usize,
    pairs: usize,
}

/// Simulates a session. A share of the proposals improves by `effect` standard deviations of a difference; the others
/// change nothing. Reuses the incumbent's runs.
fn play(share: f64, effect: f64, seed: u64) -> Session {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut session = Session::default();
    let mut j = 1;
    let mut incumbent: Vec<f64> = Vec::new();
    for _ in 0..PROPOSALS {
        let improves = random.random::<f64>() < share;
        session.improvements += usize::from(improves);
        let level = if improves { -effect * std::f64::consts::SQRT_2 } else { 0.0 };
        let mut change: Vec<f64> = Vec::new();
        let kept = loop {
            let n = change.len();
            if incumbent.len() <= n {
                incumbent.push(normal(&mut random));
            }
            change.push(level + normal(&mut random));
            let pairs: Vec<[f64; 2]> =
                change.iter().zip(&incumbent).map(|(a, b)| [*a, *b]).collect();
            match judge(j, &pairs) {
                Judgement::Open => {}
                Judgement::Improvement(_) => break true,
                Judgement::GivenUp(_) => break false,
            }
        };
        session.pairs += change.len();
        assert!(change.len() as u64 <= schedule(j).seeds);
        j += 1;
        if kept {
            session.kept += 1;
            session.kept_false += usize::from(!improves);
            // The scores of the kept change, as differences from its own level.
            incumbent = change.iter().map(|score| score - level).collect();
            j = 1;
        }
    }
    session
}

fn all(share: f64, effect: f64) -> Vec<Session> {
    (0..sessions() as u64).into_par_iter().map(|seed| play(share, effect, 31 * seed + 7)).collect()
}

#[test]
fn sessions_without_improvements_keep_hardly_anything() {
    let all = all(0.0, 0.0);
    let count = all.len() as f64;
    let kept = all.iter().filter(|session| session.kept > 0).count() as f64 / count;
    let pairs =
        all.iter().map(|session| session.pairs).sum::<usize>() as f64 / count / PROPOSALS as f64;
    println!(
        "no improvement: {:.1}% of sessions keep anything; {pairs:.1} pairs per proposal",
        100.0 * kept
    );
    assert!(kept <= 0.05 + 4.0 * (0.05 * 0.95 / count).sqrt(), "{kept}");
    assert!((5.0..8.0).contains(&pairs), "{pairs}");
}

#[test]
fn sessions_find_improvements_and_keep_few_false_ones() {
    let mut before = 0.0;
    for effect in [1.0, 1.5] {
        let all = all(0.1, effect);
        let sum = |of: fn(&Session) -> usize| all.iter().map(of).sum::<usize>() as f64;
        let (kept, wrong) = (sum(|s| s.kept), sum(|s| s.kept_false));
        let found = (kept - wrong) / sum(|s| s.improvements);
        let pairs = sum(|s| s.pairs) / all.len() as f64 / PROPOSALS as f64;
        println!(
            "one in ten improves by {effect}: {:.0}% found, {:.1}% of those kept are none; {pairs:.1} pairs per proposal",
            100.0 * found,
            100.0 * wrong / kept.max(1.0)
        );
        // E[false] ≤ 0.05 · (E[kept] + 1).
        let count = all.len() as f64;
        let bound = 0.05 * (kept / count + 1.0);
        assert!(
            wrong / count <= bound + 4.0 * (bound / count).sqrt(),
            "{effect}: {wrong} of {kept}"
        );
        assert!(found > before, "{effect}: {found} after {before}");
        before = found;
    }
    assert!(before > 0.6, "{before}");
}
