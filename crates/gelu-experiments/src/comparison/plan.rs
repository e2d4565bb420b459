use super::best_groups;
use crate::data::DataSource;
use crate::recipe::Recipe;
use crate::runs::{ComparisonSnapshot, Plan, RunSpec, RunStatus, Stage};

/// Every run of a comparison: activations × dropout rates × learning rates × seeds. Where the
/// recipe retrains after tuning, these are the runs that tune; [`final_specs`] are the others.
///
/// Seeds come outermost, so that all activations have their first run before any has its second:
/// whoever watches, or stops early, sees a comparison rather than one finished activation.
pub fn specs(recipe: &Recipe, backend: &str, data_fingerprint: &str) -> Vec<RunSpec> {
    let varied = &recipe.comparison;
    let (stage, seeds) = match varied.retrain {
        Some(retrain) => (Stage::Tuning, retrain.tuning_seeds),
        None => (Stage::Only, varied.seeds),
    };
    let mut specs = Vec::new();
    for seed in 1..=seeds {
        for &dropout in &varied.dropout {
            for &rate in &varied.learning_rates {
                for activation in &varied.activations {
                    let spec = RunSpec::new(
                        recipe,
                        activation,
                        rate,
                        dropout,
                        seed,
                        backend,
                        data_fingerprint,
                    );
                    specs.push(spec.of_stage(stage));
                }
            }
        }
    }
    specs
}

/// The runs that follow tuning: every activation and dropout rate at its best learning rate, on the
/// whole training set. None where the recipe does not retrain, or a tuning run is not complete.
pub fn final_specs(
    recipe: &Recipe,
    tuned: &ComparisonSnapshot,
    tuning: &[RunSpec],
) -> Vec<RunSpec> {
    let complete = |status: &RunStatus| status.is_complete();
    if recipe.comparison.retrain.is_none() || !tuned.runs.iter().all(|run| complete(&run.status)) {
        return Vec::new();
    }
    let best = best_groups(tuned);
    let mut specs = Vec::new();
    for seed in 1..=recipe.comparison.seeds {
        for group in &best {
            let same = |spec: &&RunSpec| {
                spec.activation.name() == group.activation
                    && spec.learning_rate == group.learning_rate
                    && spec.dropout == group.dropout
            };
            let tuned = tuning.iter().find(same);
            let mut spec = tuned.expect("what was tuned was planned").clone();
            spec.seed = seed;
            specs.push(spec.of_stage(Stage::Final));
        }
    }
    specs
}

/// The plan that says which runs a comparison consists of.
pub fn plan(recipe: &Recipe, device: &str, source: &DataSource, specs: &[RunSpec]) -> Plan {
    Plan {
        experiment: recipe.name.clone(),
        title: recipe.title.clone(),
        data: source.name.clone(),
        data_location: source.location.clone(),
        synthetic: source.synthetic,
        device: device.to_owned(),
        selection: recipe.comparison.selection,
        reported: recipe.comparison.reported,
        loss: recipe.network.loss(),
        runs: specs.iter().map(RunSpec::folder_name).collect(),
        figure: recipe.figure.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_combination_is_one_run_and_first_seeds_come_first() {
        let mut recipe = Recipe::named("mnist-classifier").unwrap();
        recipe.comparison.seeds = 2;
        let specs = specs(&recipe, "flex", "abc");
        assert_eq!(specs.len(), 3 * 3 * 2 * 2);
        let folders: BTreeSet<String> = specs.iter().map(RunSpec::folder_name).collect();
        assert_eq!(folders.len(), specs.len());
        let seeds: Vec<u64> = specs.iter().map(|spec| spec.seed).collect();
        assert!(seeds.is_sorted());
        let first: Vec<String> = specs[..3].iter().map(|s| s.activation.to_string()).collect();
        assert_eq!(first, ["gelu", "relu", "elu"]);
    }
}
