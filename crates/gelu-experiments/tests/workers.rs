//! Any number of workers on one folder: killed, frozen, on this host and on what looks like others.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![cfg(unix)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{PROGRAM, Sandbox, results_of, small};

/// A comparison that was made, and that nobody has begun.
fn prepared(sandbox: &Sandbox, arguments: &[&str], out: &str) {
    let mut made = arguments.to_vec();
    made[0] = "submit";
    made.extend(["--out", out]);
    let text = sandbox.run(&made).success();
    assert!(text.contains(&format!("gelu work {out}")), "{text}");
}

fn worker(sandbox: &Sandbox, out: &str) -> Command {
    let mut command = sandbox.command(&["work", out]);
    command.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Finished epochs of all runs.
fn epochs(folder: &Path) -> usize {
    let runs = fs::read_dir(folder.join("runs")).into_iter().flatten().flatten();
    let lines = |path: PathBuf| fs::read_to_string(path).map_or(0, |text| text.lines().count());
    runs.map(|run| lines(run.path().join("metrics.csv")).saturating_sub(1)).sum()
}

#[track_caller]
fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
fn wait(process: &mut Child, what: &str) -> i32 {
    let mut code = None;
    wait_for(what, || {
        code = process.try_wait().unwrap();
        code.is_some()
    });
    code.unwrap().code().unwrap_or(-1)
}

/// Every run has the same bytes here and there.
#[track_caller]
fn assert_equal(sandbox: &Sandbox, one: &str, other: &str) {
    let (one, other) = (sandbox.runs(one), sandbox.runs(other));
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one.file_name(), other.file_name());
        assert!(results_of(one) == results_of(other), "{} differs", other.display());
    }
}

/// How many sessions have brought each run to its end.
fn ends(run: &Path) -> usize {
    let records = fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path());
    let finished = |path: &PathBuf| {
        path.to_string_lossy().contains("/provenance-")
            && fs::read_to_string(path).unwrap().contains("\"outcome\": \"finished\"")
    };
    records.filter(finished).count()
}

#[test]
fn a_run_has_the_same_bits_as_first_and_as_last_of_its_process() {
    let sandbox = Sandbox::new();
    let several = small("relu,silu,gelu", "3", &["--dropout", "0.3"]);
    prepared(&sandbox, &several, "several");
    assert_eq!(wait(&mut worker(&sandbox, "several").spawn().unwrap(), "the worker"), 0);
    for activation in ["relu", "silu", "gelu"] {
        prepared(&sandbox, &small(activation, "3", &["--dropout", "0.3"]), activation);
        assert_eq!(wait(&mut worker(&sandbox, activation).spawn().unwrap(), "the worker"), 0);
        let alone = sandbox.runs(activation).remove(0);
        let beside = sandbox.path("several/runs").join(alone.file_name().unwrap());
        assert!(results_of(&alone) == results_of(&beside), "{activation} differs");
    }
}

#[test]
fn of_two_workers_one_is_killed_again_and_again_and_every_run_ends_once() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu,relu", "12", &["--dropout", "0,0.5"]);
    let mut whole = arguments.clone();
    whole.extend(["--out", "whole"]);
    sandbox.run(&whole).success();
    prepared(&sandbox, &arguments, "shared");

    let folder = sandbox.path("shared");
    let mut survivor = worker(&sandbox, "shared").spawn().unwrap();
    let mut kills = 0;
    while survivor.try_wait().unwrap().is_none() {
        let mut victim = worker(&sandbox, "shared").spawn().unwrap();
        let before = epochs(&folder);
        wait_for("progress", || {
            epochs(&folder) > before + 3
                || victim.try_wait().unwrap().is_some()
                || survivor.try_wait().unwrap().is_some()
        });
        kills += usize::from(victim.try_wait().unwrap().is_none());
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    assert!(kills >= 2, "a worker was killed in the middle {kills} times");
    assert_eq!(wait(&mut survivor, "the surviving worker"), 0);
    assert_equal(&sandbox, "whole", "shared");
    for run in sandbox.runs("shared") {
        assert!(ends(&run) <= 1, "{} was trained to its end once", run.display());
    }
}

