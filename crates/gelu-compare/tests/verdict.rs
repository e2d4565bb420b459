//! `gelu-compare verdict`: any table of scores, judged.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "support/outcome.rs"]
mod outcome;
#[path = "support/sandbox.rs"]
mod sandbox;

use gelu_compare::comparison::Verdict;
use gelu_compare::scores::ScoresDocument;
use sandbox::Sandbox;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn sandbox() -> Sandbox {
    Sandbox::of(Path::new(env!("CARGO_BIN_EXE_gelu-compare")))
}

/// Accuracies of three arms with ten seeds: `relu` is 2 points behind, `silu` nowhere.
fn scores() -> String {
    let mut text = "activation,seed,accuracy\n".to_owned();
    for seed in 0..10 {
        let noise = 0.0005 * ((seed * 3) % 7) as f64;
        for (arm, accuracy) in [("gelu", 0.95), ("relu", 0.93 + 0.5 * noise), ("silu", 0.95)] {
            writeln!(text, "{arm},{seed},{:.5}", accuracy + noise).unwrap();
        }
    }
    text
}

const JUDGE: [&str; 7] =
    ["verdict", "scores.csv", "--compare", "activation", "--metric", "accuracy", "--higher"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&JUDGE, more].concat()
}

#[test]
fn a_table_gets_its_verdicts_in_words_in_json_and_as_a_picture() {
    let sandbox = sandbox();
    fs::write(sandbox.path("scores.csv"), scores()).unwrap();
    let margin = ["--negligible", "0.001", "--forest", "forest.svg"];
    let text = sandbox.run(&with(&margin)).success().replace("\n  ", " ");
    assert!(text.contains("gelu beats relu by 0.01925 of accuracy (97.5% interval "), "{text}");
    // The two have the same scores.
    assert!(
        text.contains("silu and gelu cannot be told apart: their difference is the same"),
        "{text}"
    );
    assert!(text.contains("right: better") && text.contains('●'), "{text}");
    assert!(fs::read_to_string(sandbox.path("forest.svg")).unwrap().contains("accuracy"));
    let text = sandbox.run(&with(&["--negligible", "0.001", "--json"])).success();
    let document: ScoresDocument = serde_json::from_str(&text).unwrap();
    let [relu, silu] = &document.differences[..] else { panic!("{text}") };
    assert_eq!((relu.finding.verdict, silu.finding.verdict), (Verdict::Worse, Verdict::Undecided));
    // In the measure's own direction: relu − gelu.
    let mean = relu.finding.mean.unwrap();
    assert!((mean + 0.01925).abs() < 1e-9, "{mean}");
    let interval = relu.finding.interval.unwrap();
    let [low, high] = interval.ends();
    assert!(low < mean && mean < high && high < 0.0, "{interval:?}");
    // 2 of 2^10 sign patterns, two comparisons.
    assert_eq!(relu.finding.p, Some(4.0 / 1024.0));
}

#[test]
fn standard_input_and_another_baseline_are_taken() {
    let sandbox = sandbox();
    fs::write(sandbox.path("scores.tsv"), scores().replace(',', "\t")).unwrap();
    let mut words = with(&["--baseline", "relu"]);
    words[1] = "scores.tsv";
    let text = sandbox.run(&words).success();
    assert!(text.contains("gelu beats relu by") && text.contains("silu beats relu by"), "{text}");
}

#[test]
fn a_table_that_cannot_be_judged_is_refused_with_its_line() {
    let sandbox = sandbox();
    let judge = |table: &str, more: &[&'static str], code: i32, expected: &str| {
        fs::write(sandbox.path("scores.csv"), table).unwrap();
        sandbox.run(&with(more)).refused(code, expected);
    };
    let table = scores();
    judge(&table.replace("relu,3,", "relu,2,"), &[], 1, "stands in line");
    judge(&table.replace("relu,3,", "relu,x,"), &[], 1, "line 12: the seed is `x`");
    judge(&table.replace("accuracy\n", "score\n"), &[], 1, "no column `accuracy`");
    let gone: String = table
        .lines()
        .filter(|line| !line.starts_with("relu,3,"))
        .map(|l| format!("{l}\n"))
        .collect();
    judge(&gone, &[], 1, "`gelu` has seed 3, and `relu` has not");
    judge(&table, &["--baseline", "tanh"], 1, "the baseline `tanh` is not there");
    judge(&table, &["--negligible=-1"], 2, "--negligible");
    judge(&table, &["--forest", "picture.gif"], 2, ".svg or .png");
    judge("", &[], 1, "line 1: the file is empty");
    fs::remove_file(sandbox.path("scores.csv")).unwrap();
    sandbox.run(&JUDGE).refused(1, "scores.csv");
}

/// The first block of a language in the README.
fn block(language: &str) -> String {
    let readme = include_str!("../README.md");
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split("```").next().unwrap().to_owned()
}

#[test]
fn the_readmes_quick_start_prints_what_stands_there() {
    let sandbox = sandbox();
    fs::write(sandbox.path("scores.csv"), block("csv")).unwrap();
    let mut lines = include_str!("../README.md").lines();
    let command = lines.find(|line| line.starts_with("gelu-compare verdict ")).unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(sandbox.run(&words).success(), block("text"));
}
