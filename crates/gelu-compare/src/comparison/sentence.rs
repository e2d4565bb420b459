//! Verdicts as sentences that a person can repeat.

use super::doubt::doubt;
use super::finding::{Finding, Guard};
use super::sample::Sample;
use super::verdict::Verdict;
use super::wording::{Wording, p_value, percent};

/// Returns the verdict as a sentence, followed by sentences on what would decide it, what more seeds cost, and
/// reasons for doubt.
pub(super) fn sentence(finding: &Finding, wording: &Wording, guard: Option<&Guard>) -> String {
    let (a, b) = (&finding.arm, &finding.baseline);
    if finding.runs() == [0, 0] {
        return format!("{a} and {b}: no pair of runs is complete yet.");
    }
    let said = match finding.verdict {
        Verdict::Better | Verdict::Worse => decided(finding, wording, guard),
        Verdict::Same => format!(
            "{a} and {b} are the same within {} of {} ({})",
            wording.short(finding.rule.as_ref().map_or(0.0, |rule| rule.negligible)),
            wording.metric(),
            evidence(finding, wording, finding.interval.map(|interval| interval.ends())),
        ),
        Verdict::Undecided => undecided(finding, wording, guard),
    };
    let further = [what_would_decide(finding), price(finding), doubt(finding)];
    let further: String = further.into_iter().flatten().map(|text| format!(" {text}")).collect();
    format!("{said}.{further}")
}

fn decided(finding: &Finding, wording: &Wording, guard: Option<&Guard>) -> String {
    let (a, b) = (&finding.arm, &finding.baseline);
    let is_better = finding.verdict == Verdict::Better;
    let (winner, loser) = if is_better { (a, b) } else { (b, a) };
    let metric = wording.metric();
    let evidence = evidence(finding, wording, of_lead(finding));
    let said = match finding.mean {
        Some(mean) => {
            let size = wording.number(mean.abs(), finding.resolution());
            let average = average(finding);
            format!(
                "{winner} beats {loser} by {size}{} of {metric}{average} ({evidence})",
                wording.unit()
            )
        }
        None => format!("{winner} beats {loser} in {metric}: {} ({evidence})", divergence(finding)),
    };
    match guard.filter(|_| is_better) {
        Some(Guard { wording, margin, .. }) => {
            format!(
                "{said}, and is at most {} worse in {}",
                wording.short(*margin),
                wording.metric()
            )
        }
        None => said,
    }
}

fn undecided(finding: &Finding, wording: &Wording, guard: Option<&Guard>) -> String {
    let (a, b) = (&finding.arm, &finding.baseline);
    let count = finding.pairs.len();
    let lead = lead(finding, wording);
    if finding.is_constant && finding.ties == count {
        return format!(
            "{a} and {b} cannot be told apart: they have the same score at all {count} seeds. Check that the program \
             uses what is compared"
        );
    }
    if finding.is_constant {
        return format!(
            "{a} and {b} cannot be told apart: their difference is the same at all {count} seeds, so nothing varied \
             with the seed. If a program ignores its seed, its runs are copies of one run"
        );
    }
    if finding.is_given_up() {
        return given_up(finding, &lead, &evidence(finding, wording, of_lead(finding)));
    }
    if finding.lapsed {
        let after = finding.decided_after.unwrap_or(count);
        return format!(
            "{a} and {b} cannot be told apart any more: later seeds contradict what {after} had shown. Now {lead} \
             ({})",
            finding.counted()
        );
    }
    let first = finding.rule.as_ref().map_or(0, |rule| rule.first());
    if finding.unpaired_runs.is_none() && (count as u64) < first {
        let most = if finding.until_decided { "at most " } else { "" };
        let come = match finding.outstanding {
            0 => String::new(),
            1 => "; 1 run is still to come".to_owned(),
            runs => format!("; {runs} runs are still to come"),
        };
        return format!(
            "{a} and {b}, after {count} of {most}{}: {lead}{come}",
            finding.units(finding.planned_seeds)
        );
    }
    let evidence = evidence(finding, wording, of_lead(finding));
    match guard.filter(|_| finding.no_worse == Some(false) && finding.decided_after.is_some()) {
        Some(Guard { wording: other, margin, .. }) => format!(
            "{a} beats {b} in {}, but may be worse in {} by more than {}: {lead} ({evidence})",
            wording.metric(),
            other.metric(),
            other.short(*margin),
        ),
        None => format!("{a} and {b} cannot be told apart yet: {lead} ({evidence})"),
    }
}

/// Returns the sentence on a comparison that a session gives up, with the reason.
fn given_up(finding: &Finding, lead: &str, evidence: &str) -> String {
    let (a, b) = (&finding.arm, &finding.baseline);
    let why = match finding.pairs.len() as u64 >= finding.planned_seeds {
        true => "all planned pairs are used",
        false => "an improvement is unlikely",
    };
    format!(
        "{a} is not shown to be better than {b}, and is given up because {why}: {lead} ({evidence})"
    )
}

