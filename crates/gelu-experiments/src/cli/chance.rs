//! Whether any network of a comparison has learned something about its test examples.

use crate::Result;
use crate::comparison::ComparisonReader;
use crate::data::DataSet;
use crate::output::complain;
use crate::recipe::Recipe;
use crate::runs::Stage;
use std::collections::BTreeMap;
use std::path::Path;

/// The error of always naming the commonest class of the test examples; `None` where nothing is classified.
pub(super) fn error_of_chance(data: &DataSet, recipe: &Recipe) -> Option<f64> {
    let limit = recipe.data.test_limit.unwrap_or(usize::MAX);
    let labels = match data {
        DataSet::Pictures(set) => set.test.part(0..limit).labels.clone(),
        DataSet::Windows(set) => set.test.spread(limit).labels().to_vec(),
        DataSet::Text(_) | DataSet::Points(_) => return None,
    };
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    labels.iter().for_each(|&label| *counts.entry(label).or_default() += 1);
    let commonest = counts.into_values().max().filter(|_| recipe.network.classifies())?;
    Some((labels.len() - commonest) as f64 / labels.len() as f64)
}

/// Says so where no run of a comparison is better than chance: a verdict on such runs says nothing.
///
/// # Errors
///
/// When the comparison cannot be read.
pub(super) fn warn(folder: &Path, chance: f64) -> Result<()> {
    let snapshot = ComparisonReader::open(folder)?.snapshot();
    let runs = snapshot.runs.iter().filter(|run| run.key.stage != Stage::Tuning);
    let errors: Vec<f64> = runs
        .filter_map(|run| {
            let reported = snapshot.reported.epoch_of(&snapshot.selection(), &run.epochs);
            reported?.get("test_error")
        })
        .collect();
    if !errors.is_empty() && errors.iter().all(|&error| error >= chance) {
        complain(&format!(
            "gelu: no network is better than always naming the commonest class of the test examples, which errs in \
             {:.2}% of them, so their differences say nothing; train for longer, or check what is to be learned: \
             `gelu data info` says how data of your own are read\n",
            100.0 * chance
        ));
    }
    Ok(())
}
