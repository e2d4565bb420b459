use crate::data::DataSource;
use crate::recipe::Recipe;
use crate::runs::{Plan, RunSpec};

/// Every run of a comparison: activations × dropout rates × learning rates × seeds.
///
/// Seeds come outermost, so that all activations have their first run before any has its second:
/// whoever watches, or stops early, sees a comparison rather than one finished activation.
pub fn specs(recipe: &Recipe, backend: &str, data_fingerprint: &str) -> Vec<RunSpec> {
    let varied = &recipe.comparison;
    let mut specs = Vec::new();
    for seed in 1..=varied.seeds {
        for &dropout in &varied.dropout {
            for &rate in &varied.learning_rates {
                for activation in &varied.activations {
                    specs.push(RunSpec::new(
                        recipe,
                        activation,
                        rate,
                        dropout,
                        seed,
                        backend,
                        data_fingerprint,
                    ));
                }
            }
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
