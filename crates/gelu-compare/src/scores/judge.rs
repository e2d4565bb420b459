use super::{Arm, Columns, Table};
use crate::comparison::statistics::{Schedule, Unpaired};
use crate::comparison::{Finding, Guard, Rule, Sample, Scores, Wording};
use crate::error::Place;
use crate::names::{excerpt, excerpts};
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The verdict on one arm and the baseline, at one combination of values of the other columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableVerdict {
    /// The arm's value in the column that is compared.
    pub arm: String,
    /// The baseline's value in that column.
    pub baseline: String,
    /// The values of the columns at each of whose values there is a verdict, by column.
    pub each: BTreeMap<String, String>,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The question that a table is judged by.
#[derive(Clone, Debug)]
pub struct Question {
    /// The wording of scores.
    pub wording: Wording,
    /// The arm that the others are compared with; the first one of the table if `None`.
    pub baseline: Option<String>,
    /// A number that all arms are compared with, instead of a baseline.
    pub target: Option<f64>,
    /// δ: differences up to this size are negligible; 0 if nothing is called the same.
    pub negligible: f64,
    /// The wording of the metric that must not get worse, and the margin by which it may get worse.
    pub guard: Option<(Wording, f64)>,
    /// α: the maximum probability that any verdict of the table is wrong.
    pub alpha: f64,
    /// The number of planned seeds; the number in the table if `None`.
    pub planned: Option<u64>,
    /// Returns the name of an arm in sentences.
    pub label: fn(&str) -> String,
}

/// An arm and what it is compared with.
pub(super) struct Pair<'a> {
    pub(super) arm: &'a Arm,
    /// The baseline; `None` if the arm is compared with a target.
    pub(super) baseline: Option<Arm>,
}

impl Question {
    /// Returns every arm with the baseline or the target, in the order of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the baseline is not in the table, or if there is nothing to compare.
    pub(super) fn pairs<'a>(&self, table: &'a Table, path: &Path) -> Result<Vec<Pair<'a>>> {
        let refuse =
            |problem: String, advice: &str| Error::data(path, Place::File, problem, advice);
        let Some(first) = table.arms.first() else {
            return Err(refuse(
                "holds no scores".to_owned(),
                "the columns' names are followed by one line per run",
            ));
        };
        if self.target.is_some() {
            return Ok(table.arms.iter().map(|arm| Pair { arm, baseline: None }).collect());
        }
        let baseline = self.baseline.as_ref().unwrap_or(&first.value);
        let names = distinct(table.arms.iter().map(|arm| arm.value.as_str()));
        if !names.contains(&baseline.as_str()) {
            let advice = format!("there are: {}", excerpts(names.into_iter()));
            return Err(refuse(
                format!("the baseline {} is not there", excerpt(baseline)),
                &advice,
            ));
        }
        let others = table.arms.iter().filter(|arm| arm.value != *baseline);
        let pair = |arm: &'a Arm| Pair {
            arm,
            baseline: Some(Arm { value: baseline.clone(), each: arm.each.clone() }),
        };
        let pairs: Vec<Pair<'a>> = others.map(pair).collect();
        match pairs.is_empty() {
            true => Err(refuse(
                format!("{} stands alone", excerpt(baseline)),
                "two values of the column that is compared are needed at least; --target compares one with a number",
            )),
            false => Ok(pairs),
        }
    }

    /// Returns the baseline's name in sentences.
    pub(super) fn baseline_label(&self, pair: &Pair<'_>) -> String {
        match (&pair.baseline, self.target) {
            (Some(baseline), _) => (self.label)(&baseline.value),
            (None, target) => format!("the target {}", target.unwrap_or(f64::NAN)),
        }
    }
}

/// Returns the verdicts of a table.
///
/// Seeds pair runs, in the order of the file. All arms therefore need the same seeds, unless runs have none.
///
/// # Errors
///
/// Returns an error if the baseline is not in the table, if an arm lacks a seed, or if there is nothing to compare.
pub fn judge(
    table: &Table,
    path: &Path,
    columns: &Columns,
    question: &Question,
) -> Result<Vec<TableVerdict>> {
    let pairs = question.pairs(table, path)?;
    let judged = |pair: &Pair<'_>| {
        let finding = match columns.unpaired && question.target.is_none() {
            true => unpaired(table, pair, pairs.len(), question, path)?,
            false => {
                if let Some(baseline) = &pair.baseline {
                    same_seeds(table, baseline, pair.arm, path)?;
                }
                paired(table, pair, pairs.len(), question)
            }
        };
        let baseline = match &pair.baseline {
            Some(baseline) => baseline.value.clone(),
            None => question.baseline_label(pair),
        };
        let each = columns.each.iter().cloned().zip(pair.arm.each.iter().cloned()).collect();
        Ok(TableVerdict { arm: pair.arm.value.clone(), baseline, each, finding })
    };
    pairs.iter().map(judged).collect()
}

