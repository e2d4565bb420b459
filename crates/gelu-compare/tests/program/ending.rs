//! Programs and workers that are killed, interrupted, or leave processes behind.

use super::failing::compared;
use super::judging::PRINTS_ERRORS;
use crate::scripted;
#[cfg(target_os = "linux")]
use gelu_compare::testing::kill;
use gelu_compare::testing::{Outcome, Sandbox, wait};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn a_judge_that_is_interrupted_says_so_by_its_code_and_goes_on() {
    let script = r#"touch began
while [ ! -e go ]; do sleep 0.02; done
echo "{\"error\": 0.$1$2}""#;
    let sandbox = scripted(script);
    let arguments =
        ["judge", "sh train.sh 2 {seed}", "sh train.sh 1 {seed}", "--measure", "error", "--plain"];
    let mut judge = sandbox.command(&arguments);
    let judge = judge.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let judge = judge.spawn().unwrap();
    wait("the first run", || sandbox.path("began").exists());
    let interrupt = Command::new("kill").args(["-INT", &judge.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    // The current run ends normally.
    std::thread::sleep(Duration::from_millis(300));
    fs::write(sandbox.path("go"), "").unwrap();
    let said = Outcome(judge.wait_with_output().unwrap()).refused(130, "interrupted");
    assert!(said.contains("stopping after the epochs under way"), "{said}");
    let finished = |run: &std::path::PathBuf| {
        let status = fs::read_to_string(run.join("status.json")).unwrap_or_default();
        status.contains("finished")
    };
    let results = fs::read_dir(sandbox.path("results")).unwrap().next().unwrap().unwrap();
    let name = format!("results/{}", results.file_name().to_string_lossy());
    assert_eq!(sandbox.runs(&name).iter().filter(|run| finished(run)).count(), 1);
    let said = sandbox.run(&arguments).success();
    assert!(said.contains("sh train.sh 1 {seed} beats"), "{said}");
}

/// Returns whether a process runs. A zombie counts as ended, because its parent may not have waited for it yet.
#[cfg(target_os = "linux")]
fn goes_on(process: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat"));
    text.is_ok_and(|text| !text.contains(") Z "))
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_whose_worker_was_killed_is_ended_before_its_run_begins_anew() {
    // The program continues from what it saved after the first epoch. Its child outlives the worker.
    let script = r#"cd "$GELU_RUN"
[ -e saved ] || echo '{"epoch": 1, "error": 0.7}'
touch saved
echo '{"epoch": 2, "error": 0.5}'
while [ $1 = 1 ] && [ ! -e ../../../../../go ]; do sleep 0.05; done & echo $$ $! >> sessions
wait"#;
    let sandbox = scripted(script);
    let arguments = ["sh train.sh {x} {seed}", "--compare", "x=1,2", "--seeds", "1"];
    sandbox.run(&[&["submit"], &arguments[..], &["--metric", "error"]].concat()).success();
    let worker = || sandbox.command(&["work", "results/train"]).spawn().unwrap();
    let sessions = || -> Vec<String> {
        let all = sandbox.runs("results/train").into_iter();
        let texts = all.filter_map(|run| fs::read_to_string(run.join("kept/sessions")).ok());
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let mut first = worker();
    wait("session 1", || !sessions().is_empty());
    let all = sessions();
    let (program, left) = all[0].split_once(' ').unwrap();
    assert!(goes_on(program) && goes_on(left));
    kill(&mut first);
    wait("the program's end, with its worker", || !goes_on(program));
    assert!(goes_on(left), "it goes on alone");
    let mut second = worker();
    // The second session must be of the same run; the worker may take the other run first.
    wait("session 2", || {
        let of_run =
            |run: PathBuf| fs::read_to_string(run.join("kept/sessions")).unwrap_or_default();
        let texts = sandbox.runs("results/train").into_iter().map(of_run);
        texts.into_iter().any(|text| text.lines().count() > 1)
    });
    assert!(!goes_on(left));
    fs::write(sandbox.path("go"), "").unwrap();
    assert!(second.wait().unwrap().success());
    sandbox.run(&["report", "results/train"]).success();
    let text = fs::read_to_string(sandbox.path("results/train/results.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    for run in document["runs"].as_array().unwrap() {
        let errors: Vec<f64> = run["epochs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["error"].as_f64().unwrap())
            .collect();
        assert_eq!(errors, [0.7, 0.5], "the epoch before is kept: {run}");
    }
}

/// Returns the tables of a comparison's runs, in order.
pub(crate) fn tables(sandbox: &Sandbox) -> Vec<String> {
    let runs = sandbox.runs("results/train").into_iter();
    runs.map(|run| fs::read_to_string(run.join("metrics.csv")).unwrap_or_default()).collect()
}

/// The timing of reads must not affect which lines count.
#[test]
#[cfg(target_os = "linux")]
fn a_slow_disk_loses_no_line() {
    let sandbox = scripted(
        r#"echo '{"epoch": 1, "error": 0.9}'
sleep 0.2; echo '{"epoch": 2, "error": 0.1}'"#,
    );
    fs::write(
        sandbox.path("slow.c"),
        r#"#define _GNU_SOURCE
#include <string.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t write(int file, const void *bytes, size_t count) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0 && (path[length] = 0, strstr(path, "/told"))) usleep(700000);
    return syscall(SYS_write, file, bytes, count);
}"#,
    )
    .unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "slow.so", "slow.c"])
        .current_dir(sandbox.folder.path())
        .status();
    assert!(compiled.unwrap().success());
    let arguments = ["compare", "sh train.sh {x} {seed}", "--compare", "x=1,2", "--seeds", "1"];
    let mut command =
        sandbox.command(&[&arguments[..], &["--metric", "error", "--plain"]].concat());
    let outcome = command.env("LD_PRELOAD", sandbox.path("slow.so")).output().unwrap();
    Outcome(outcome).success();
    assert_eq!(tables(&sandbox), ["epoch,error\n1,0.9\n2,0.1\n"; 2]);
}

/// Returns a script that leaves a process behind with these outputs, in its own session.
#[cfg(target_os = "linux")]
fn leaving(outputs: &str) -> String {
    format!(
        r#"setsid sh -c "echo \$\$ > left-$1-$2; exec sleep 300" < /dev/null {outputs} &
while [ ! -s left-$1-$2 ]; do sleep 0.02; done
echo '{{"error": 0.5}}'"#
    )
}

/// Kills the processes that were left behind, and returns how many were alive.
#[cfg(target_os = "linux")]
fn end_left(sandbox: &Sandbox) -> usize {
    let entries = fs::read_dir(sandbox.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let left = entries.filter(|path| path.to_string_lossy().contains("/left-"));
    let left: Vec<String> =
        left.map(|path| fs::read_to_string(path).unwrap().trim().to_owned()).collect();
    let alive = left.iter().filter(|process| goes_on(process));
    alive.filter(|process| Command::new("kill").arg(process).status().unwrap().success()).count()
}

#[test]
#[cfg(target_os = "linux")]
fn a_comparison_does_not_wait_for_what_its_programs_leave_behind() {
    // A daemon closes its outputs, but not unknown file descriptors.
    let began = Instant::now();
    let (sandbox, outcome) = compared(&leaving("> /dev/null 2>&1"), &[]);
    assert_eq!(end_left(&sandbox), 2, "they outlive the comparison");
    outcome.success();
    assert!(began.elapsed() < Duration::from_secs(150));
}

/// Each run leaves a process that keeps both outputs of the run open.
#[test]
#[cfg(target_os = "linux")]
fn outputs_that_are_kept_open_cost_no_descriptors() {
    let sandbox = scripted(&leaving(""));
    let program = env!("CARGO_BIN_EXE_gelu-compare");
    let compare = format!(
        "ulimit -n 32; exec {program} compare 'sh train.sh {{x}} {{seed}}' --compare x=1,2 --seeds 7 \
         --metric error --plain"
    );
    let mut shell = Command::new("sh");
    let outcome = shell.args(["-c", &compare]).current_dir(sandbox.folder.path()).output().unwrap();
    assert_eq!(end_left(&sandbox), 14);
    Outcome(outcome).success();
    assert_eq!(tables(&sandbox).len(), 14);
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_that_is_killed_is_replaced_at_once() {
    let script = r#"echo $$ >> starts
[ $(wc -l < starts) -gt 1 ] || exec sleep 300
echo '{"error": 0.5}'"#;
    let sandbox = scripted(script);
    let arguments = ["compare", "sh train.sh {x} {seed}", "--compare", "x=1,2", "--seeds", "1"];
    let mut compare =
        sandbox.command(&[&arguments[..], &["--metric", "error", "--plain"]].concat());
    let compare = compare.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let began = Instant::now();
    let compare = compare.spawn().unwrap();
    let starts = || fs::read_to_string(sandbox.path("starts")).unwrap_or_default();
    wait("the first program", || starts().contains('\n'));
    let first = starts().trim().to_owned();
    let stat = fs::read_to_string(format!("/proc/{first}/stat")).unwrap();
    let worker = stat[stat.rfind(')').unwrap()..].split_whitespace().nth(2).unwrap().to_owned();
    assert!(Command::new("kill").args(["-KILL", &worker]).status().unwrap().success());
    Outcome(compare.wait_with_output().unwrap()).success();
    assert!(began.elapsed() < Duration::from_secs(150), "nobody waited for the first program");
    assert!(!goes_on(&first));
    assert_eq!(starts().lines().count(), 3);
}

#[test]
fn the_lease_of_a_comparison_cannot_be_changed_in_silence() {
    let sandbox = scripted(PRINTS_ERRORS);
    let arguments = ["submit", "sh train.sh {seed} {worse}", "--compare", "worse=0,20"];
    let submit =
        |lease: &[&str]| sandbox.run(&[&arguments[..], &["--metric", "error"], lease].concat());
    submit(&["--lease", "100"]).success();
    submit(&["--lease", "100"]).success();
    submit(&[]).success();
    submit(&["--lease", "3"]).refused(2, "--lease is 3, and results/train was made with 100");
}

#[test]
fn two_workers_share_a_comparison_that_was_made_for_another_engine() {
    let sandbox = scripted(PRINTS_ERRORS);
    let command = "sh train.sh {seed} {worse}";
    let arguments = [command, "--compare", "worse=0,20", "--metric", "error"];
    let made = sandbox.run(&[&["submit"], &arguments[..]].concat()).success();
    assert!(made.contains("gelu-compare work results/train"), "{made}");
    let worker = || sandbox.command(&["work", "results/train"]).spawn().unwrap();
    let workers = [worker(), worker()];
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let report = sandbox.run(&["report", "results/train"]).success();
    assert!(report.contains("0 beats 20 by 0.0"), "{report}");
    let script = sandbox.run(&[&["submit"], &arguments[..], &["--slurm", "--dry-run"]].concat());
    assert!(script.success().contains("#SBATCH --array"));
}

/// Slurm ends a job this way: it sends a signal to all processes, the program as well as its worker.
#[test]
fn a_program_that_is_ended_with_its_worker_has_not_failed() {
    for (out, order) in [("program-first", "$$ $PPID"), ("worker-first", "$PPID $$")] {
        let sandbox = scripted(&format!(
            "echo '{{\"epoch\": 1, \"loss\": '$1'}}'
            if ! [ -e $GELU_RUN/again ]; then touch $GELU_RUN/again; sh -c \"kill -TERM {order}\"; sleep 9; fi
            echo '{{\"epoch\": 2, \"loss\": 0}}'"
        ));
        let submit = ["submit", "sh train.sh {lr}", "--compare", "lr=1,2", "--metric", "loss"];
        sandbox.run(&[&submit[..], &["--seeds", "1", "--out", out]].concat()).success();
        for _ in 0..2 {
            sandbox.run(&["work", out]).refused(130, "interrupted");
        }
        assert!(!sandbox.run(&["runs", out]).success().contains("failed"));
        sandbox.run(&["work", out]).success();
        for run in sandbox.runs(out) {
            let metrics = fs::read_to_string(run.join("metrics.csv")).unwrap();
            assert_eq!(metrics.lines().count(), 3, "{metrics}");
        }
    }
}
