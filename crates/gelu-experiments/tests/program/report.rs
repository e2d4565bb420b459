//! Tests of `gelu report` on folders of a thousand finished runs, made without training, and of an older version of
//! the program.

use crate::support::document::{Document, EpochMetrics};
use crate::support::{Sandbox, small};
use gelu_compare::comparison::plan;
use gelu_compare::runs::{Recipe as _, Spec};
use gelu_experiments::data::DataSource;
use gelu_experiments::recipe::Recipe;
use gelu_experiments::runs::{Comparison, Plan, RunSpec};
use std::fs;
use std::path::{Path, PathBuf};

const ACTIVATIONS: [&str; 4] = ["gelu", "relu", "elu", "silu"];
const SEEDS: u64 = 125;
const EPOCHS: usize = 20;

/// Returns a number from 0 to 1 that looks random but only depends on `of`.
fn noise(of: &[u64]) -> f64 {
    let mixed = of.iter().fold(0x9e37_79b9_7f4a_7c15u64, |state, &part| {
        (state ^ part).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31)
    });
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

fn write_run(folder: &Path, spec: &RunSpec, activation: usize) {
    let folder = folder.join(spec.folder_name());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.toml"), spec.to_toml()).unwrap();
    let mut metrics = csv::Writer::from_path(folder.join("metrics.csv")).unwrap();
    for epoch in 1..=EPOCHS {
        let own = noise(&[spec.seed, activation as u64, epoch as u64, spec.dropout.to_bits()]);
        let error = 0.02 + 0.3 / epoch as f64 + 0.004 * own + 0.001 * activation as f64;
        let value = EpochMetrics {
            epoch,
            learning_rate: spec.learning_rate,
            batch_loss: Some(3.0 * error),
            train_loss: 2.0 * error,
            train_error: Some(0.5 * error),
            valid_loss: Some(3.0 * error),
            valid_error: Some(error),
            test_loss: Some(3.2 * error),
            test_error: Some(1.1 * error),
        };
        metrics.serialize(value).unwrap();
    }
    metrics.flush().unwrap();
    fs::write(folder.join("status.json"), "{\"state\":\"finished\",\"seconds\":20.0}\n").unwrap();
}

/// Writes finished runs of four activations × two dropout rates × 125 seeds.
fn thousand_runs(path: &Path) {
    let mut recipe = Recipe::named("mnist-classifier").unwrap();
    recipe.training.epochs = EPOCHS;
    let varied = &mut recipe.comparison;
    varied.activations = ACTIVATIONS.map(|name| name.parse().unwrap()).to_vec();
    varied.learning_rates = vec![1e-3];
    varied.seeds = SEEDS;
    let data = DataSource::new("mnist", None, true, [b"content"]);
    let mut plan = Plan::new(recipe, data, "flex", "flex");
    plan.test_examples = 10_000;
    let (folder, plan) = Comparison::create(path, &plan, |_, _| false).unwrap();
    for key in plan::grid(&plan.recipe.design()) {
        let activation = key.setting.text("activation");
        let index = ACTIVATIONS.iter().position(|name| *name == activation).unwrap();
        write_run(&folder.runs(), &plan.spec(&key).unwrap(), index);
    }
}

/// `GELU_THOUSAND_RUNS=DIR` keeps the folder there, to measure the time of a report.
#[test]
fn a_thousand_runs_are_reported_with_their_verdicts() {
    let sandbox = Sandbox::new();
    let chosen = std::env::var_os("GELU_THOUSAND_RUNS").map(std::path::PathBuf::from);
    let folder = chosen.unwrap_or_else(|| sandbox.path("many"));
    thousand_runs(&folder);
    let name = folder.to_str().unwrap();
    let text = sandbox.run(&["report", name, "--json"]).success();
    let document: Document = serde_json::from_str(&text).unwrap();
    assert_eq!(document.runs.len(), 1000);
    assert!(document.runs.iter().all(|run| run.epochs.len() == EPOCHS));
    assert_eq!(document.differences.len(), 6);
    for difference in &document.differences {
        // Every activation is a tenth of a point worse than the previous one, on 125 pairs.
        assert_eq!(difference.finding.seeds, 125);
        assert!(difference.finding.mean.unwrap() > 0.0005, "{difference:?}");
        assert!(difference.finding.p.unwrap() <= 1e-3, "{difference:?}");
    }
    for figure in ["figure-2.svg", "difference.svg", "difference.png"] {
        assert!(folder.join(figure).exists(), "{figure}");
    }
}

/// Changes the runs into those of the previous version.
fn age(runs: &[PathBuf]) {
    for run in runs {
        let file = run.join("run.toml");
        let text = fs::read_to_string(&file).unwrap();
        let version = text.lines().find_map(|line| line.strip_prefix("version = ")).unwrap();
        let before: u32 = version.parse::<u32>().unwrap() - 1;
        let [now, before] = [version, &before.to_string()].map(|n| format!("version = {n}\n"));
        fs::write(&file, text.replace(&now, &before)).unwrap();
        let mut old = run.clone().into_os_string();
        old.push("-old");
        fs::rename(run, old).unwrap();
    }
}

#[test]
fn results_of_an_earlier_version_are_reported_and_not_mixed_with_new_ones() {
    let sandbox = Sandbox::new();
    let compare = small("gelu,relu", "1", &["--out", "made"]);
    sandbox.run(&compare).success();
    let table = || fs::read_to_string(sandbox.path("made/table.md")).unwrap();
    let measured = table();
    age(&sandbox.runs("made"));
    let report = sandbox.run(&["report", "made"]);
    assert!(report.stderr().contains("an earlier version"), "{}", report.stderr());
    report.success();
    assert_eq!(table(), measured);
    let evaluated = sandbox.run(&["eval", "made"]).success();
    assert_eq!(evaluated.lines().filter(|line| line.contains("GELU")).count(), 1, "{evaluated}");
    let kept = sandbox.run(&["eval", "made", "--noise", "1"]);
    assert!(kept.stderr().contains("has version"), "{}", kept.stderr());
    assert_ne!(kept.code(), 0);
    // The old runs do not count as runs of this version.
    let foreseen: Vec<&str> = compare.iter().copied().chain(["--dry-run"]).collect();
    let foreseen = sandbox.run(&foreseen).success();
    assert!(foreseen.contains("0 complete already"), "{foreseen}");
    sandbox.run(&compare).success();
    assert_eq!(sandbox.runs("made").len(), 4);
    let report = sandbox.run(&["report", "made"]);
    assert!(report.stderr().contains("2 runs of versions before"), "{}", report.stderr());
    report.success();
    assert_eq!(table(), measured);
}
