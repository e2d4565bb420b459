//! Tests of any number of workers on one folder: killed, frozen, on this host and on simulated other hosts.

use crate::support::{PROGRAM, Sandbox, results_of, small};
use gelu_compare::runs::RunFolder;
use gelu_experiments::runs::ComparisonFolder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Creates a comparison without starting a run.
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

/// Returns the number of finished epochs of all runs.
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

/// Asserts that the runs of two comparisons are equal byte by byte.
#[track_caller]
fn assert_equal(sandbox: &Sandbox, one: &str, other: &str) {
    let (one, other) = (sandbox.runs(one), sandbox.runs(other));
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one.file_name(), other.file_name());
        assert!(results_of(one) == results_of(other), "{} differs", other.display());
    }
}

/// Returns the number of sessions that finished a run.
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

/// Returns a command that starts a worker in its own network and process namespaces. Other workers trust neither its
/// locks nor its processes, as if it were on another host.
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

/// Returns the process of the worker inside `unshare`.
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

/// Returns the lease folders of a run.
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

    // A worker on another host takes the run over and finishes it.
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
        // The processes in the namespaces end with `unshare`.
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
        assert_eq!(output.status.code(), Some(0), "{said}");
        // The only message is about the small number of seeds.
        assert!(said.lines().all(|line| line.contains("1 seed cannot decide")), "{said}");
    }
    for run in sandbox.runs("results/digits") {
        assert!(ends(&run) <= 1, "{} was trained once", run.display());
    }
}

#[test]
fn a_run_that_crashes_its_workers_is_given_up_with_their_last_words() {
    let sandbox = Sandbox::new();
    // An epoch takes longer than the workers in this test live.
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
        // The state after the system has run out of memory.
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
    let again = [&arguments[..], &["--plain", "--retry-failed"]].concat();
    let text = sandbox.run(&again).success();
    assert!(text.contains("gelu lr 0.001 dropout 0.3 seed 1  finished"), "{text}");
}

/// Returns the number of recorded sessions of a run, and the number of epochs at the end of the last one.
fn sessions(run: &Path) -> (usize, Option<usize>) {
    let sessions = RunFolder::at(run).provenance().unwrap();
    (sessions.len(), sessions.last().and_then(|session| session.epochs_after))
}

#[test]
fn a_notice_finishes_the_epoch_however_often_it_comes_and_whatever_comes_with_it() {
    let sandbox = Sandbox::new();
    // An epoch takes seconds.
    let slow = ["submit", "--seeds", "1", "--activations", "gelu", "--epochs", "50"];
    sandbox.run(&[&slow[..], &["--out", "shared", "--batch-size", "8"]].concat()).success();
    let folder = sandbox.path("shared");
    let mut worker = worker(&sandbox, "shared").spawn().unwrap();
    wait_for("the first epoch", || epochs(&folder) >= 1);
    // Signals as a cluster sends them to all processes of a job, and to the worker a second time.
    let before = epochs(&folder);
    for name in ["USR1", "TERM", "USR1"] {
        signal(name, &worker.id().to_string());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(wait(&mut worker, "the worker's end"), 130);
    let run = sandbox.runs("shared").remove(0);
    assert!(epochs(&folder) > before, "the epoch under way is finished");
    assert_eq!(sessions(&run), (1, Some(epochs(&folder))));
}

#[test]
fn workers_are_as_many_as_jobs_where_one_run_is_wanted_and_more_will_be() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml").to_owned() + "\n[comparison.retrain]\n";
    fs::write(sandbox.path("mine.toml"), recipe + "tuning_seeds = 1\n").unwrap();
    // One run tunes, and four runs follow.
    let mut compare = sandbox.command(&["compare", "--recipe", "mine.toml", "--jobs", "2"]);
    compare.args(["--activations", "gelu", "--learning-rates", "1e-3", "--dropout", "0"]);
    compare.args(["--seeds", "4", "--epochs", "30", "--train-limit", "600", "--out", "results"]);
    let mut process = compare.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    wait_for("the end", || {
        let held = |run: &PathBuf| fs::read_dir(run).is_ok() && !leases(run).is_empty();
        most = most.max(sandbox.runs("results").iter().filter(|run| held(run)).count());
        process.try_wait().unwrap().is_some()
    });
    assert_eq!(process.wait().unwrap().code(), Some(0));
    assert_eq!((sandbox.runs("results").len(), most), (5, 2));
}

/// Returns the activations of a comparison's plan.
fn planned(folder: &Path) -> Vec<String> {
    let comparison = ComparisonFolder::open(folder).unwrap().comparison().unwrap();
    comparison.recipe.comparison.activations.iter().map(ToString::to_string).collect()
}

#[test]
fn two_processes_that_widen_one_comparison_lose_nothing_and_a_killed_one_is_in_nobodys_way() {
    let sandbox = Sandbox::new();
    let (mut both, mut refused, mut killed) = (0, 0, 0);
    for round in 0..24u64 {
        let out = format!("round-{round}");
        prepared(&sandbox, &small("gelu,relu", "1", &[]), &out);
        let folder = sandbox.path(&out);
        // One process asks for more than the other, or for something else.
        let others =
            ["gelu,relu,silu", ["gelu,relu,elu", "gelu,relu,silu,elu"][round as usize % 2]];
        let start = |activations| {
            let mut arguments = small(activations, "1", &["--out", &out]);
            arguments[0] = "submit";
            let mut command = sandbox.command(&arguments);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut processes = others.map(start);
        if round % 3 == 2 {
            // Roughly when the process is about to extend the plan.
            let deadline = Instant::now() + Duration::from_secs(1);
            while !folder.join("plan").exists() && Instant::now() < deadline {}
            std::thread::sleep(Duration::from_millis(round));
            processes[0].kill().unwrap();
            killed += 1;
        }
        let mut done = 0;
        for (process, activations) in processes.into_iter().zip(others) {
            let ended = process.wait_with_output().unwrap();
            let said = String::from_utf8(ended.stderr).unwrap();
            match ended.status.code() {
                Some(0) => {
                    done += 1;
                    let plan = planned(&folder);
                    let missing =
                        activations.split(',').find(|name| !plan.contains(&(*name).to_owned()));
                    assert_eq!(missing, None, "round {round}: of {activations} in {plan:?}");
                }
                Some(1) => {
                    assert!(said.contains("which is not asked for now"), "{said}");
                    refused += 1;
                }
                code => assert_eq!(code, None, "{said}"),
            }
        }
        both += usize::from(done == 2);
        // The next process does not have to wait.
        let began = Instant::now();
        prepared(&sandbox, &small("gelu,relu,silu,elu,tanh", "1", &[]), &out);
        assert_eq!(planned(&folder).len(), 5);
        assert!(began.elapsed() < Duration::from_secs(30), "it waited for {:?}", began.elapsed());
    }
    eprintln!("both widened {both} times, {refused} were refused, {killed} killed");
    assert!(refused > 0, "they have never met");
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
