//! The cost of a run of the program besides its epochs. `GELU_MANY_RUNS=1000` asks for it.

use crate::support::Sandbox;
use std::fs;
use std::time::Instant;

/// Returns the processor time of this process's ended children, in seconds.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[13].parse::<f64>().unwrap() + fields[14].parse::<f64>().unwrap();
    ticks / 100.0
}

#[test]
fn many_tiny_runs_cost_little_besides_their_epochs() {
    let Some(runs) = std::env::var("GELU_MANY_RUNS").ok() else {
        eprintln!("skipped: GELU_MANY_RUNS=1000 asks for it");
        return;
    };
    let runs: u64 = runs.parse().expect("GELU_MANY_RUNS is a number");
    let sandbox = Sandbox::new();
    let seeds = (runs / 4).to_string();
    let arguments = |epochs: &'static str, out: &'static str| {
        let mut arguments = vec!["compare", "--activations", "gelu,relu", "--seeds", &seeds];
        arguments.extend(["--learning-rates", "1e-3,1e-4", "--epochs", epochs, "--out", out]);
        arguments.extend(["--train-limit", "128", "--test-limit", "16", "--validation", "16"]);
        arguments.extend(["--jobs", "4", "--plain"]);
        arguments.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let measure = |epochs, out| {
        let before = children_seconds();
        let arguments = arguments(epochs, out);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let started = Instant::now();
        sandbox.run(&arguments).success();
        (children_seconds() - before, started.elapsed().as_secs_f64())
    };
    // The first epoch costs as much as the second and the third, which are measured.
    let ((one, wall), (three, _)) = (measure("1", "one"), measure("3", "three"));
    let epochs = (three - one) / 2.0;
    let besides = (one - epochs) / runs as f64;
    eprintln!(
        "{runs} runs of one epoch by 4 workers: {one:.1} s of processor time in {wall:.1} s; an \
         epoch {:.4} s, {besides:.4} s a run besides",
        epochs / runs as f64
    );
    assert_eq!(sandbox.runs("one").len() as u64, runs);
    assert!(besides <= 0.1, "{besides} s of processor time a run");
}