/// A worker in network and process namespaces of its own: neither its locks nor its processes are
/// trusted by others, as if it were on another host.
fn elsewhere(sandbox: &Sandbox, out: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--user", "--net", "--pid", "--fork", "--kill-child"])
        .args(["--mount", "--mount-proc", PROGRAM, "work", out])
        .current_dir(sandbox.path(""))
        .env("GELU_DATA", sandbox.path("data-home"))
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn may_unshare() -> bool {
    let probe =
        ["--map-root-user", "--user", "--net", "--pid", "--fork", "--mount", "--mount-proc"];
    let allowed = Command::new("unshare").args(probe).arg("true").status();
    allowed.is_ok_and(|status| status.success())
}

/// The process that works inside of `unshare`.
fn inner(process: &Child) -> String {
    let path = format!("/proc/{0}/task/{0}/children", process.id());
    let mut children = String::new();
    wait_for("the worker in its namespaces", || {
        children = fs::read_to_string(&path).unwrap_or_default();
        !children.trim().is_empty()
    });
    children.split_whitespace().next().unwrap().to_owned()
}

fn signal(name: &str, process: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), process]).status().unwrap();
    assert!(sent.success(), "kill -{name} {process}");
}

/// The lease folders of a run.
fn leases(run: &Path) -> Vec<String> {
    let names = fs::read_dir(run).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("lease-")).collect()
}

#[test]
fn a_worker_of_another_host_that_was_frozen_past_its_lease_writes_nothing() {
    if !may_unshare() {
        eprintln!("skipped: this user may not make namespaces");
        return;
    }
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "40", &["--lease", "2"]);
    sandbox.run(&small("gelu", "40", &["--out", "whole"])).success();
    prepared(&sandbox, &arguments, "shared");
    let folder = sandbox.path("shared");

    let mut frozen = elsewhere(&sandbox, "shared").spawn().unwrap();
    wait_for("its first epochs", || epochs(&folder) >= 3);
    let inside = inner(&frozen);
    signal("STOP", &inside);
    let run = sandbox.runs("shared").remove(0);
    let held = leases(&run);
    assert_eq!(held.len(), 1, "{held:?}");

    // Another host takes the run over, and ends it.
    let mut taker = elsewhere(&sandbox, "shared").spawn().unwrap();
    assert_eq!(wait(&mut taker, "the worker that took over"), 0);
    assert_ne!(leases(&run), held, "the lease was taken over");
    let state = |run: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        let mut unseen = vec![run.to_path_buf()];
        let mut files = Vec::new();
        while let Some(path) = unseen.pop() {
            match path.is_dir() {
                true => unseen.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path())),
                false => files.push((path.clone(), fs::read(&path).unwrap())),
            }
        }
        files.sort();
        files
    };
    let before = state(&run);

    signal("CONT", &inside);
    assert_eq!(wait(&mut frozen, "the worker that was frozen"), 0, "nothing is left to do");
    assert!(state(&run) == before, "it wrote nothing after it had lost its lease");
    assert_eq!(ends(&run), 1);
    assert_equal(&sandbox, "whole", "shared");
}

