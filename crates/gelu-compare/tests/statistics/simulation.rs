//! How often verdicts err, and whether forecasts come true, on made-up runs whose truth is known: what
//! the book says in "How a verdict is made".
//!
//! `GELU_SIMULATED_TABLES=2000 cargo test --release --test statistics simulated --
//! --nocapture` prints the book's numbers, and with `GELU_SIMULATION_PICTURE=FILE.svg` draws its picture;
//! without the variable fewer tables are simulated.

use gelu_compare::comparison::statistics::Mean;
use gelu_compare::comparison::{Contrast, Rules, Verdict, colour};
use gelu_compare::measure::Looks;
use gelu_compare::report::{Curve, Figure, Panel, svg};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// What a table may err with.
const ALPHA: f64 = 0.05;
/// δ, in standard deviations of a run.
const MARGIN: f64 = 0.6;

/// How many tables are simulated of each kind.
fn tables() -> usize {
    let asked = std::env::var("GELU_SIMULATED_TABLES").ok();
    asked.map_or(100, |text| text.parse().expect("GELU_SIMULATED_TABLES is a number"))
}

/// The largest share of `count` tables that a rate of `rate` shows but once in thirty thousand times.
fn at_most(rate: f64, count: usize) -> f64 {
    rate + 4.0 * (rate * (1.0 - rate) / count as f64).sqrt()
}

/// A standard normal number, by Box and Muller.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius: f64 = random.random::<f64>();
    (-2.0 * (1.0 - radius).ln()).sqrt() * (TAU * random.random::<f64>()).cos()
}

/// What a run measures around its arm's level.
#[derive(Clone, Copy, Debug)]
enum Runs {
    Normal,
    /// Good with a long tail of bad ones.
    LogNormal,
    /// One of ten diverges, whichever arm it is of.
    Diverging,
    /// One of ten diverges, of the first arm beside the baseline alone.
    OneArmDiverging,
}

/// The arm beside the baseline of which alone runs diverge.
const DIVERGING: usize = 0;

impl Runs {
    const ALL: [Self; 4] = [Self::Normal, Self::LogNormal, Self::Diverging, Self::OneArmDiverging];

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LogNormal => "log-normal",
            Self::Diverging => "one in ten diverges",
            Self::OneArmDiverging => "one in ten of one arm diverges",
        }
    }

    /// Of an arm beside the baseline, or of the baseline.
    fn measure(self, arm: Option<usize>, level: f64, random: &mut ChaCha8Rng) -> f64 {
        let diverges = match self {
            Self::Normal | Self::LogNormal => false,
            Self::Diverging => random.random::<f64>() < 0.1,
            Self::OneArmDiverging => arm == Some(DIVERGING) && random.random::<f64>() < 0.1,
        };
        match self {
            _ if diverges => f64::INFINITY,
            Self::LogNormal => level + (normal(random).exp() - 1.65) / 2.16,
            _ => level + normal(random),
        }
    }
}

/// How far arms are from the baseline: none at all, all at δ, or half of them each.
#[derive(Clone, Copy, Debug)]
enum Truth {
    None,
    Margin,
    Half,
}

impl Truth {
    const ALL: [Self; 3] = [Self::None, Self::Margin, Self::Half];

    fn of(self, arm: usize) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Margin => MARGIN,
            Self::Half => MARGIN * (arm % 2) as f64,
        }
    }
}

/// A table of `arms` beside one baseline, `seeds` each, so that differences are correlated.
fn table(
    arms: usize,
    seeds: u64,
    runs: Runs,
    truth: Truth,
    random: &mut ChaCha8Rng,
) -> Vec<Contrast> {
    let baseline: Vec<f64> = (0..seeds).map(|_| runs.measure(None, 0.0, random)).collect();
    let mut contrast = |arm: usize| {
        let pair = |(seed, base): (u64, &f64)| {
            (seed, [runs.measure(Some(arm), truth.of(arm), random), *base])
        };
        Contrast { by_seed: (1..).zip(&baseline).map(pair).collect() }
    };
    (0..arms).map(&mut contrast).collect()
}

/// Whether a verdict on an arm is wrong.
fn is_wrong(verdict: Verdict, runs: Runs, truth: Truth, arm: usize) -> bool {
    let difference = truth.of(arm);
    // Of an arm that diverges where the baseline does not, "worse" is true.
    let is_worse = matches!(runs, Runs::OneArmDiverging) && arm == DIVERGING;
    match verdict {
        Verdict::Worse if is_worse => false,
        Verdict::Undecided => false,
        Verdict::Same => difference >= MARGIN,
        Verdict::Worse => difference == 0.0,
        Verdict::Better => true,
    }
}

/// Shares of tables.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    wrong: f64,
    same: f64,
    told_apart: f64,
}

