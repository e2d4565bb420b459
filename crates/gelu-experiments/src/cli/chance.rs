//! Checks whether any network of a comparison has learned something about its test examples.

use crate::Result;
use crate::comparison::SnapshotReader;
use crate::data::{self, DataSet, Table};
use crate::measure::Primary;
use crate::recipe::{Recipe, Trivial};
use gelu_compare::output::complain;
use gelu_compare::runs::Stage;
use std::collections::BTreeMap;
use std::path::Path;

/// The result of predicting the same for every example.
pub(super) struct Chance {
    /// The column of the metric.
    column: &'static str,
    value: f64,
}

/// Returns the chance level of data that have one table or set, if they are classified or a number of a table is
/// predicted.
pub(super) fn of_chance(data: &DataSet, recipe: &Recipe) -> Option<Chance> {
    match data {
        DataSet::Tables(set) => match &set.tables[..] {
            [table] => Some(match table.error_of_commonest() {
                Some((_, value)) => Chance { column: "test_error", value },
                None => Chance { column: "test_unexplained", value: 1.0 },
            }),
            _ => None,
        },
        _ => Some(Chance { column: "test_error", value: commonest(data, recipe)?.1 }),
    }
}

/// Returns the trivial predictions to which reports compare results on your own data: the commonest class, or the
/// mean.
pub(super) fn trivial(data: &DataSet, recipe: &Recipe) -> Vec<Trivial> {
    let (primary, limits) = (recipe.comparison.primary, recipe.data.test_limit);
    let always =
        |class: &str, value: f64| Trivial { label: format!("always {class}"), table: None, value };
    match data {
        // With a test limit, the full table's commonest class would not match the test examples.
        _ if limits.is_some() => Vec::new(),
        DataSet::Tables(set) => {
            let several = !recipe.comparison.tables.is_empty();
            let is_learned =
                |table: &&Table| !several || recipe.comparison.tables.contains(&table.name);
            let of = |table: &Table| {
                let row = match (table.error_of_commonest(), primary) {
                    (Some((class, value)), Primary::TestError) => always(&class, value),
                    (None, Primary::TestUnexplained) => {
                        Trivial { label: "the mean".to_owned(), table: None, value: 1.0 }
                    }
                    _ => return None,
                };
                Some(Trivial { table: several.then(|| table.name.clone()), ..row })
            };
            set.tables.iter().filter(is_learned).filter_map(of).collect()
        }
        DataSet::Pictures(set) if primary == Primary::TestError => {
            let is_own = data::own::kinds().iter().any(|kind| kind.name == recipe.data.set);
            let names = data.names();
            let row = |(class, value): (u8, f64)| always(&names[usize::from(class)], value);
            match is_own && !set.test.is_empty() {
                true => commonest(data, recipe).map(row).into_iter().collect(),
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Returns the commonest class of the test examples, and the error of always predicting it; `None` if the network
/// does not classify.
fn commonest(data: &DataSet, recipe: &Recipe) -> Option<(u8, f64)> {
    let limit = recipe.data.test_limit.unwrap_or(usize::MAX);
    let labels = match data {
        DataSet::Pictures(set) => set.test.part(0..limit).labels.clone(),
        DataSet::Windows(set) => set.test.spread(limit).labels().to_vec(),
        DataSet::Text(_) | DataSet::Points(_) | DataSet::Tables(_) => return None,
    };
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    labels.iter().for_each(|&label| *counts.entry(label).or_default() += 1);
    // Of equally common classes, take the first.
    let commonest = counts.into_iter().rev().max_by_key(|&(_, count)| count);
    let (class, count) = commonest.filter(|_| recipe.network.classifies())?;
    Some((class, (labels.len() - count) as f64 / labels.len() as f64))
}

/// Warns if no run of a comparison is better than chance, because verdicts on such runs mean nothing.
///
/// # Errors
///
/// If the comparison cannot be read.
pub(super) fn warn(folder: &Path, chance: Chance) -> Result<()> {
    let Chance { column, value: chance } = chance;
    let snapshot = SnapshotReader::open(folder)?.snapshot();
    let runs = snapshot.runs.iter().filter(|run| run.key.stage != Stage::Tuning);
    let errors: Vec<f64> = runs
        .filter_map(|run| {
            let reported = snapshot.design.reported.epoch_of(&snapshot.selection(), &run.epochs);
            reported?.get(column)
        })
        .collect();
    if !errors.is_empty() && errors.iter().all(|&error| error >= chance) {
        let (what, how) = match column {
            "test_error" => (
                "always naming the commonest class",
                format!("errs in {:.2}% of test examples", 100.0 * chance),
            ),
            _ => ("always predicting the mean", "explains none of the variance".to_owned()),
        };
        complain(&format!(
            "gelu: no network is better than {what}, which {how}, so their differences say nothing; train for longer, or \
             check what is to be learned: `gelu data info` says how data of your own are read\n"
        ));
    }
    Ok(())
}