#[test]
fn two_hosts_share_the_work_and_one_is_killed_again_and_again() {
    if !may_unshare() {
        eprintln!("skipped: this user may not make namespaces");
        return;
    }
    let sandbox = Sandbox::new();
    let arguments = small("gelu,relu", "12", &["--lease", "1"]);
    sandbox.run(&small("gelu,relu", "12", &["--out", "whole"])).success();
    prepared(&sandbox, &arguments, "shared");
    let folder = sandbox.path("shared");
    let mut survivor = elsewhere(&sandbox, "shared").spawn().unwrap();
    for _ in 0..3 {
        let mut victim = elsewhere(&sandbox, "shared").spawn().unwrap();
        let before = epochs(&folder);
        wait_for("progress", || {
            epochs(&folder) > before + 2 || survivor.try_wait().unwrap().is_some()
        });
        // What is in the namespaces ends with `unshare`.
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    assert_eq!(wait(&mut survivor, "the surviving worker"), 0);
    assert_equal(&sandbox, "whole", "shared");
    for run in sandbox.runs("shared") {
        assert!(ends(&run) <= 1, "{} was trained to its end once", run.display());
    }
}

#[test]
fn workers_that_have_lost_their_comparison_finish_their_epoch_and_end() {
    let sandbox = Sandbox::new();
    let mut arguments = small("gelu,relu", "5000", &["--jobs", "2"]);
    arguments.push("--plain");
    let mut compare =
        sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let folder = sandbox.path("results/digits");
    wait_for("the first epochs", || epochs(&folder) >= 4);
    compare.kill().unwrap();
    compare.wait().unwrap();
    wait_for("the workers' end", || {
        let runs = sandbox.runs("results/digits");
        runs.len() == 2 && runs.iter().all(|run| leases(run).is_empty())
    });
    for run in sandbox.runs("results/digits") {
        let status = fs::read_to_string(run.join("status.json")).unwrap();
        assert!(status.contains("interrupted"), "{status}");
    }
}

#[test]
fn a_second_comparison_joins_the_first() {
    let sandbox = Sandbox::new();
    let mut arguments = small("gelu,relu,silu,elu", "10", &["--jobs", "1"]);
    arguments.push("--plain");
    let start = || {
        let mut command = sandbox.command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = start();
    wait_for("the first epoch", || epochs(&sandbox.path("results/digits")) >= 1);
    let second = start();
    for process in [first, second] {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
    }
    for run in sandbox.runs("results/digits") {
        assert!(ends(&run) <= 1, "{} was trained once", run.display());
    }
}

#[test]
fn a_run_that_crashes_its_workers_is_given_up_with_their_last_words() {
    let sandbox = Sandbox::new();
    // Its epochs take longer than a worker here lives.
    let mut arguments = vec!["compare", "--seeds", "1", "--activations", "gelu", "--epochs", "2"];
    arguments.extend(["--out", "shared", "--batch-size", "8"]);
    let mut made = arguments.clone();
    made[0] = "submit";
    sandbox.run(&made).success();
    let mut before = Vec::new();
    for _ in 0..3 {
        let mut victim = worker(&sandbox, "shared").spawn().unwrap();
        let mut lease = None;
        wait_for("the run to be taken", || {
            let runs = sandbox.path("shared/runs");
            let Some(Ok(run)) = fs::read_dir(runs).unwrap().next() else { return false };
            let run = run.path();
            lease = leases(&run).pop().map(|name| run.join(name));
            let Some(lease) = &lease else { return false };
            let record = lease.to_string_lossy().replace("/lease-", "/provenance-") + ".json";
            !before.contains(lease)
                && lease.join("worker.log").exists()
                && Path::new(&record).exists()
        });
        let lease = lease.unwrap();
        // As a system without memory ends it.
        fs::write(lease.join("worker.log"), "memory allocation of 8 bytes failed\n").unwrap();
        victim.kill().unwrap();
        victim.wait().unwrap();
        before.push(lease);
    }
    let outcome = sandbox.run(&["work", "shared"]);
    assert_eq!(outcome.code(), 0, "{}", outcome.stderr());
    let watched = sandbox.run(&["watch", "shared", "--plain"]).success();
    let expected = "failed: 3 processes died in the same epoch; the last words: memory allocation";
    assert!(watched.contains(expected), "{watched}");
    let log = sandbox.runs("shared").remove(0).join("worker.log");
    assert_eq!(fs::read_to_string(log).unwrap(), "memory allocation of 8 bytes failed\n");
    // Who asks for it again, gets it tried again.
    let text = sandbox.run(&[&arguments[..], &["--plain"]].concat()).success();
    assert!(text.contains("gelu lr 0.001 dropout 0.3 seed 1  finished"), "{text}");
}
