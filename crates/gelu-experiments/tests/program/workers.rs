//! Networks in worker processes: a run has the same bits in any process, and only processes that train keep the data.

use crate::support::{Outcome, Sandbox, results_of, small};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// Makes a comparison, and trains its runs one after the other in one process.
#[track_caller]
fn trained(sandbox: &Sandbox, arguments: &[&str], out: &str) {
    let mut made = arguments.to_vec();
    made[0] = "submit";
    made.extend(["--out", out]);
    let text = sandbox.run(&made).success();
    assert!(text.contains(&format!("gelu work {out}")), "{text}");
    let worked = sandbox.command(&["work", out]).env("RAYON_NUM_THREADS", "1").output().unwrap();
    Outcome(worked).success();
}

#[test]
fn a_run_has_the_same_bits_as_first_and_as_last_of_its_process() {
    let sandbox = Sandbox::new();
    let several = small("relu,silu,gelu", "3", &["--dropout", "0.3"]);
    trained(&sandbox, &several, "several");
    for activation in ["relu", "silu", "gelu"] {
        trained(&sandbox, &small(activation, "3", &["--dropout", "0.3"]), activation);
        let alone = sandbox.runs(activation).remove(0);
        let beside = sandbox.path("several/runs").join(alone.file_name().unwrap());
        assert!(results_of(&alone) == results_of(&beside), "{activation} differs");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_that_starts_workers_does_not_keep_the_data() {
    const PIXELS: u64 = 40_000 * 28 * 28;
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "synth", "mnist", "mnist", "--train", "40000"]).success();
    let arguments = ["mnist-classifier", "--data", "mnist", "--jobs", "1", "--out", "out"];
    let mut compare = sandbox
        .command(&small("gelu", "1", &[]))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while sandbox.runs("out").is_empty() {
        assert!(compare.try_wait().unwrap().is_none(), "it ended before a run began");
        std::thread::sleep(Duration::from_millis(5));
    }
    let memory = fs::read_to_string(format!("/proc/{}/status", compare.id())).unwrap();
    compare.kill().unwrap();
    compare.wait().unwrap();
    let bytes = |name: &str| -> u64 {
        let line = memory.lines().find(|line| line.starts_with(name)).unwrap();
        1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert!(bytes("VmHWM:") > bytes("VmRSS:") + PIXELS / 2, "{memory}");
}