fn simulate(arms: usize, looks: &Looks, runs: Runs, truth: Truth, count: usize) -> Ends {
    let mut random = ChaCha8Rng::seed_from_u64(20_260_101);
    let rules = Rules { comparisons: arms, looks: looks.clone(), negligible: MARGIN };
    let mut ends = Ends::default();
    for _ in 0..count {
        let table = table(arms, looks.last().seeds, runs, truth, &mut random);
        let verdicts: Vec<Verdict> =
            table.iter().map(|contrast| rules.rule(contrast).verdict).collect();
        let any = |wanted: &dyn Fn((usize, &Verdict)) -> bool| {
            f64::from(verdicts.iter().enumerate().any(wanted))
        };
        ends.wrong += any(&|(arm, verdict)| is_wrong(*verdict, runs, truth, arm));
        ends.same += any(&|(_, verdict)| *verdict == Verdict::Same);
        ends.told_apart += any(&|(_, v)| matches!(v, Verdict::Better | Verdict::Worse));
    }
    let share = |sum: f64| sum / count as f64;
    let Ends { wrong, same, told_apart } = ends;
    Ends { wrong: share(wrong), same: share(same), told_apart: share(told_apart) }
}

/// How many arms stand beside the baseline.
const SIZES: [usize; 4] = [1, 2, 4, 8];

/// Every kind of runs, within it every size, and within that every truth, on all cores.
fn simulate_each(looks: &Looks, count: usize) -> Vec<Ends> {
    let sized = |runs| SIZES.into_iter().map(move |arms| (runs, arms));
    let true_ones = |(runs, arms)| Truth::ALL.into_iter().map(move |truth| (runs, arms, truth));
    let settings: Vec<_> = Runs::ALL.into_iter().flat_map(sized).flat_map(true_ones).collect();
    let of = |(runs, arms, truth)| simulate(arms, looks, runs, truth, count);
    settings.into_par_iter().map(of).collect()
}

#[test]
fn simulated_tables_err_in_no_more_than_one_of_twenty() {
    let count = tables();
    let (mut same, mut told_apart) = (0.0f64, 0.0f64);
    let mut panels = Vec::new();
    for looks in [Looks::once(10), Looks::until_decided(25)] {
        let planned = looks.planned();
        let mut curves = Vec::new();
        let mut simulated = simulate_each(&looks, count).into_iter();
        for (kind, runs) in Runs::ALL.into_iter().enumerate() {
            let mut points = Vec::new();
            for arms in SIZES {
                let mut worst = 0.0f64;
                for (truth, ends) in Truth::ALL.into_iter().zip(&mut simulated) {
                    println!(
                        "m {arms} K {planned} {runs:?} {truth:?}: wrong {:.2} %, some same {:.1} %, some \
                         better or worse {:.1} %",
                        100.0 * ends.wrong,
                        100.0 * ends.same,
                        100.0 * ends.told_apart
                    );
                    assert!(
                        ends.wrong <= at_most(ALPHA, count),
                        "m {arms}, K {planned}, {runs:?}, {truth:?}: {ends:?}"
                    );
                    worst = worst.max(ends.wrong);
                    same = same.max(ends.same);
                    told_apart = told_apart.max(ends.told_apart);
                }
                points.push((arms as f64, 100.0 * worst));
            }
            curves.push(curve(Some(runs.name()), kind, points));
        }
        // What is promised; and nothing at all, from where the axis is to start.
        for level in [ALPHA, 0.0] {
            curves.push(curve(None, 4, vec![(1.0, 100.0 * level), (8.0, 100.0 * level)]));
        }
        let title = if planned == 1 { "one look" } else { "four looks" };
        let y_axis = "wrong tables, %".to_owned();
        panels.push(Panel { title: title.to_owned(), y_axis, curves });
    }
    // A procedure that never decides errs never.
    assert!(same > 0.2 && told_apart > 0.2, "same {same}, better or worse {told_apart}");
    if let Some(path) = std::env::var_os("GELU_SIMULATION_PICTURE") {
        let figure = Figure {
            title: "Tables with a wrong verdict".to_owned(),
            caption: format!(
                "{count} simulated tables a point, the worst of no difference, δ, and half of each; \
                 dashed: what is promised"
            ),
            x_axis: "comparisons of the table".to_owned(),
            logarithmic: false,
            panels,
        };
        std::fs::write(path, svg(&figure)).unwrap();
    }
}

fn curve(label: Option<&str>, position: usize, points: Vec<(f64, f64)>) -> Curve {
    Curve {
        label: label.map(str::to_owned),
        colour: colour(position),
        dashed: label.is_none(),
        points,
        band: Vec::new(),
    }
}

#[test]
fn simulated_looks_that_were_not_planned_cost_what_is_said() {
    let count = 2 * tables();
    let looks = Looks::once(8).with_added([12, 20]);
    for (arms, truth) in [(1, Truth::None), (2, Truth::None), (2, Truth::Margin)] {
        let ends = simulate(arms, &looks, Runs::Normal, truth, count);
        println!("m {arms}, {truth:?}, looks at 8, 12 and 20: wrong {:.2} %", 100.0 * ends.wrong);
        let said = ALPHA * looks.spent(looks.last());
        assert!(ends.wrong <= at_most(said, count), "{ends:?}");
        assert!(ends.wrong <= at_most(0.075, count), "two unplanned looks: {ends:?}");
    }
}

