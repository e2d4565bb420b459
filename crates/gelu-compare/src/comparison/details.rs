//! The details next to a verdict, which help to check it.

use super::finding::{Finding, ScoreSummary};
use super::sample::Sample;
use super::statistics::{is_skewed, rarest_failure, repeated};
use super::verdict::Verdict;
use super::wording::Wording;
use crate::names::excerpts;

/// Returns the details: scores, power, the assumptions of the test, and reasons for doubt. Returns `None` for fewer
/// than two pairs.
pub(super) fn details(finding: &Finding, wording: &Wording) -> Option<String> {
    let said = [
        means(finding, wording),
        wins(finding),
        power(finding, wording),
        early(finding),
        failures(finding),
        pairing(finding),
        below_margin(finding, wording),
        coarse(finding, wording),
        copies(finding),
        skewness(finding),
    ];
    if let Some([a, b]) = finding.unpaired_runs {
        let spread = (a != b).then(|| {
            "With unequal numbers of runs and unequal spread, the test errs in up to 9% of cases, and in up to 16% of \
             skewed scores."
                .to_owned()
        });
        return Some(
            means(finding, wording).into_iter().chain(spread).collect::<Vec<_>>().join(" "),
        );
    }
    (finding.seeds > 1).then(|| said.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

fn means(finding: &Finding, wording: &Wording) -> Option<String> {
    let of = |name: &str, scores: Option<ScoreSummary>| {
        let scores = scores?;
        let number =
            |value: f64| wording.number(value, scores.deviation.max(1e-3 * scores.mean.abs()));
        Some(format!(
            "{name} {}{} (standard deviation {})",
            number(scores.mean),
            wording.unit(),
            number(scores.deviation)
        ))
    };
    let arm = of(&finding.arm, finding.scores)?;
    match finding.sample {
        Sample::Seeds => {
            Some(format!("Means: {arm}, {}.", of(&finding.baseline, finding.baseline_scores)?))
        }
        Sample::Target => Some(format!("Mean: {arm}.")),
        Sample::Tasks => None,
    }
}

fn wins(finding: &Finding) -> Option<String> {
    let ties = match finding.ties {
        0 => String::new(),
        ties => format!(", {ties} equal"),
    };
    Some(format!("{} won {} of {}{ties}.", finding.arm, finding.better, finding.counted()))
}

fn power(finding: &Finding, wording: &Wording) -> Option<String> {
    let detectable = finding.detectable?;
    let most = if finding.until_decided { "up to " } else { "" };
    let units = finding.units(finding.planned_seeds);
    Some(format!(
        "If the true difference is {}{}, {most}{units} {} it 80% of the time.",
        wording.number(detectable, detectable),
        wording.unit(),
        if finding.planned_seeds == 1 { "finds" } else { "find" },
    ))
}

/// Returns a warning about early stopping. The first seed that decides tends to be one at which the difference is
/// large by chance.
fn early(finding: &Finding) -> Option<String> {
    let after = finding.decided_after?;
    let is_early = finding.until_decided
        && finding.verdict != Verdict::Undecided
        && (after as u64) < finding.planned_seeds
        && finding.mean.is_some();
    is_early.then(|| {
        format!(
            "It was decided after {after} of up to {} seeds. Stopping early exaggerates a difference: the true one is \
             probably smaller.",
            finding.planned_seeds
        )
    })
}

fn failures(finding: &Finding) -> Option<String> {
    let share = (100.0 * rarest_failure(finding.seeds)).round();
    (!finding.has_no_mean() && finding.sample != Sample::Tasks)
        .then(|| {
            format!(
                "Something that goes wrong in fewer than {share}% of runs may not have happened in these {}.",
                finding.seeds
            )
        })
}

fn pairing(finding: &Finding) -> Option<String> {
    if finding.built_differently {
        return Some(
            "Their networks are built differently: with the same seed they see the same batches, and begin with different \
             weights."
                .to_owned(),
        );
    }
    let ratio = finding.variance_ratio?;
    Some(match ratio < 0.95 {
        true => format!(
            "Comparing runs with the same seed removed {:.0}% of the variance.",
            100.0 * (1.0 - ratio)
        ),
        false => "Comparing runs with the same seed did not reduce the variance.".to_owned(),
    })
}

/// Returns a sentence if the verdict is *same* although the interval does not contain 0.
fn below_margin(finding: &Finding, wording: &Wording) -> Option<String> {
    let [low, high] = finding.interval?.ends();
    let differs = finding.verdict == Verdict::Same && (low > 0.0 || high < 0.0);
    let negligible = finding.rule.as_ref()?.negligible;
    differs.then(|| {
        format!(
            "The interval does not contain 0: they differ, by less than the {} that you declared negligible.",
            wording.short(negligible)
        )
    })
}

fn coarse(finding: &Finding, wording: &Wording) -> Option<String> {
    let step = finding.coarse?;
    let negligible = finding.rule.as_ref()?.negligible;
    Some(format!(
        "Scores come in steps of {}, wider than {}, so they cannot be shown to be the same.",
        wording.short(step),
        wording.short(negligible)
    ))
}

/// Returns a warning about seeds with the same two scores. A run that was pasted twice is not a repetition.
fn copies(finding: &Finding) -> Option<String> {
    let copies = repeated(finding.pairs.list());
    let said: Vec<String> =
        copies.iter().map(|[first, again]| format!("{again} and {first}")).collect();
    (!copies.is_empty() && !finding.is_constant && finding.sample == Sample::Seeds).then(|| {
        format!(
            "These seeds have the same two scores: {}. Copies of one run count as one.",
            excerpts(said.iter().map(String::as_str)).replace('`', "")
        )
    })
}

fn skewness(finding: &Finding) -> Option<String> {
    is_skewed(&finding.pairs.differences()).then(|| {
        "The differences are skewed, but the test assumes symmetric ones: this verdict may be wrong more often.".to_owned()
    })
}
