//! Verdicts over the values of an axis, with the real program.

use serde_json::Value;
use std::fs;

/// Arm b is lower by a tenth of each task's scale, except for one task. Seeds vary.
const SCRIPT: &str = r#"awk -v a=$1 -v t=$2 -v s=$3 'BEGIN {
    srand(97 * s + t); d = a == "b" ? (t == 7 ? 0.02 : -0.1) : 0
    printf "{\"loss\": %.6f}\n", t * (1 + d + 0.01 * rand()) }'"#;

/// Returns arguments that compare the two arms at eight tasks with the given number of seeds.
fn compare<'a>(seeds: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["compare", "sh train.sh {arm} {task} {seed}", "--compare", "arm=a,b", "--each"];
    let words = [&words[..], &["task=1,2,3,4,5,6,7,8", "--metric", "loss", "--plain"]].concat();
    [&words[..], &["--seeds", seeds, "--out", "results/over"], more].concat()
}

#[test]
fn tasks_are_the_units_of_one_verdict() {
    let sandbox = crate::scripted(SCRIPT);
    let said = sandbox.run(&compare("4", &["--over", "task", "--scale", "ratio"])).success();
    let said = said.replace("\n  ", " ");
    assert!(
        said.contains("b beats a by ") && said.contains("% of loss on average (95% interval "),
        "{said}"
    );
    assert!(said.contains("; 8 tasks; p = 0.0156)"), "{said}");
    assert!(said.contains("b is ahead in 7 of 8 tasks; by signed ranks p = 0.02."), "{said}");
    assert!(said.contains("\n7: 0.14") && said.contains("(4 seeds)"), "{said}");
    assert_eq!(said.matches(" ahead").count() - said.matches(" is ahead").count(), 7, "{said}");
    let report = fs::read_to_string(sandbox.path("results/over/results.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["criterion"]["over"]["axis"], "task");
    assert_eq!(report["criterion"]["comparisons"], 1);
    let [difference] = report["differences"].as_array().unwrap().as_slice() else {
        panic!("{report}")
    };
    // The same scores must give the same verdict as a table.
    let table = [
        "verdict",
        "results/over/runs.csv",
        "--compare",
        "arm",
        "--metric",
        "loss",
        "--over",
        "task",
    ];
    let judged = sandbox.run(&[&table[..], &["--scale", "ratio", "--json"]].concat()).success();
    let judged: Value = serde_json::from_str(&judged).unwrap();
    for key in ["p", "mean", "interval", "verdict", "over"] {
        assert_eq!(judged["differences"][0][key], difference[key], "{key}");
    }
    assert!(sandbox.path("results/over/forest.svg").exists());
    // Additional seeds would be another check.
    let more = compare("5", &["--over", "task", "--scale", "ratio"]);
    sandbox.run(&more).refused(1, "its verdicts are made once");
    // So would additional tasks.
    let words = compare("4", &["--over", "task", "--scale", "ratio"]);
    let longer = |word: &str| {
        if word.starts_with("task=") { "task=1,2,3,4,5,6,7,8,9" } else { word }.to_owned()
    };
    let words: Vec<String> = words.into_iter().map(longer).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    sandbox.run(&words).refused(1, "made once, over 8 tasks");
}

#[test]
fn what_cannot_be_judged_over_is_refused_before_a_run() {
    let sandbox = crate::scripted(SCRIPT);
    sandbox.run(&compare("4", &["--over", "arm"])).refused(2, "there are: task");
    let open = compare("4", &["--over", "task", "--until-decided"]);
    let open: Vec<&str> =
        open.into_iter().filter(|word| !["--seeds", "4"].contains(word)).collect();
    sandbox.run(&open).refused(2, "counts tasks, once");
    sandbox
        .run(&compare("4", &["--over", "task", "--no-worse", "seconds=1"]))
        .refused(2, "--no-worse");
    sandbox.run(&compare("4", &["--scale", "ranks"])).refused(2, "--over");
    assert!(!sandbox.path("results/over").exists());
}

#[test]
fn before_all_tasks_are_complete_nothing_is_decided() {
    // Task 8 fails in all its runs.
    let sandbox = crate::scripted(&format!("[ $2 != 8 ] || exit 1\n{SCRIPT}"));
    let outcome = sandbox.run(&compare("4", &["--over", "task", "--keep-going"]));
    let said = outcome.stdout().replace("\n  ", " ");
    outcome.refused(1, "failed");
    assert!(said.contains("b and a, after 7 of 8 tasks: b is ahead"), "{said}");
}
