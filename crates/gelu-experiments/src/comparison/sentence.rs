//! Verdicts as sentences that a person can repeat.

use super::difference::Difference;
use super::label;
use super::statistics::{Further, smallest_p};
use super::verdict::{ALPHA, Verdict};
use crate::measure::{LossKind, Primary};

/// How values of the primary measure are said.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    primary: Primary,
    loss: LossKind,
}

impl Wording {
    /// For a comparison with that primary measure and loss.
    pub fn new(primary: Primary, loss: LossKind) -> Self {
        Self { primary, loss }
    }

    /// A value in the unit it is said in (errors in points), with enough decimals to tell it from
    /// values `resolution` away.
    pub fn number(self, value: f64, resolution: f64) -> String {
        let (factor, least) = if self.primary.is_error() { (100.0, 2) } else { (1.0, 4) };
        let wanted = 1.0 - (resolution * factor).abs().log10().floor();
        let decimals =
            if wanted.is_finite() { wanted.clamp(least as f64, 8.0) } else { least as f64 };
        signed(value * factor, decimals as usize)
    }

    /// The unit behind a number: ` points` for errors, nothing for losses.
    pub fn unit(self) -> &'static str {
        if self.primary.is_error() { " points" } else { "" }
    }

    /// ` points of test error`, ` of test loss`.
    fn unit_of_measure(self) -> String {
        format!("{} of {}", self.unit(), self.measure())
    }

    /// `test error`, `test loss`, `test MSE`.
    pub fn measure(self) -> String {
        self.primary.words(self.loss)
    }

    /// δ, as short as it was written.
    fn negligible(self, value: f64) -> String {
        let value = if self.primary.is_error() { value * 100.0 } else { value };
        // Twelve digits, so that 0.001 · 100 is 0.1 again.
        let short: f64 = format!("{value:.11e}").parse().unwrap_or(value);
        format!("{short}{}", self.unit())
    }
}

/// The verdict in one sentence, or two.
pub fn sentence(difference: &Difference, wording: Wording) -> String {
    let (a, b) = (label(&difference.activation), label(&difference.baseline));
    let measure = wording.measure();
    let ruling = &difference.ruling;
    if ruling.pairs.is_empty() {
        return format!("{a} against {b}: no pair of runs is complete yet.");
    }
    let text = match (ruling.verdict, difference.mean) {
        (Verdict::Same, Some(mean)) => {
            let level = 2.0 * ruling.level;
            let interval = said_interval(mean.interval(level), wording);
            let [low, high] = mean.interval(level);
            let not_zero = ruling.p_adjusted.is_some_and(|p| p <= ruling.level);
            let though = if not_zero { ", though not zero" } else { "" };
            format!(
                "{a} is the same as {b} by {measure}: the difference is smaller than \
                 {}{though} ({}, {} interval {interval}; {}).",
                wording.negligible(difference.negligible),
                wording.number(mean.mean, (high - low) / 2.0),
                percent(1.0 - level),
                evidence(difference, "better"),
            )
        }
        (Verdict::Better | Verdict::Worse, Some(mean)) => {
            let better = ruling.verdict == Verdict::Better;
            let [low, high] = mean.interval(ALPHA);
            let away = if better { [-high, -low] } else { [low, high] };
            format!(
                "{a} is {} than {b} by {}{} (95 % interval {}; {}).",
                ruling.verdict,
                wording.number(mean.mean.abs(), (high - low) / 2.0),
                wording.unit_of_measure(),
                said_interval(away, wording),
                evidence(difference, if better { "better" } else { "worse" }),
            )
        }
        (Verdict::Better | Verdict::Worse, None) => format!(
            "{a} is {} than {b} by {measure}: {} ({}).",
            ruling.verdict,
            divergence(difference),
            evidence(difference, "better")
        ),
        _ => undecided(difference, wording),
    };
    match difference.outstanding {
        0 => text,
        1 => format!("{text} One of these runs is still to come."),
        runs => format!("{text} {runs} of these runs are still to come."),
    }
}

