//! Workers of one host on one folder: killed, signalled, and left alone by the process that started them.

use super::processes::{
    Process, assert_ended_once, ends, epochs, epochs_of, hold, leases, paced, release, status,
    wait_for_held, with,
};
use crate::scripted;
use gelu_compare::runs::RunFolder;
use gelu_compare::testing::{Sandbox, wait};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Makes runs so long that no test waits for their end.
const ENDLESS: [&str; 4] = ["--set", "epochs=1000000", "--set", "pause=10"];

#[test]
fn of_two_workers_one_is_killed_again_and_again_and_every_run_ends_once() {
    let sandbox = paced();
    let more = ["--seeds", "2", "--set", "epochs=30", "--set", "pause=20"];
    let of = |command, out| [&[command, "--out", out], &more[..]].concat();
    sandbox.run(&of("compare", "whole")).success();
    sandbox.run(&of("submit", "shared")).success();
    let mut survivor = Process::worker(&sandbox, "shared");
    let mut kills = 0;
    while !survivor.is_over() {
        let mut victim = Process::worker(&sandbox, "shared");
        let before = epochs(&sandbox, "shared");
        wait("progress", || {
            epochs(&sandbox, "shared") > before + 3 || victim.is_over() || survivor.is_over()
        });
        // Dropping the victim kills it.
        kills += usize::from(!victim.is_over());
    }
    assert!(kills >= 2, "a worker was killed in the middle {kills} times");
    survivor.ended().success();
    sandbox.are_equal("whole", "shared");
    assert_ended_once(&sandbox, "shared");
}

#[test]
fn workers_that_have_lost_their_comparison_finish_their_epoch_and_end() {
    let sandbox = paced();
    hold(&sandbox, 3);
    let compare = [&ENDLESS[..], &["--jobs", "2"]].concat();
    let compare = Process::start(&mut sandbox.command(&with("compare", "out", &compare)));
    wait_for_held(&sandbox, 2);
    // It is killed.
    drop(compare);
    release(&sandbox);
    let runs = sandbox.runs("out");
    wait("the workers' end", || runs.iter().all(|run| leases(run).is_empty()));
    for run in runs {
        assert!(status(&run).contains("interrupted"), "{}", status(&run));
        assert!(epochs_of(&run) >= 3, "{} has lost its epoch", run.display());
    }
}

#[test]
fn a_second_comparison_joins_the_first() {
    let sandbox = paced();
    hold(&sandbox, 2);
    let rates = ["--compare", "rate=3.6,3.7,3.8,3.9", "--jobs", "1", "--plain"];
    let start = || Process::start(&mut sandbox.command(&with("compare", "out", &rates)));
    let first = start();
    wait_for_held(&sandbox, 1);
    let second = start();
    wait_for_held(&sandbox, 2);
    release(&sandbox);
    for process in [first, second] {
        let outcome = process.ended();
        // The only message is about the small number of seeds.
        let said = outcome.stderr();
        assert!(said.lines().all(|line| line.contains("1 seed cannot decide")), "{said}");
        outcome.success();
    }
    assert_eq!(sandbox.runs("out").len(), 4);
    for run in sandbox.runs("out") {
        assert_eq!(ends(&run), 1, "{}", run.display());
    }
}

#[test]
fn a_run_that_crashes_its_workers_is_given_up_with_their_last_words() {
    let sandbox = paced();
    // The other run is done, or workers would take it first once a process has died on this one.
    sandbox.run(&["train", "--set", "rate=3.8", "--out", "shared"]).success();
    hold(&sandbox, 1);
    sandbox.run(&with("submit", "shared", &[])).success();
    let run = || sandbox.runs("shared").into_iter().find(|run| !status(run).contains("finished"));
    let mut before = HashSet::new();
    for _ in 0..3 {
        let victim = Process::worker(&sandbox, "shared");
        let taken = || -> Option<PathBuf> {
            let lease = leases(&run()?).pop()?;
            let name = lease.file_name()?.to_str()?.replace("lease-", "provenance-") + ".json";
            let began = lease.join("worker.log").exists() && lease.with_file_name(name).exists();
            (began && !before.contains(&lease)).then_some(lease)
        };
        wait("the run to be taken", || taken().is_some());
        let lease = taken().unwrap();
        // The state after the system has run out of memory.
        fs::write(lease.join("worker.log"), "memory allocation of 8 bytes failed\n").unwrap();
        drop(victim);
        before.insert(lease);
    }
    Process::worker(&sandbox, "shared").ended().success();
    let watched = sandbox.run(&["watch", "shared", "--plain"]).success();
    let expected = "failed: 3 processes died in the same epoch; the last words: memory allocation";
    assert!(watched.contains(expected), "{watched}");
    let log = run().unwrap().join("worker.log");
    assert_eq!(fs::read_to_string(log).unwrap(), "memory allocation of 8 bytes failed\n");
    release(&sandbox);
    let again = with("compare", "shared", &["--plain", "--retry-failed"]);
    let text = sandbox.run(&again).success();
    let is_end = |line: &str| line.contains(" rate 3.7 ") && line.contains("  finished");
    assert!(text.lines().any(is_end), "{text}");
}

