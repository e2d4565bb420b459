//! Judges a table over tasks.

use super::judge::{Pair, Question, TableVerdict, distinct};
use super::{Arm, Columns, Table};
use crate::comparison::statistics::Schedule;
use crate::comparison::{Rule, Scores, Task, over_tasks};
use crate::error::Place;
use crate::measure::Scale;
use crate::names::excerpt;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the verdicts over the tasks of a table. `columns.each` contains only the column of tasks.
///
/// # Errors
///
/// Returns an error if the baseline is not in the table, or if an arm lacks a task or a seed of a task.
pub(crate) fn judge_over_tasks(
    table: &Table,
    path: &Path,
    columns: &Columns,
    question: &Question,
    scale: Scale,
) -> Result<Vec<TableVerdict>> {
    let pairs = question.pairs(table, path)?;
    let arms = distinct(pairs.iter().map(|pair| pair.arm.value.as_str()));
    let tasks = distinct(table.arms.iter().map(|arm| arm.each[0].as_str()));
    let judged = |name: &&str| {
        let of_arm = pairs.iter().filter(|pair| pair.arm.value == **name);
        let of_arm: Vec<&Pair<'_>> = of_arm.collect();
        if let Some(task) = tasks.iter().find(|task| of_arm.iter().all(|p| p.arm.each[0] != **task))
        {
            return Err(Error::data(
                path,
                Place::File,
                format!("{} has no run of the task {}", excerpt(name), excerpt(task)),
                "every setting needs every task; leave the task out of all with --only, or add its runs",
            ));
        }
        let of_task = |pair: &&Pair<'_>| task(table, pair, columns, path);
        let of_tasks: Vec<Task> = of_arm.iter().map(of_task).collect::<Result<_>>()?;
        let pair = of_arm[0];
        let labels = [(question.label)(name), question.baseline_label(pair)];
        let rule = Rule {
            schedule: Schedule::fixed(of_tasks.len() as u64),
            comparisons: arms.len(),
            alpha: question.alpha,
            negligible: question.negligible,
            judgement: None,
        };
        let scores = Scores::new(&labels[0], &labels[1], BTreeMap::new());
        let finding = over_tasks(scores, &of_tasks, scale, &rule, &question.wording);
        let baseline = pair.baseline.as_ref().map_or_else(String::new, |arm| arm.value.clone());
        let arm = (*name).to_owned();
        Ok(TableVerdict { arm, baseline, each: BTreeMap::new(), finding })
    };
    arms.iter().map(judged).collect()
}

/// Returns the scores of both at one task, by seed. Runs without seeds are paired in the order of the file.
fn task(table: &Table, pair: &Pair<'_>, columns: &Columns, path: &Path) -> Result<Task> {
    let name = pair.arm.each[0].clone();
    let baseline = pair.baseline.as_ref();
    let cost = |arm: &Arm, seed: i64| table.score(arm, seed).map(|score| score.cost);
    let seeds = table.seeds_of(pair.arm);
    let others = baseline.map_or_else(Vec::new, |arm| table.seeds_of(arm));
    let of = |seed: &i64, other: &i64| {
        Some([cost(pair.arm, *seed)?, baseline.and_then(|arm| cost(arm, *other))?])
    };
    let found: Vec<[f64; 2]> = match columns.unpaired {
        true => seeds.iter().zip(&others).filter_map(|(seed, other)| of(seed, other)).collect(),
        false => seeds.iter().filter_map(|seed| of(seed, seed)).collect(),
    };
    if found.is_empty() || found.len() != seeds.len().max(others.len()) {
        return Err(Error::data(
            path,
            Place::File,
            format!(
                "at the task {}, {} and {} do not have the same seeds",
                excerpt(&name),
                excerpt(&pair.arm.value),
                excerpt(baseline.map_or("", |arm| &arm.value)),
            ),
            "add the runs that are missing, or leave their seeds out of both",
        ));
    }
    Ok(Task { name, by_seed: (1..).zip(found).collect() })
}