/// Judges the scores of both by the seeds that they share.
pub(super) fn paired(
    table: &Table,
    pair: &Pair<'_>,
    comparisons: usize,
    question: &Question,
) -> Finding {
    let sign = question.wording.of_measure(1.0);
    let seeds = table.seeds_of(pair.arm);
    let both = |seed: &i64| {
        let arm = table.score(pair.arm, *seed)?;
        match (&pair.baseline, question.target) {
            (Some(baseline), _) => {
                let other = table.score(baseline, *seed)?;
                Some([[arm.cost, other.cost], [arm.guard, other.guard]])
            }
            (None, target) => Some([[arm.cost, sign * target?], [0.0; 2]]),
        }
    };
    let by_seed = |which: usize| -> BTreeMap<u64, [f64; 2]> {
        (1..).zip(seeds.iter().filter_map(both).map(|both| both[which])).collect()
    };
    let rule = Rule {
        schedule: Schedule::fixed(question.planned.unwrap_or(seeds.len() as u64)),
        comparisons,
        alpha: question.alpha,
        negligible: question.negligible,
        judgement: None,
    };
    let guard = question.guard.as_ref().map(|(wording, margin)| Guard {
        wording: wording.clone(),
        margin: *margin,
        by_seed: by_seed(1),
    });
    let (arm, baseline) = ((question.label)(&pair.arm.value), question.baseline_label(pair));
    let sample = if pair.baseline.is_none() { Sample::Target } else { Sample::Seeds };
    let scores = Scores { guard, sample, ..Scores::new(&arm, &baseline, by_seed(0)) };
    Finding::of(scores, &rule, &question.wording)
}

/// Judges the runs of both, which share no seeds.
fn unpaired(
    table: &Table,
    pair: &Pair<'_>,
    comparisons: usize,
    question: &Question,
    path: &Path,
) -> Result<Finding> {
    /// If the numbers of runs differ and one is smaller than this, the test errs when the spreads differ, too.
    const FEWEST: usize = 8;
    let costs = |arm: &Arm| -> Vec<f64> {
        let costs = table.seeds_of(arm).into_iter().filter_map(|seed| table.score(arm, seed));
        costs.map(|score| score.cost).collect()
    };
    let baseline = pair.baseline.as_ref();
    let both = [costs(pair.arm), baseline.map_or_else(Vec::new, costs)];
    let [a, b] = [both[0].len(), both[1].len()];
    let names = [(question.label)(&pair.arm.value), question.baseline_label(pair)];
    let problem = |advice: &str| {
        let [arm, other] = &names;
        Error::data(path, Place::File, format!("has {a} runs of {arm} and {b} of {other}"), advice)
    };
    if a != b && a.min(b) < FEWEST {
        return Err(problem("runs without pairs need 8 of each, or equal numbers of both"));
    }
    let test = Unpaired::new(&both[0], &both[1])
        .ok_or_else(|| problem("two runs of each are needed at least"))?;
    let rule = Rule {
        schedule: Schedule::fixed(a.min(b) as u64),
        comparisons,
        alpha: question.alpha,
        negligible: 0.0,
        judgement: None,
    };
    Ok(Finding::of_unpaired(names, both, &test, &rule, &question.wording))
}

/// Returns an error if an arm's seeds are not those of the baseline.
fn same_seeds(table: &Table, baseline: &Arm, arm: &Arm, path: &Path) -> Result<()> {
    let missing = |from: &Arm, of: &Arm| {
        let lacks = |seed: &i64| table.score(from, *seed).is_none();
        table.seeds_of(of).into_iter().find(lacks)
    };
    let named = |arm: &Arm| match arm.each.is_empty() {
        true => excerpt(&arm.value),
        false => {
            format!("{} ({})", excerpt(&arm.value), excerpts(arm.each.iter().map(String::as_str)))
        }
    };
    for (from, of) in [(arm, baseline), (baseline, arm)] {
        if let Some(seed) = missing(from, of) {
            let line = table.score(of, seed).map_or(0, |score| score.line as usize);
            return Err(Error::data(
                path,
                Place::Line(line),
                format!("{} has seed {seed}, and {} has not", named(of), named(from)),
                "pairs are made by seed: add the run, or leave the seed out of both; --unpaired compares runs that share \
                 no seeds",
            ));
        }
    }
    Ok(())
}

pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