fn undecided(difference: &Difference, wording: Wording) -> String {
    let (a, b) = (label(&difference.activation), label(&difference.baseline));
    let ruling = &difference.ruling;
    let seen = match difference.mean {
        Some(mean) => {
            let [low, high] = mean.interval(ALPHA);
            format!(
                "the difference is {}{} (95 % interval {}; {})",
                wording.number(mean.mean, (high - low) / 2.0),
                wording.unit_of_measure(),
                said_interval([low, high], wording),
                evidence(difference, "better")
            )
        }
        None if ruling.pairs.any_diverged() => {
            format!("{} ({})", divergence(difference), evidence(difference, "better"))
        }
        None => format!(
            "the difference is {}{}, with no interval of one",
            wording.number(ruling.pairs.differences()[0], f64::NAN),
            wording.unit_of_measure(),
        ),
    };
    let count = ruling.pairs.len();
    if count < ruling.fewest_pairs() {
        let smallest = (ruling.family as f64 * smallest_p(count)).min(1.0);
        let holm = if ruling.family > 1 { " after Holm" } else { "" };
        let needed = match difference.sequential {
            true => format!(", and {} is needed at this look", p_value(ruling.level)),
            false => String::new(),
        };
        let can = ruling.first_deciding_look();
        return format!(
            "{a} against {b}: {} cannot decide this (smallest possible p: {}{holm}{needed}); \
             {can} can. So far, {seen}.",
            seeds(count),
            p_value(smallest),
        );
    }
    let further = match difference.further() {
        Some(Further::About(1)) => "; about one more seed would probably decide it".to_owned(),
        Some(Further::About(n)) => format!("; about {n} more seeds would probably decide it"),
        Some(Further::MoreThan(n)) => format!("; deciding it would take more than {n} more seeds"),
        None => String::new(),
    };
    let seems = disagreement(difference).unwrap_or_default();
    format!("{a} against {b} is undecided: {seen}{further}.{seems}")
}

/// Why an interval that excludes 0 is no verdict.
fn disagreement(difference: &Difference) -> Option<String> {
    let ruling = &difference.ruling;
    let [low, high] = difference.interval()?;
    let (p, adjusted) = (ruling.p?, ruling.p_adjusted?);
    if low <= 0.0 && high >= 0.0 {
        return None;
    }
    Some(if adjusted <= ALPHA {
        " The interval excludes 0, and is one look's; the comparison is looked at more than once."
            .to_owned()
    } else if p <= ALPHA {
        format!(
            " The interval excludes 0, and is one comparison's; {} comparisons were made.",
            ruling.family
        )
    } else {
        " The interval excludes 0; the test, which assumes no distribution, does not reject it."
            .to_owned()
    })
}

/// What stands beside a verdict, for those who check it: how much of the variance pairing left,
/// and what so many pairs can show.
pub fn details(difference: &Difference, wording: Wording) -> Option<String> {
    let detectable = difference.smallest_detectable()?;
    let pairs = &difference.ruling.pairs;
    let paired = match pairs.variance_ratio() {
        Some(ratio) => format!("; pairing left {ratio:.2} of the two variances' sum"),
        None => String::new(),
    };
    Some(format!(
        "{} against {}: {} show differences from {}{} on with 80 % power{paired}",
        label(&difference.activation),
        label(&difference.baseline),
        seeds(pairs.len()),
        wording.number(detectable, detectable),
        wording.unit(),
    ))
}

/// `16 seeds; p = 0.0003 after Holm; better in 15 of 16`.
fn evidence(difference: &Difference, word: &str) -> String {
    let ruling = &difference.ruling;
    let (pairs, count) = (&ruling.pairs, ruling.pairs.len());
    let p = ruling.p_adjusted.map_or_else(String::new, |p| {
        let holm = if ruling.family > 1 { " after Holm" } else { "" };
        let said = p_value(p);
        let equals = if said.starts_with('<') { "" } else { "= " };
        format!("; p {equals}{said}{holm}")
    });
    let ahead = match word {
        "worse" => count - pairs.better() - pairs.ties(),
        _ => pairs.better(),
    };
    let equal = match pairs.ties() {
        0 => String::new(),
        ties => format!(", equal in {ties}"),
    };
    format!("{}{p}; {word} in {ahead} of {count}{equal}", seeds(count))
}

