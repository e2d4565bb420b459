//! Killing the program and starting it again.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{Sandbox, results_of, small};

/// Waits for something to become true.
#[track_caller]
fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_and_resumed_runs_end_as_if_never_killed() {
    let sandbox = Sandbox::new();
    let arguments = |out| small("gelu,relu", "8", &["--dropout", "0.5", "--out", out]);
    sandbox.run(&arguments("whole")).success();

    // Killed again and again, each time after it has come a little further.
    let folder = sandbox.path("pieces");
    let epochs = || -> usize {
        let runs = fs::read_dir(folder.join("runs")).into_iter().flatten().flatten();
        let lines = |path| fs::read_to_string(path).map_or(0, |text: String| text.lines().count());
        runs.map(|run| lines(run.path().join("metrics.csv"))).sum()
    };
    let mut kills = 0;
    for _ in 0..4 {
        let before = epochs();
        let mut process = sandbox
            .command(&arguments("pieces"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("progress", || epochs() > before || process.try_wait().unwrap().is_some());
        kills += usize::from(process.try_wait().unwrap().is_none());
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(kills >= 2, "the comparison was killed in the middle {kills} times");
    sandbox.run(&arguments("pieces")).success();

    let (whole, pieces) = (sandbox.runs("whole"), sandbox.runs("pieces"));
    assert_eq!((whole.len(), pieces.len()), (2, 2));
    for (whole, pieces) in whole.iter().zip(&pieces) {
        assert!(results_of(whole) == results_of(pieces), "{} differs", pieces.display());
        assert!(!pieces.join("checkpoint-0008").exists(), "no checkpoint is left over");
    }
}

#[test]
fn two_processes_never_work_on_the_same_run() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "5000", &[]);
    let mut first = sandbox.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the first epoch", || {
        sandbox.path("results/digits/runs").exists()
            && sandbox
                .runs("results/digits")
                .iter()
                .any(|run| run.join("checkpoint-0001").exists() || run.join("metrics.csv").exists())
    });
    let second = sandbox.run(&arguments);
    assert_eq!(second.code(), 1);
    assert!(second.stderr().contains("another process is working on it"), "{}", second.stderr());
    assert!(first.try_wait().unwrap().is_none(), "the first goes on undisturbed");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn half_written_files_are_never_trusted() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "3", &[]);
    sandbox.run(&arguments).success();
    let run = sandbox.runs("results/digits").remove(0);
    let whole = results_of(&run);

    // As a kill may leave it: a scratch checkpoint, and a status that says running.
    fs::remove_file(run.join("model.bpk")).unwrap();
    fs::write(run.join("status.json"), "{\"state\":\"running\",\"seconds\":1.0}").unwrap();
    fs::create_dir(run.join(".checkpoint-0002")).unwrap();
    fs::write(run.join(".checkpoint-0002/model.bpk"), "half").unwrap();
    sandbox.run(&arguments).success();
    assert!(results_of(&run) == whole, "the run is trained anew to the same result");

    // As no kill leaves it: a checkpoint in place that is damaged.
    fs::write(run.join("status.json"), "{\"state\":\"running\",\"seconds\":1.0}").unwrap();
    fs::create_dir(run.join("checkpoint-0001")).unwrap();
    let metrics = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let first: Vec<&str> = metrics.lines().take(2).collect();
    fs::write(run.join("checkpoint-0001/metrics.csv"), first.join("\n") + "\n").unwrap();
    for part in ["model.bpk", "optimizer.bpk", "scheduler.bpk"] {
        fs::write(run.join("checkpoint-0001").join(part), "damaged").unwrap();
    }
    let refused = sandbox.run(&arguments);
    assert_eq!(refused.code(), 1);
    let said = refused.stderr();
    assert!(said.contains("checkpoint-0001/model.bpk") && said.contains("delete"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_termination_request_ends_with_130_and_loses_nothing_finished() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "5000", &[]);
    let process = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let process = process.unwrap();
    let metrics = || {
        let run = sandbox.runs("results/digits").into_iter().next()?;
        fs::read_to_string(run.join("metrics.csv")).ok()
    };
    wait_for("the third epoch", || {
        sandbox.path("results/digits/runs").exists()
            && metrics().is_some_and(|text| text.lines().count() > 3)
    });
    let id = process.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("interrupted; everything finished so far is saved in results/digits"),
        "{said}"
    );
    assert!(metrics().unwrap().lines().count() > 3);
    assert!(sandbox.path("results/digits/results.json").exists());
}
