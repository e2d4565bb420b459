//! Tests of runs that abort in the middle of an epoch.

use crate::with;
use gelu_compare::testing::Outcome;
use gelu_compare::testing::Sandbox;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt;

/// The signal of a process that aborts.
const SIGABRT: i32 = 6;

#[test]
fn a_checkpoint_of_another_architecture_is_refused_with_what_to_do() {
    let sandbox = Sandbox::of_example("odd_network");
    let train = ["train", "--out", "one"];
    // Step 20 is in the second epoch.
    let died = sandbox.command(&train).env("ODD_DIES_AT", "20").output().unwrap();
    assert_eq!(died.status.signal(), Some(SIGABRT));
    let changed = Outcome(sandbox.command(&train).env("ODD_SPARE", "5").output().unwrap());
    let said = changed
        .refused(1, "the network that is built now is not the one that was saved after epoch 1");
    assert!(said.contains("name another folder with --out, or delete one/runs/"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    sandbox.run(&train).success();
}

/// With every feature, a run that is killed in any step ends bit-identical to an uninterrupted run. `GELU_TEST_SEED`
/// changes the random steps.
#[test]
fn each_feature_resumes_exactly_from_a_random_step() {
    let sandbox = Sandbox::of_example("odd_network");
    let features = [
        "stops",
        "accumulates",
        "clipped",
        "seldom",
        "recorded",
        "prefetches",
        "augmented",
        "classes",
    ];
    let values = format!("fault={}", features.join(","));
    let more = ["--compare", &values, "--each", "epochs=100", "--seeds", "1"];
    sandbox.run(&with("compare", "whole", &more)).success();
    sandbox.run(&with("submit", "pieces", &more)).success();
    let seed = std::env::var("GELU_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    for feature in features {
        let whole = sandbox.runs("whole").into_iter().find(|run| {
            run.file_name().unwrap().to_string_lossy().starts_with(&format!("{feature}-"))
        });
        let table = fs::read_to_string(whole.unwrap().join("metrics.csv")).unwrap();
        let batches = if feature == "prefetches" { 12 } else { 13 };
        let step = random.random_range(1..=batches * (table.lines().count() - 1));
        println!("{feature}: killed in step {step}, seed {seed}");
        let set = format!("fault={feature}");
        let train = ["train", "--set", &set, "--set", "epochs=100", "--out", "pieces"];
        let died = sandbox.command(&train).env("ODD_DIES_AT", step.to_string()).output().unwrap();
        assert_eq!(died.status.signal(), Some(SIGABRT), "{feature} in step {step}");
    }
    sandbox.run(&["work", "pieces"]).success();
    sandbox.are_equal("whole", "pieces");
    let report = sandbox.run(&["report", "pieces", "--json"]).success();
    let report: Value = serde_json::from_str(&report).unwrap();
    for run in report["runs"].as_array().unwrap() {
        let epochs = run["epochs"].as_array().unwrap();
        let number = |epoch: &Value, column: &str| epoch[column].as_f64();
        let folder = sandbox.path("pieces").join(run["folder"].as_str().unwrap());
        assert!(folder.join("model.bpk").exists(), "results.json names each run's folder");
        match run["fault"].as_str().unwrap() {
            // The run stops four epochs after the best one, which it reports.
            "stops" => {
                let errors: Vec<f64> =
                    epochs.iter().map(|epoch| number(epoch, "valid_error").unwrap()).collect();
                let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
                let first = errors.iter().position(|error| *error == best).unwrap() + 1;
                assert!(epochs.len() < 100, "it has all its epochs");
                assert_eq!(epochs.len(), first + 4);
                assert_eq!(run["reported_epoch"], first);
            }
            "seldom" => {
                let measured: Vec<usize> = (1..=epochs.len())
                    .filter(|epoch| number(&epochs[epoch - 1], "valid_error").is_some())
                    .collect();
                let expected: Vec<usize> = (1..=100).filter(|e| e % 7 == 0 || *e == 100).collect();
                assert_eq!(measured, expected);
            }
            "recorded" => {
                let last = epochs.last().unwrap();
                let accuracy = number(last, "test_accuracy").unwrap();
                let error = number(last, "test_error").unwrap();
                // Burn's accuracy is in percent, and the split is one batch.
                assert!((accuracy - 100.0 * (1.0 - error)).abs() < 1e-9, "{accuracy} {error}");
                let area = number(last, "test_auroc_macro").unwrap();
                assert!((50.0..=100.0).contains(&area), "{area}");
            }
            _ => assert_eq!(epochs.len(), 100),
        }
    }
}