/// `3 of 8 runs of ELU diverged, and 1 of GELU, so there is no mean difference`.
fn divergence(difference: &Difference) -> String {
    let count = difference.ruling.pairs.len();
    let [of_a, of_b] = difference.ruling.pairs.diverged();
    let (a, b) = (label(&difference.activation), label(&difference.baseline));
    let of = |diverged: usize, name: &str| format!("{diverged} of {count} runs of {name}");
    let who = match (of_a, of_b) {
        (_, 0) => of(of_a, &a),
        (0, _) => of(of_b, &b),
        _ => format!("{} and {}", of(of_a, &a), of(of_b, &b)),
    };
    format!("{who} diverged, so there is no mean difference")
}

fn seeds(count: usize) -> String {
    if count == 1 { "1 seed".to_owned() } else { format!("{count} seeds") }
}

fn said_interval([low, high]: [f64; 2], wording: Wording) -> String {
    let resolution = (high - low) / 2.0;
    format!("{} to {}", wording.number(low, resolution), wording.number(high, resolution))
}

/// With a real minus sign, and never `−0`.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// `0.0003`, `0.0625`, `0.35`, `< 0.0001`.
fn p_value(p: f64) -> String {
    if p < 1e-4 {
        return "< 0.0001".to_owned();
    }
    let text = format!("{p:.4}");
    let short = text.trim_end_matches('0');
    // At least two decimals.
    text[..short.len().max(4)].to_owned()
}