/// Returns `GELU is ahead by 0.12 points of test error`, or says which runs diverged.
fn lead(finding: &Finding, wording: &Wording) -> String {
    if finding.has_no_mean() {
        return divergence(finding);
    }
    let pairs = &finding.pairs;
    let mean = finding.mean.unwrap_or_else(|| wording.of_measure(pairs.differences()[0]));
    if mean.abs() * pairs.len().max(1) as f64 <= pairs.tolerance() {
        return "the mean difference is 0".to_owned();
    }
    let size = wording.number(mean.abs(), finding.resolution());
    let is_arm = (mean > 0.0) == wording.higher_is_better();
    let leader = if is_arm { &finding.arm } else { &finding.baseline };
    format!(
        "{leader} is ahead by {size}{} of {}{}",
        wording.unit(),
        wording.metric(),
        average(finding)
    )
}

fn average(finding: &Finding) -> &'static str {
    match finding.sample {
        Sample::Tasks => " on average",
        _ => "",
    }
}

/// Returns the evidence: `95% interval 8.82 to 16.58; 12 seeds; p = 0.004`.
fn evidence(finding: &Finding, wording: &Wording, interval: Option<[f64; 2]>) -> String {
    let mut parts = Vec::new();
    if let (Some(ends), Some(found)) = (interval, finding.interval) {
        parts.push(format!("{} interval {}", level(found.level), wording.interval(ends)));
    }
    parts.push(finding.counted());
    if matches!(finding.verdict, Verdict::Better | Verdict::Worse)
        && let Some(p) = finding.p
    {
        let said = p_value(p);
        let equals = if said.starts_with('<') { "" } else { "= " };
        parts.push(format!("p {equals}{said}"));
    }
    parts.extend(wider(finding, wording));
    parts.join("; ")
}

/// Returns the interval for more than new seeds: `on new test examples 8.1 to 17.3`.
fn wider(finding: &Finding, wording: &Wording) -> Option<String> {
    let seeds = of_lead(finding)?;
    let wider = finding.wider_interval.as_ref()?;
    let ends = turned(finding.mean?, [wider.low, wider.high]);
    Some(match seeds[0] > 0.0 && ends[0] <= 0.0 {
        true => wider.doubt.clone(),
        false => format!("on {} {}", wider.of, wording.interval(ends)),
    })
}

/// Returns the interval of the leader's lead.
fn of_lead(finding: &Finding) -> Option<[f64; 2]> {
    Some(turned(finding.mean?, finding.interval?.ends()))
}

fn turned(mean: f64, [low, high]: [f64; 2]) -> [f64; 2] {
    if mean < 0.0 { [-high, -low] } else { [low, high] }
}

/// Returns a sentence on what would decide an open comparison.
fn what_would_decide(finding: &Finding) -> Option<String> {
    let rule = finding.rule.as_ref().filter(|_| finding.is_open())?;
    if finding.unpaired_runs.is_none() && !rule.can_decide() {
        return Some(match finding.sample {
            Sample::Tasks => format!(
                "{} cannot decide it, whatever they show: that takes {} or more.",
                finding.counted(),
                finding.units(rule.fewest_seeds())
            ),
            sample => format!("{}.", rule.prospect(sample)),
        });
    }
    let total = finding.forecast_seeds?;
    let then = rule.alpha * rule.schedule.spent(total).max(1.0);
    Some(format!(
        "If that is its true size, about {} {}s in all would decide it; the chance of a wrong verdict in this table \
         then rises from {} to {}.",
        rounded_up(total),
        finding.sample.unit(),
        percent(rule.alpha),
        percent(then)
    ))
}

/// Rounds up to two significant digits, because a forecast is not more precise.
fn rounded_up(count: u64) -> u64 {
    let place = 10u64.pow(count.max(1).ilog10().saturating_sub(1));
    count.div_ceil(place) * place
}

/// Returns a sentence on the cost of seeds that were added to the planned ones.
fn price(finding: &Finding) -> Option<String> {
    (finding.alpha_spent > finding.alpha).then(|| {
        format!(
            "{} seeds were planned; with those that were added, the chance of a wrong verdict in this table rises from {} to \
             {}.",
            finding.planned_seeds,
            percent(finding.alpha),
            percent(finding.alpha_spent)
        )
    })
}

/// Returns why there is no mean: `ELU diverged in 3 of 8 runs, and GELU in 1`.
fn divergence(finding: &Finding) -> String {
    let [of_a, of_b] = [finding.diverged, finding.baseline_diverged];
    if of_a + of_b == 0 {
        return "scores are further apart than the largest number".to_owned();
    }
    let [of_all_a, of_all_b] = finding.runs();
    let (a, b) = (&finding.arm, &finding.baseline);
    match (of_a, of_b) {
        (_, 0) => format!("{a} diverged in {of_a} of {of_all_a} runs"),
        (0, _) => format!("{b} diverged in {of_b} of {of_all_b} runs"),
        _ => format!("{a} diverged in {of_a} of {of_all_a} runs, and {b} in {of_b} of {of_all_b}"),
    }
}

/// Formats a probability of nearly 1, with two digits of its distance from 1: `95%`, `98.3%`, `99.75%`.
fn level(probability: f64) -> String {
    let lacks = 100.0 * (1.0 - probability);
    let decimals = (1.0 - lacks.max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{:.decimals$}", 100.0 - lacks);
    match text.contains('.') {
        true => format!("{}%", text.trim_end_matches('0').trim_end_matches('.')),
        false => format!("{text}%"),
    }
}

#[cfg(test)]
mod tests;
