//! The overhead of runs beyond the programs themselves.

use super::failing::compared;
use crate::scripted;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn ten_times_the_epochs_take_about_ten_times_as_long() {
    let seconds = |epochs: &str| {
        let script = format!("seq -f '{{\"epoch\": %.0f, \"error\": 0.5}}' 1 {epochs}");
        let began = Instant::now();
        // With the timeout it fails instead of running for hours.
        let (sandbox, outcome) = compared(&script, &["--timeout", "300"]);
        outcome.success();
        let seconds = began.elapsed().as_secs_f64();
        for run in sandbox.runs("results/train") {
            let table = fs::read_to_string(run.join("metrics.csv")).unwrap();
            assert_eq!(
                table.lines().count().to_string(),
                (1 + epochs.parse::<usize>().unwrap()).to_string()
            );
            assert!(table.ends_with(&format!("\n{epochs},0.5\n")));
        }
        seconds
    };
    let (few, many) = (seconds("20000"), seconds("200000"));
    assert!(many < 40.0 * few, "20,000 epochs took {few} s, 200,000 took {many} s");
}

/// Measures the overhead of a run beyond its process, in seconds. Only runs on request.
#[test]
fn many_short_processes_cost_little_besides_themselves() {
    let Some(runs) = std::env::var("GELU_MANY_RUNS").ok() else {
        eprintln!("skipped: GELU_MANY_RUNS=1000 asks for it");
        return;
    };
    let runs: u32 = runs.parse().expect("GELU_MANY_RUNS is a number");
    let sandbox = scripted("echo '{\"loss\": '$1'}'");
    let seeds = (runs / 2).to_string();
    let arguments = ["compare", "sh train.sh {lr}", "--compare", "lr=1,2", "--metric", "loss"];
    let began = Instant::now();
    sandbox.run(&[&arguments[..], &["--seeds", &seeds, "--plain"]].concat()).success();
    let compared = began.elapsed();
    let began = Instant::now();
    for _ in 0..runs {
        let mut process = Command::new("sh");
        process.args(["train.sh", "1"]).current_dir(sandbox.path(""));
        assert!(process.output().unwrap().status.success());
    }
    let besides = compared.saturating_sub(began.elapsed()) / runs;
    eprintln!("{runs} runs of a process: {besides:?} each besides the process");
    assert!(besides <= Duration::from_millis(20), "{besides:?}");
}