/// `95 %`, `97.5 %`.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::super::contrast::{Contrast, rule};
    use super::super::statistics::Mean;
    use super::*;

    fn of(pairs: &[[f64; 2]], family: usize, negligible: f64) -> Difference {
        let by_seed = (1..).zip(pairs.iter().copied()).collect();
        let mut contrasts = vec![Contrast { by_seed }];
        contrasts.resize(family, Contrast::default());
        let ruling = rule(&contrasts, negligible).remove(0);
        let pairs = &ruling.pairs;
        Difference {
            activation: "gelu".to_owned(),
            baseline: "relu".to_owned(),
            dropout: 0.0,
            mean: Mean::of(&pairs.differences()).filter(|_| !pairs.any_diverged()),
            ruling,
            outstanding: 0,
            negligible,
            sequential: false,
        }
    }

    fn said(difference: &Difference) -> String {
        sentence(difference, Wording::new(Primary::TestError, LossKind::LogLoss))
    }

    /// Errors of the baseline around 2 %, and these differences from it, in points.
    fn points(differences: &[f64]) -> Vec<[f64; 2]> {
        differences.iter().map(|d| [0.02 + d / 100.0, 0.02]).collect()
    }

    #[test]
    fn better_and_worse_are_said_with_all_that_is_needed_to_check_them() {
        let ahead = [-0.31, -0.25, -0.4, -0.3, -0.35, -0.28, -0.33, -0.3];
        // scipy.stats.t.interval(0.95, 7, mean, sem): −0.35310 to −0.27690.
        assert_eq!(
            said(&of(&points(&ahead), 2, 0.001)),
            "GELU is better than ReLU by 0.315 points of test error (95 % interval 0.277 to 0.353; \
             8 seeds; p = 0.0156 after Holm; better in 8 of 8)."
        );
        let behind = said(&of(&points(&ahead.map(|d| -d)), 1, 0.001));
        assert!(behind.starts_with("GELU is worse than ReLU by 0.315 points"), "{behind}");
        assert!(behind.ends_with("p = 0.0078; worse in 8 of 8)."), "{behind}");
    }

    #[test]
    fn sameness_is_said_with_its_bound_and_that_it_is_not_zero() {
        let small = [-0.02, -0.01, -0.02, -0.03, -0.02, -0.01, -0.02, -0.02];
        let text = said(&of(&points(&small), 1, 0.001));
        assert!(
            text.starts_with(
                "GELU is the same as ReLU by test error: the difference is smaller than 0.1 \
                 points, though not zero (−0.0187"
            ),
            "{text}"
        );
        let none = [-0.02, 0.01, 0.02, 0.0, -0.02, 0.01, 0.0, 0.0];
        let text = said(&of(&points(&none), 1, 0.001));
        assert!(text.contains("than 0.1 points (0.0000, 90 % interval"), "{text}");
        assert!(text.ends_with("better in 2 of 8, equal in 3)."), "{text}");
    }

    #[test]
    fn too_few_seeds_are_told_how_many_can() {
        let five = [-0.31, -0.25, -0.4, -0.3, -0.35];
        let text = said(&of(&points(&five), 1, 0.001));
        assert!(
            text.contains("5 seeds cannot decide this (smallest possible p: 0.0625); 8 can."),
            "{text}"
        );
        let text = said(&of(&points(&five), 4, 0.001));
        assert!(text.contains("(smallest possible p: 0.25 after Holm); 8 can."), "{text}");
        let one = said(&of(&points(&[-0.3]), 1, 0.001));
        assert!(one.contains("1 seed cannot decide this (smallest possible p: 1.00)"), "{one}");
        assert!(one.contains("the difference is −0.30 points of test error"), "{one}");
        assert!(said(&of(&[], 1, 0.001)).contains("no pair of runs is complete yet"));
    }

    #[test]
    fn undecided_says_how_many_more_and_why_an_interval_alone_decides_nothing() {
        let wide = [-0.5, 0.3, -0.2, 0.1, -0.4, 0.2, -0.3, 0.4];
        let text = said(&of(&points(&wide), 1, 0.001));
        assert!(text.starts_with("GELU against ReLU is undecided: the difference is"), "{text}");
        assert!(text.contains("more seeds"), "{text}");
        let clear = [-0.5, -0.3, -0.2, -0.1, -0.4, -0.2, -0.3, 0.1];
        let text = said(&of(&points(&clear), 8, 0.001));
        assert!(text.contains("8 seeds cannot decide"), "{text}");
        let text = said(&of(&points(&clear), 4, 0.001));
        assert!(
            text.ends_with(
                "The interval excludes 0, and is one comparison's; 4 comparisons were made."
            ),
            "{text}"
        );
    }

    #[test]
    fn divergence_takes_the_place_of_a_mean() {
        let mut pairs = points(&[-0.1; 8]);
        for pair in &mut pairs[..3] {
            pair[0] = f64::INFINITY;
        }
        let text = said(&of(&pairs, 1, 0.001));
        assert!(
            text.contains("3 of 8 runs of GELU diverged, so there is no mean difference (8 seeds"),
            "{text}"
        );
        assert!(!text.contains("interval") && !text.contains("inf"), "{text}");
        let lost = said(&of(&[[f64::INFINITY, 0.02]; 8], 1, 0.001));
        assert!(lost.starts_with("GELU is worse than ReLU by test error: 8 of 8 runs"), "{lost}");
    }

    #[test]
    fn numbers_are_as_fine_as_their_interval() {
        let errors = Wording::new(Primary::TestError, LossKind::LogLoss);
        assert_eq!(errors.number(-0.0031, 0.0013), "−0.31");
        assert_eq!(errors.number(-1e-9, 0.0013), "0.00");
        assert_eq!(errors.number(0.00012, 0.00001), "0.0120");
        let losses = Wording::new(Primary::TestLoss, LossKind::SquaredError);
        assert_eq!(losses.number(0.00012, 0.00001), "0.000120");
        assert_eq!(
            (p_value(0.0625), p_value(0.35), p_value(1e-7)),
            ("0.0625".into(), "0.35".into(), "< 0.0001".into())
        );
        assert_eq!((percent(0.95), percent(0.975)), ("95 %".to_owned(), "97.5 %".to_owned()));
    }
}
