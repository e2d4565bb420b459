//! Tests of the ways to find things without reading source: recipes, runs, a dry run, completions, the manual.

use crate::support::{Sandbox, small};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn recipes_are_listed_and_shown_ready_to_change() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["recipe", "list"]).success();
    for name in gelu_experiments::recipe::Recipe::names() {
        assert!(list.contains(name), "{list}");
    }
    let text = sandbox.run(&["recipe", "show", "digits"]).success();
    assert_eq!(text, include_str!("../../recipes/digits.toml"));
    fs::write(sandbox.path("mine.toml"), text.replace("depth = 8", "depth = 2")).unwrap();
    let arguments = small("gelu", "1", &["--recipe", "mine.toml", "--plain"]);
    sandbox.run(&arguments).success();
    sandbox.run(&["recipe", "show", "digit"]).refused(2, "There are: digits, mnist-classifier");
}

#[test]
fn help_names_the_values_that_are_possible() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["compare", "--help"]).success();
    for value in ["mnist-classifier", "gelu-tanh", "vulkan"] {
        assert!(help.contains(value), "{value} is missing in {help}");
    }
    let help = sandbox.run(&["data", "fetch", "--help"]).success();
    assert!(help.contains("spoken-digits"), "{help}");
}

#[test]
fn dry_run_counts_runs_time_and_disk_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu,relu", "20", &["--dropout", "0,0.5", "--dry-run", "--jobs", "2"]);
    let text = sandbox.run(&arguments).success();
    assert!(text.contains("2 activations × 2 dropout rates × 1 learning rate × 1 seed"), "{text}");
    assert!(text.contains("4 runs of 20 epochs"), "{text}");
    assert!(text.contains("One epoch of GELU took") && text.contains("on disk"), "{text}");
    assert!(!sandbox.path("results").exists());
}

#[test]
fn a_dry_run_counts_what_is_there_already() {
    let sandbox = Sandbox::new();
    let rates = ["--learning-rates", "1e-3,1e-2"];
    sandbox.run(&small("gelu", "1", &rates)).success();
    let folder = sandbox.path("results/digits/comparison.toml");
    let before = fs::read_to_string(&folder).unwrap();
    let again = [rates[0], rates[1], "--dry-run"];
    let text = sandbox.run(&small("gelu,relu", "1", &again)).success();
    assert!(
        text.contains("4 runs of 1 epoch\n")
            && text.contains("\n2 complete already in results/digits, 2 left"),
        "{text}"
    );
    let text = sandbox.run(&small("gelu", "1", &again)).success();
    assert!(text.contains("Nothing is left to train"), "{text}");
    sandbox.run(&small("gelu", "2", &again)).refused(1, "holds another comparison");
    assert_eq!(fs::read_to_string(&folder).unwrap(), before);
}

#[test]
fn runs_are_listed_with_how_they_ended() {
    let sandbox = Sandbox::new();
    let rates = ["--learning-rates", "1e-3,1e30"];
    sandbox.run(&small("gelu", "2", &rates)).success();
    let text = sandbox.run(&["runs", "results/digits"]).success();
    assert!(text.contains("2 runs: 1 finished, 1 diverged"), "{text}");
    assert!(text.contains("diverged in epoch 1") && text.contains("2/2"), "{text}");
    assert!(text.contains("runs/gelu-lr0.001"), "{text}");
    let overview = sandbox.run(&["runs"]).success();
    assert!(overview.contains("results/digits: digits (SYNTHETIC DATA), 2 runs"), "{overview}");
    sandbox.run(&["runs", "nowhere"]).refused(1, "holds no comparison");
}

#[test]
fn completions_and_manual_are_made_by_the_program() {
    let sandbox = Sandbox::new();
    let script = sandbox.run(&["completions", "bash"]).success();
    assert!(script.contains("mnist-classifier"), "values are completed");
    let page = sandbox.run(&["man"]).success();
    assert!(page.contains(".TH gelu") && page.contains("compare"), "{page}");
    sandbox.run(&["man", "--out", "man"]).success();
    assert!(sandbox.path("man/gelu_compare.1").exists());
    assert!(!sandbox.path("man/gelu-compare.1").exists(), "that is another program's");
}

/// Returns every file and folder below `folder`, with the content of files.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                found.extend(tree(&path));
                found.insert(path, None);
            }
            false => {
                let content = fs::read(&path).unwrap();
                found.insert(path, Some(content));
            }
        }
    }
    found
}

#[test]
fn what_only_looks_at_a_comparison_changes_nothing_in_it() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu,relu", "2", &["--out", "results/some"])).success();
    // The state after an archive that drops empty folders, or after a process that died.
    let runs = sandbox.runs("results/some");
    for run in &runs {
        fs::remove_dir(run.join("free-0001")).unwrap();
    }
    fs::write(runs[1].join("status.json"), "{\"state\":\"running\",\"seconds\":1.0}").unwrap();
    let before = tree(&sandbox.path("results"));
    for command in [
        &["runs"][..],
        &["runs", "results/some"],
        &["watch", "results/some", "--picture", "picture.svg"],
        &["report", "results/some", "--out", "elsewhere"],
        &["eval", "results/some"],
    ] {
        sandbox.run(command).success();
        assert!(tree(&sandbox.path("results")) == before, "{command:?}");
    }
    let mut dry = small("gelu,relu", "2", &["--out", "results/some", "--dry-run"]);
    sandbox.run(&dry).success();
    assert!(tree(&sandbox.path("results")) == before);
    // A command that writes to such a run restores the missing parts, and the numbers of the sessions continue.
    sandbox.run(&["eval", "results/some", "--noise", "1"]).success();
    assert!(runs[0].join("free-0002").exists());
    dry.pop();
    sandbox.run(&dry).success();
    assert!(runs[1].join("free-0002").exists());
    for session in ["provenance-0001.json", "provenance-0002.json"] {
        assert!(runs[1].join(session).exists(), "{session}");
    }
}
