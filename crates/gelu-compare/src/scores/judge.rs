use super::{Arm, Scores};
use crate::comparison::{Contrast, Found, Rules};
use crate::error::Place;
use crate::measure::Looks;
use crate::names::{excerpt, excerpts};
use crate::{Error, Result};
use std::path::Path;

/// One arm beside the baseline, at one combination of the columns that a verdict is made at each of.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The arm.
    pub arm: Arm,
    /// The value of the baseline in the column that is compared.
    pub baseline: String,
    /// What the comparison found, of costs: lower is better.
    pub found: Found,
}

/// The verdicts of a table, each arm beside `baseline` (the first arm where none is named), in the order
/// of the file.
///
/// All arms need the same seeds, which are one look; `looked_at` names the numbers of seeds after which
/// the table was looked at before, so that this look has its price.
///
/// # Errors
///
/// A baseline that is not there, an arm that lacks a seed, nothing to compare.
pub fn judge(
    scores: &Scores,
    path: &Path,
    baseline: Option<&str>,
    negligible: f64,
    looked_at: &[u64],
) -> Result<Vec<Judged>> {
    let refuse = |problem: String, advice: &str| Error::data(path, Place::File, problem, advice);
    let Some(first) = scores.arms.first() else {
        return Err(refuse(
            "holds no scores".to_owned(),
            "a line a run follows the columns' names",
        ));
    };
    let baseline = baseline.unwrap_or(&first.value).to_owned();
    let names = distinct(scores.arms.iter().map(|arm| arm.value.as_str()));
    if !names.contains(&baseline.as_str()) {
        let advice = format!("there are: {}", excerpts(names.into_iter()));
        return Err(refuse(format!("the baseline {} is not there", excerpt(&baseline)), &advice));
    }
    let pairs: Vec<(&Arm, Arm)> = scores
        .arms
        .iter()
        .filter(|arm| arm.value != baseline)
        .map(|arm| (arm, Arm { value: baseline.clone(), each: arm.each.clone() }))
        .collect();
    if pairs.is_empty() {
        return Err(refuse(
            format!("{} stands alone", excerpt(&baseline)),
            "two values of the column that is compared are needed at least",
        ));
    }
    let seeds = scores.seeds(first);
    for arm in scores.arms.iter().chain(pairs.iter().map(|(_, base)| base)) {
        same_seeds(scores, first, arm, path)?;
    }
    let looks = looks(seeds.len() as u64, looked_at, path)?;
    let rules = Rules { comparisons: pairs.len(), looks, negligible };
    let judged = |(arm, base): (&Arm, Arm)| {
        let cost = |arm: &Arm, seed| scores.score(arm, seed).map(|score| score.cost);
        let pair = |(position, seed): (u64, &i64)| {
            Some((position, [cost(arm, *seed)?, cost(&base, *seed)?]))
        };
        let by_seed = (1..).zip(&seeds).filter_map(pair).collect();
        let found = Found::of_scores(&arm.value, &base.value, &Contrast { by_seed }, &rules);
        Judged { arm: arm.clone(), baseline: base.value, found }
    };
    Ok(pairs.into_iter().map(judged).collect())
}

/// Refuses an arm whose seeds are others than those of the first.
fn same_seeds(scores: &Scores, first: &Arm, arm: &Arm, path: &Path) -> Result<()> {
    let missing = |from: &Arm, of: &Arm| {
        let lacks = |seed: &i64| scores.score(from, *seed).is_none();
        scores.seeds(of).into_iter().find(lacks)
    };
    let named = |arm: &Arm| match arm.each.is_empty() {
        true => excerpt(&arm.value),
        false => {
            format!("{} ({})", excerpt(&arm.value), excerpts(arm.each.iter().map(String::as_str)))
        }
    };
    for (from, of) in [(arm, first), (first, arm)] {
        if let Some(seed) = missing(from, of) {
            let line = scores.score(of, seed).map_or(0, |score| score.line as usize);
            return Err(Error::data(
                path,
                Place::Line(line),
                format!("{} has seed {seed}, and {} has not", named(of), named(from)),
                "pairs are made by seed: add the run, or leave the seed out of all",
            ));
        }
    }
    Ok(())
}

