//! Tests of the saved outcomes of test examples, with the real program.

use crate::support::{self, Sandbox, outcomes, small};
use gelu_compare::extension::extend;
use gelu_compare::runs::{RunFolder, Snapshot};
use gelu_experiments::comparison::SnapshotReader;
use gelu_learner::networks::{Networks, outcomes_of};
use std::fs;
use std::path::PathBuf;

const FOLDER: &str = "results/digits";

fn compare(sandbox: &Sandbox, more: &[&str]) -> String {
    sandbox.run(&small("gelu,relu", "2", &[&["--plain"], more].concat())).success()
}

fn snapshot(sandbox: &Sandbox) -> Snapshot {
    support::snapshot(&sandbox.path(FOLDER))
}

/// Returns the files of outcomes of all runs that have one.
fn kept(sandbox: &Sandbox) -> Vec<PathBuf> {
    let files = sandbox.runs(FOLDER).into_iter().map(|run| run.join("outcomes.bin"));
    files.filter(|file| file.exists()).collect()
}

/// Runs the digits recipe with another deciding metric.
fn decided_by(sandbox: &Sandbox, primary: &str) {
    let recipe = include_str!("../../recipes/digits.toml");
    let recipe = recipe.replace("primary = \"test-error\"", &format!("primary = \"{primary}\""));
    fs::write(sandbox.path("mine.toml"), recipe).unwrap();
    compare(sandbox, &["--recipe", "mine.toml"]);
}

#[test]
fn a_classifier_that_is_compared_by_its_loss_keeps_sums_of_losses() {
    let sandbox = Sandbox::new();
    decided_by(&sandbox, "test-loss");
    for run in snapshot(&sandbox).runs {
        let outcomes = outcomes(&run).unwrap();
        assert_eq!(outcomes.measure(), "test-loss");
        let (found, loss) = (outcomes.mean(), run.epochs[1].get("test_loss").unwrap());
        assert!((found / loss - 1.0).abs() < 1e-6, "{found}, {loss} was measured");
        let each = outcomes.by_group();
        assert!(each.len() == 2000 && each.iter().any(|loss| *loss != each[0]));
    }
    assert_eq!(fs::metadata(&kept(&sandbox)[0]).unwrap().len() / 1000, 16, "8 bytes a digit");
}

#[test]
fn a_training_loss_has_no_test_examples() {
    let sandbox = Sandbox::new();
    decided_by(&sandbox, "train-loss");
    assert_eq!(kept(&sandbox), [""; 0].map(PathBuf::from));
    assert!(snapshot(&sandbox).runs.iter().all(|run| outcomes(run).is_none()));
    sandbox.run(&["eval", FOLDER, "--outcomes"]).refused(2, "no mean over test examples");
}

#[test]
fn networks_that_kept_none_are_measured_again_to_the_same_bytes() {
    let sandbox = Sandbox::new();
    compare(&sandbox, &[]);
    let files = kept(&sandbox);
    let whole: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert_eq!(whole.len(), 2);
    fs::remove_file(&files[0]).unwrap();
    fs::write(&files[1], &whole[1][..99]).unwrap();

    // The report shows everything else, and guesses nothing, as for runs without outcomes.
    let reported = sandbox.run(&["report", FOLDER]);
    assert_eq!(reported.code(), 0, "{}", reported.stderr());
    let said = reported.stderr();
    assert!(said.contains("outcomes.bin: is not what was written"), "{said}");
    assert!(said.contains("`gelu eval --outcomes` writes it anew"), "{said}");
    let again = compare(&sandbox, &[]);
    assert!(!again.contains("epoch 1/2"), "no run is trained again for it: {again}");
    assert!(snapshot(&sandbox).runs.iter().all(|run| outcomes(run).is_none()));
    sandbox.run(&["eval", FOLDER]).success();
    assert!(!files[0].exists(), "measuring alone writes nothing");

    // First for one run, then for the whole comparison.
    let run = files[0].parent().unwrap().to_str().unwrap();
    sandbox.run(&["eval", run, "--outcomes"]).success();
    assert_eq!(fs::read(&files[0]).unwrap(), whole[0]);
    sandbox.run(&["eval", FOLDER, "--outcomes"]).success();
    assert_eq!(fs::read(&files[1]).unwrap(), whole[1]);
    assert!(snapshot(&sandbox).runs.iter().all(|run| outcomes(run).is_some()));
}

#[test]
fn outcomes_of_another_run_are_not_taken_for_its_own() {
    let sandbox = Sandbox::new();
    compare(&sandbox, &[]);
    let files = kept(&sandbox);
    fs::copy(&files[0], &files[1]).unwrap();
    let all = snapshot(&sandbox).runs;
    let (strange, own): (Vec<_>, Vec<_>) = all.iter().partition(|run| outcomes(run).is_none());
    assert_eq!((strange.len(), own.len()), (1, 1));
    let warning = &strange[0].warnings[0];
    assert!(warning.contains("outcomes.bin: makes the test error"), "{warning}");
}

#[test]
fn outcomes_of_a_network_that_answers_otherwise_here_are_not_kept() {
    let sandbox = Sandbox::new();
    compare(&sandbox, &[]);
    let runs = sandbox.runs(FOLDER);
    for run in &runs {
        fs::remove_file(run.join("outcomes.bin")).unwrap();
    }
    fs::copy(runs[0].join("model.bpk"), runs[1].join("model.bpk")).unwrap();
    let said =
        sandbox.run(&["eval", FOLDER, "--outcomes"]).refused(1, "here its network makes the");
    assert!(said.contains(runs[1].file_name().unwrap().to_str().unwrap()), "{said}");
    assert!(!runs[1].join("outcomes.bin").exists());
}

#[test]
fn a_finished_run_is_read_once() {
    let sandbox = Sandbox::new();
    compare(&sandbox, &[]);
    extend(&[&Networks]);
    let mut reader = SnapshotReader::open(&sandbox.path(FOLDER)).unwrap();
    let before = reader.snapshot();
    kept(&sandbox).iter().for_each(|file| fs::remove_file(file).unwrap());
    let after = reader.snapshot();
    for (before, after) in before.runs.iter().zip(&after.runs) {
        assert!(std::ptr::eq(outcomes(before).unwrap(), outcomes(after).unwrap()));
    }
    let folder = RunFolder::at(&sandbox.runs(FOLDER)[0]);
    assert_eq!(outcomes_of(&folder).unwrap(), None);
}