/// Returns the number of recorded sessions of a run, and the number of epochs at the end of the last one.
fn sessions(run: &Path) -> (usize, Option<usize>) {
    let sessions = RunFolder::at(run).provenance().unwrap();
    (sessions.len(), sessions.last().and_then(|session| session.epochs_after))
}

/// Sends signals as a cluster does: to all processes of a job, and to the worker a second time.
fn notify(sandbox: &Sandbox, worker: &Process) {
    worker.signal("USR1");
    // While a worker trains, its messages go to the run's log.
    let log = |lease: PathBuf| fs::read_to_string(lease.join("worker.log")).unwrap_or_default();
    let run = sandbox.runs("shared").remove(0);
    wait("the worker to notice", || {
        leases(&run).into_iter().any(|lease| log(lease).contains("stopping after the epochs"))
    });
    for name in ["TERM", "USR1"] {
        worker.signal(name);
        // The worker looks for signals twenty times per second. If it counted these, it would end now.
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_notice_finishes_the_epoch_however_often_it_comes_and_whatever_comes_with_it() {
    let sandbox = paced();
    hold(&sandbox, 2);
    sandbox.run(&with("submit", "shared", &[])).success();
    let worker = Process::worker(&sandbox, "shared");
    wait_for_held(&sandbox, 1);
    notify(&sandbox, &worker);
    release(&sandbox);
    worker.ended().refused(130, "interrupted");
    assert_eq!(epochs(&sandbox, "shared"), 2, "the epoch under way is finished, and no other");
    let runs = sandbox.runs("shared");
    assert_eq!(runs.len(), 1, "the other run was not begun");
    assert_eq!(sessions(&runs[0]), (1, Some(2)));
}

/// A second request would end the command at once.
#[test]
fn a_notice_leaves_a_command_its_time_however_often_it_comes_and_whatever_comes_with_it() {
    let sandbox =
        scripted("touch began; while [ ! -e go ]; do sleep 0.02; done; echo '{\"error\": 0.'$1'}'");
    let submit = ["submit", "sh train.sh {x}", "--compare", "x=1,2", "--seeds", "1"];
    sandbox.run(&[&submit[..], &["--metric", "error", "--out", "shared"]].concat()).success();
    let worker = Process::worker(&sandbox, "shared");
    wait("the command", || sandbox.path("began").exists());
    notify(&sandbox, &worker);
    fs::write(sandbox.path("go"), "").unwrap();
    worker.ended().refused(130, "interrupted");
    let runs = sandbox.runs("shared");
    assert_eq!(runs.len(), 1, "the other run was not begun");
    assert!(status(&runs[0]).contains("finished"), "{}", status(&runs[0]));
    assert_eq!(sessions(&runs[0]), (1, Some(1)));
}

#[test]
fn a_termination_request_ends_with_130_and_loses_nothing_finished() {
    let sandbox = paced();
    hold(&sandbox, 4);
    let compare = [&ENDLESS[..], &["--jobs", "1"]].concat();
    let compare = Process::start(&mut sandbox.command(&with("compare", "out", &compare)));
    wait_for_held(&sandbox, 1);
    compare.signal("TERM");
    wait("the request", || compare.said().contains("stopping after the epochs under way"));
    release(&sandbox);
    compare.ended().refused(130, "interrupted; everything finished so far is saved in out");
    assert!(epochs(&sandbox, "out") >= 4, "the epoch under way is finished");
    assert!(sandbox.path("out/results.json").exists());
}

/// One run is left to do, and when it is done, both runs of another seed follow.
#[test]
fn workers_are_as_many_as_jobs_where_one_run_is_wanted_and_more_will_be() {
    let sandbox = paced();
    let slow = ["compare", "--set", "pause=50", "--out", "out"];
    let compare = |jobs: &str| {
        let more = ["--until-decided", "--max-seeds", "8", "--jobs", jobs];
        sandbox.command(&[&slow[..], &more].concat())
    };
    Process::start(&mut compare("8")).ended().success();
    assert_eq!(sandbox.runs("out").len(), 16, "it is undecided after eight seeds");
    // Seven seeds are planned before the first verdict; the eighth is the only one that follows.
    for run in sandbox.runs("out") {
        let name = run.file_name().unwrap().to_string_lossy();
        let is_one_of_first = name.starts_with("rate3.8-") && name.contains("-seed1-");
        if is_one_of_first || name.contains("-seed8-") {
            fs::remove_dir_all(&run).unwrap();
        }
    }
    let mut process = Process::start(&mut compare("2"));
    let mut most = 0;
    wait("the end", || {
        let held = |run: &&PathBuf| fs::read_dir(run).is_ok() && !leases(run).is_empty();
        most = most.max(sandbox.runs("out").iter().filter(held).count());
        process.is_over()
    });
    process.ended().success();
    assert_eq!((sandbox.runs("out").len(), most), (16, 2));
}