#[test]
fn simulated_effects_are_found_and_the_sooner_the_larger_they_are() {
    let looks = Looks::until_decided(20);
    let rules = Rules { comparisons: 1, looks, negligible: 0.02 };
    let mut before = (0.0, 21.0);
    for effect in [0.5, 1.0, 1.5] {
        let mut random = ChaCha8Rng::seed_from_u64(20_260_102);
        let (mut decided, mut pairs) = (0.0, 0.0);
        for _ in 0..tables() {
            let pair = |seed| (seed, [normal(&mut random) - effect, 0.0]);
            let ruling = rules.rule(&Contrast { by_seed: (1..=20).map(pair).collect() });
            assert_ne!(ruling.verdict, Verdict::Worse, "an effect of {effect}");
            decided += f64::from(ruling.verdict == Verdict::Better);
            pairs += ruling.pairs.len() as f64;
        }
        let now = (decided / tables() as f64, pairs / tables() as f64);
        println!("effect {effect} s: decided {:.1} %, after {:.1} pairs", 100.0 * now.0, now.1);
        assert!(now.0 > before.0 && now.1 < before.1, "{effect}: {now:?} after {before:?}");
        before = now;
    }
    assert!(before.0 > 0.99, "{before:?}");
}

/// The interval of a sentence covers the mean that seeds like these have as often as it says, however few
/// they are and however long the tail of their runs.
#[test]
fn simulated_intervals_over_seeds_cover_as_often_as_they_say() {
    let mut random = ChaCha8Rng::seed_from_u64(20_260_104);
    let count = 20 * tables();
    for runs in [Runs::Normal, Runs::LogNormal] {
        for seeds in [5, 8, 12, 20] {
            // Of the one comparison, and of eight with four looks.
            for level in [ALPHA, ALPHA / 32.0] {
                let covered = (0..count).filter(|_| {
                    let mut difference = || {
                        runs.measure(Some(0), 1.0, &mut random)
                            - runs.measure(None, 0.0, &mut random)
                    };
                    let differences: Vec<f64> = (0..seeds).map(|_| difference()).collect();
                    let [low, high] = Mean::of(&differences).unwrap().interval(level);
                    low <= 1.0 && 1.0 <= high
                });
                let missed = 1.0 - covered.count() as f64 / count as f64;
                println!("{runs:?}, {seeds} seeds, level {level}: missed {:.2} %", 100.0 * missed);
                assert!(missed <= at_most(level, count), "{runs:?}, {seeds} seeds: {missed}");
                let slack = 4.0 * (level * (1.0 - level) / count as f64).sqrt();
                // Of long tails the interval is the longer, which is nobody's loss.
                let exact = matches!(runs, Runs::Normal);
                assert!(!exact || missed >= level - slack, "{seeds} seeds: {missed}");
            }
        }
    }
}

/// Of the comparisons told a number, at least three in four are decided by the time so many pairs are
/// there: eight pairs, two comparisons, a second look, δ from 0.1 to 0.6 and true differences from 0 to 1
/// deviations.
#[test]
fn simulated_forecasts_come_true() {
    let mut random = ChaCha8Rng::seed_from_u64(20_260_103);
    let (mut told, mut kept, mut all) = (0.0, 0.0, 0.0);
    for _ in 0..2 * tables() {
        let (effect, margin) = (random.random::<f64>(), 0.1 + 0.5 * random.random::<f64>());
        let mut pairs = |from: u64, to: u64| -> Vec<(u64, [f64; 2])> {
            (from..=to).map(|seed| (seed, [effect + normal(&mut random), 0.0])).collect()
        };
        let planned = Rules { comparisons: 2, looks: Looks::once(8), negligible: margin };
        let mut contrast = Contrast { by_seed: pairs(1, 8).into_iter().collect() };
        let ruling = planned.rule(&contrast);
        if ruling.verdict != Verdict::Undecided {
            continue;
        }
        all += 1.0;
        let Some(forecast) = planned.forecast(&ruling) else { continue };
        told += 1.0;
        let seeds = 8 + forecast.further as u64;
        contrast.by_seed.extend(pairs(9, seeds));
        let looks = planned.looks.clone().with_added([seeds]);
        let ruling = Rules { looks, ..planned }.rule(&contrast);
        kept += f64::from(ruling.verdict != Verdict::Undecided);
    }
    println!(
        "of {all} undecided comparisons {:.0} % are told a number, and of these {:.0} % are decided \
         after so many",
        100.0 * told / all,
        100.0 * kept / told
    );
    let slack = 4.0 * (0.75f64 * 0.25 / told).sqrt();
    assert!(told > 0.3 * all && kept / told >= 0.75 - slack, "{kept} of {told} of {all}");
}