/// One look after so many seeds, beside those that were taken before.
fn looks(seeds: u64, looked_at: &[u64], path: &Path) -> Result<Looks> {
    let mut before = looked_at.to_vec();
    before.sort_unstable();
    before.dedup();
    match before.split_first() {
        None => Ok(Looks::once(seeds)),
        Some(_) if before.contains(&0) => {
            Err(Error::Usage("--looked-at 0: nothing can be seen after no seed".to_owned()))
        }
        Some((first, further)) if before.last().is_some_and(|last| *last < seeds) => {
            Ok(Looks::once(*first).with_added(further.iter().copied().chain([seeds])))
        }
        Some(_) => Err(Error::data(
            path,
            Place::File,
            format!("has {seeds} seeds, and was looked at after {}", before[before.len() - 1]),
            "--looked-at names earlier looks, with fewer seeds",
        )),
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::Columns;
    use super::*;
    use crate::comparison::Verdict;
    use crate::measure::Direction;
    use std::fmt::Write;

    fn table(lines: &str, each: &[&str]) -> Scores {
        let columns = Columns {
            compare: "arm".into(),
            each: each.iter().map(|name| (*name).to_owned()).collect(),
            primary: "error".into(),
        };
        let text = format!("arm,width,seed,error\n{lines}");
        Scores::read(text.as_bytes(), Path::new("s.csv"), &columns, Direction::Lower).unwrap()
    }

    /// `b` is better than `a` at width 16, and the same at 32.
    fn lines(seeds: std::ops::Range<i64>) -> String {
        let mut text = String::new();
        for seed in seeds {
            let noise = 0.001 * ((seed * 7) % 5) as f64;
            for (arm, width, error) in [
                ("a", 16, 0.30 + noise),
                ("b", 16, 0.25 - 0.5 * noise),
                ("a", 32, 0.20),
                ("b", 32, 0.20 + 0.001 * noise),
            ] {
                writeln!(text, "{arm},{width},{seed},{error}").unwrap();
            }
        }
        text
    }

    fn refused(table: &Scores, baseline: Option<&str>, looked_at: &[u64]) -> String {
        judge(table, Path::new("s.csv"), baseline, 0.01, looked_at).unwrap_err().to_string()
    }

    #[test]
    fn there_is_a_verdict_at_each_value_whatever_the_seeds_are_called() {
        let table = table(&lines(100..108), &["width"]);
        let judged = judge(&table, Path::new("s.csv"), None, 0.01, &[]).unwrap();
        let verdicts: Vec<(String, Verdict)> =
            judged.iter().map(|j| (j.arm.each[0].clone(), j.found.ruling.verdict)).collect();
        assert_eq!(verdicts, [("16".into(), Verdict::Better), ("32".into(), Verdict::Same)]);
        let found = &judged[0].found;
        assert_eq!((found.baseline.as_str(), found.rules.comparisons), ("a", 2));
        assert_eq!(found.ruling.level, 0.025);
        let other = judge(&table, Path::new("s.csv"), Some("b"), 0.01, &[]).unwrap();
        assert_eq!(other[0].found.ruling.verdict, Verdict::Worse);
    }

    #[test]
    fn an_earlier_look_has_its_price() {
        let table = table(&lines(1..21), &["width"]);
        let judged = judge(&table, Path::new("s.csv"), None, 0.01, &[12, 8]).unwrap();
        // Decided at the first look, and still decided.
        assert_eq!(judged[0].found.ruling.look.map(|look| look.seeds), Some(8));
        assert_eq!(judged[0].found.rules.looks.iter().count(), 3);
        assert!(refused(&table, None, &[20]).contains("has 20 seeds"));
        assert!(refused(&table, None, &[0, 8]).contains("--looked-at 0"));
    }

    #[test]
    fn what_cannot_be_paired_is_refused_with_its_line() {
        let complete = lines(1..3);
        let missing = complete.replacen("b,16,2,", "b,16,9,", 1);
        let error = refused(&table(&missing, &["width"]), None, &[]);
        assert!(error.contains("`a` (`16`) has seed 2, and `b` (`16`) has not"), "{error}");
        assert!(error.contains("line 6"), "{error}");
        let error = refused(&table(&complete, &["width"]), Some("c"), &[]);
        assert!(
            error.contains("the baseline `c` is not there") && error.contains("`a`, `b`"),
            "{error}"
        );
        let error = refused(&table("a,1,1,0.5\n", &[]), None, &[]);
        assert!(error.contains("`a` stands alone"), "{error}");
        assert!(refused(&table("", &[]), None, &[]).contains("holds no scores"));
        let gone: String = complete
            .lines()
            .filter(|l| !l.starts_with("a,32"))
            .fold(String::new(), |text, line| text + line + "\n");
        let error = refused(&table(&gone, &["width"]), None, &[]);
        assert!(error.contains("and `a` (`32`) has not"), "{error}");
    }
}
