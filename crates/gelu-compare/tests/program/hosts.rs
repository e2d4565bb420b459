//! Workers of several hosts on one folder. A host is simulated by namespaces of the system.

use super::processes::{
    Process, assert_ended_once, ends, epochs, hold, leases, paced, release, results_are_those_of,
    signal, wait_for_held, with,
};
use gelu_compare::testing::{Sandbox, wait};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The namespaces that make another host of a process.
const NAMESPACES: [&str; 7] =
    ["--map-root-user", "--user", "--net", "--pid", "--fork", "--mount", "--mount-proc"];

/// Starts a worker in its own network and process namespaces. Other workers trust neither its locks nor its
/// processes, as if it were on another host. It ends with the returned process.
fn elsewhere(sandbox: &Sandbox, out: &str) -> Process {
    let worker = sandbox.command(&["work", out]);
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).arg("--kill-child").arg(worker.get_program()).args(worker.get_args());
    Process::start(command.current_dir(sandbox.folder.path()))
}

/// Returns whether the test can run, and says so if it cannot.
fn may_unshare() -> bool {
    let allowed = Command::new("unshare").args(NAMESPACES).arg("true").status();
    let allowed = allowed.is_ok_and(|status| status.success());
    if !allowed {
        eprintln!("SKIPPED: this user may not make namespaces");
    }
    allowed
}

/// Returns the process of the worker inside `unshare`.
fn inner(process: &Process) -> String {
    let path = format!("/proc/{0}/task/{0}/children", process.id());
    let mut children = String::new();
    wait("the worker in its namespaces", || {
        children = fs::read_to_string(&path).unwrap_or_default();
        !children.trim().is_empty()
    });
    children.split_whitespace().next().unwrap().to_owned()
}

/// Returns all files below a folder, with their contents.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut unseen = vec![folder.to_path_buf()];
    let mut files = Vec::new();
    while let Some(path) = unseen.pop() {
        match path.is_dir() {
            true => unseen.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path())),
            false => files.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn a_worker_of_another_host_that_was_frozen_past_its_lease_writes_nothing() {
    if !may_unshare() {
        return;
    }
    let sandbox = paced();
    hold(&sandbox, 4);
    sandbox.run(&with("submit", "shared", &["--lease", "2"])).success();

    let frozen = elsewhere(&sandbox, "shared");
    wait_for_held(&sandbox, 1);
    let inside = inner(&frozen);
    signal("STOP", &inside);
    release(&sandbox);
    let run = sandbox.runs("shared").remove(0);
    let held = leases(&run);
    assert_eq!(held.len(), 1, "{held:?}");

    // A worker on another host takes the run over and finishes both.
    elsewhere(&sandbox, "shared").ended().success();
    assert_ne!(leases(&run), held, "the lease was taken over");
    let before = files(&run);

    // It still has an epoch to finish.
    signal("CONT", &inside);
    frozen.ended().success();
    assert!(files(&run) == before, "it wrote nothing after it had lost its lease");
    assert_eq!(ends(&run), 1);
    results_are_those_of(&sandbox, "shared", &with("compare", "whole", &[]));
}

#[test]
fn two_hosts_share_the_work_and_one_is_killed_again_and_again() {
    if !may_unshare() {
        return;
    }
    let sandbox = paced();
    let arguments = ["--set", "epochs=40", "--set", "pause=20"];
    let lease = [&arguments[..], &["--lease", "1"]].concat();
    sandbox.run(&with("submit", "shared", &lease)).success();
    let mut survivor = elsewhere(&sandbox, "shared");
    for _ in 0..3 {
        let _victim = elsewhere(&sandbox, "shared");
        let before = epochs(&sandbox, "shared");
        wait("progress", || epochs(&sandbox, "shared") > before + 2 || survivor.is_over());
        // The processes in the namespaces end with the victim, here.
    }
    survivor.ended().success();
    assert_ended_once(&sandbox, "shared");
    results_are_those_of(&sandbox, "shared", &with("compare", "whole", &arguments));
}
