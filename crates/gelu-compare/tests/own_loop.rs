//! A program around a loop of one's own, as its users start it: the example `own_loop`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "support/outcome.rs"]
mod outcome;

use outcome::Outcome;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program, which is built with the tests.
fn program() -> PathBuf {
    let compare = Path::new(env!("CARGO_BIN_EXE_gelu-compare"));
    compare.parent().unwrap().join("examples/own_loop")
}

struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        Outcome(command.output().unwrap())
    }
}

fn documents(comparison: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(comparison.join("results.json")).unwrap()).unwrap()
}

/// Measures of all runs, whatever they were called.
fn epochs(comparison: &Path) -> Vec<Value> {
    let document = documents(comparison);
    document["runs"].as_array().unwrap().iter().map(|run| run["epochs"].clone()).collect()
}

#[test]
fn without_arguments_it_compares_what_main_says() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&[]).success();
    assert!(said.contains("0.02 against 0.01 is undecided: 3 of 8 runs of 0.02"), "{said}");
    let document = documents(&sandbox.path("results/descent"));
    assert_eq!(document["runs"].as_array().unwrap().len(), 3 * 8);
    assert_eq!(document["runs"][0]["epochs"].as_array().unwrap().len(), 20);
    let other = ["compare", "--compare", "step=0.1,0.2", "--seeds", "2", "--out", "mine", "--json"];
    let mine: Value = serde_json::from_str(&sandbox.run(&other).success()).unwrap();
    assert_eq!(mine["runs"].as_array().unwrap().len(), 4);
    sandbox
        .run(&["compare", "--compare", "step=a,b", "--out", "text"])
        .refused(1, "step is a, which is no f64");
    sandbox
        .run(&["compare", "--primary", "depth", "--out", "depth"])
        .refused(1, "it never reported depth; it reported height");
}

#[test]
fn an_axis_that_the_program_does_not_have_is_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    for flag in ["--compare", "--tune", "--each"] {
        for command in ["compare", "submit"] {
            sandbox
                .run(&[command, flag, "stpe=0.1,0.2"])
                .refused(2, "there is no axis stpe; there are: step. What else the program reads");
        }
    }
    assert!(!sandbox.path("results").exists());
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_numbers() {
    let sandbox = Sandbox::new();
    let arguments = ["--compare", "step=0.01,0.02", "--seeds", "1"];
    sandbox.run(&[&["compare", "--out", "whole"], &arguments[..]].concat()).success();
    sandbox.run(&[&["submit", "--out", "pieces"], &arguments[..]].concat()).success();
    // As a worker that was killed after epoch 7 leaves it.
    sandbox.run(&["work", "pieces"]).success();
    let runs = fs::read_dir(sandbox.path("pieces/runs")).unwrap();
    let whole = epochs(&sandbox.path("whole"));
    for run in runs.map(|run| run.unwrap().path()) {
        cut(&run, 7);
    }
    sandbox.run(&["work", "pieces"]).success();
    sandbox.run(&["report", "pieces"]).success();
    assert_eq!(epochs(&sandbox.path("pieces")), whole);
}

#[test]
fn one_run_by_hand_is_that_of_the_comparison() {
    let sandbox = Sandbox::new();
    let arguments = ["train", "--set", "step=0.02", "--seed", "3", "--out", "one"];
    let said = sandbox.run(&arguments).success();
    assert!(said.contains("epoch 20/20  height -0.2") && said.contains("finished"), "{said}");
    let again = sandbox.run(&arguments).success();
    assert!(!again.contains("epoch") && again.contains("finished"), "{again}");
    sandbox
        .run(&["compare", "--compare", "step=0.01,0.02", "--seeds", "3", "--out", "all"])
        .success();
    let one = fs::read_dir(sandbox.path("one/runs")).unwrap().next().unwrap().unwrap();
    let same = sandbox.path("all/runs").join(one.file_name()).join("metrics.csv");
    assert_eq!(fs::read(one.path().join("metrics.csv")).unwrap(), fs::read(same).unwrap());
    sandbox
        .run(&["train", "--set", "width=3"])
        .refused(2, "there is no axis width; there are: step");
}

/// Makes of a finished run one that was stopped after some epochs, with what it had saved then.
fn cut(run: &Path, epochs: usize) {
    let text = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let kept: String = text.lines().take(1 + epochs).map(|line| format!("{line}\n")).collect();
    let checkpoint = run.join(format!("checkpoint-{epochs:04}"));
    fs::create_dir(&checkpoint).unwrap();
    let setting = fs::read_to_string(run.join("run.toml")).unwrap();
    let value = |name: &str| -> f64 {
        let line = setting.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.unwrap().parse().unwrap()
    };
    let (step, seed) = (value("step"), value("seed"));
    let mut x = seed;
    for _ in 0..epochs {
        x -= step * (4.0 * x.powi(3) - 2.0 * x + 0.1 * seed.sin());
    }
    fs::write(checkpoint.join("x"), x.to_string()).unwrap();
    fs::write(checkpoint.join("metrics.csv"), &kept).unwrap();
    let sums =
        Command::new("sha256sum").args(["metrics.csv", "x"]).current_dir(&checkpoint).output();
    fs::write(checkpoint.join("SHA256SUMS"), sums.unwrap().stdout).unwrap();
    fs::write(run.join("metrics.csv"), &kept).unwrap();
    fs::write(run.join("status.json"), "{\"state\":\"interrupted\",\"seconds\":1.0}\n").unwrap();
}
