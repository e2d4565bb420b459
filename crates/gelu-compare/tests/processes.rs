//! `gelu-compare compare` and `judge`: programs of any language, as their users start them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "support/outcome.rs"]
mod outcome;

#[path = "support/sandbox.rs"]
mod sandbox;

use outcome::Outcome;
#[cfg(target_os = "linux")]
use sandbox::kill;
use sandbox::{Sandbox, wait};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

impl Sandbox {
    /// With a script `train.sh` in it.
    fn new(script: &str) -> Self {
        let sandbox = Self::of(Path::new(env!("CARGO_BIN_EXE_gelu-compare")));
        fs::write(sandbox.path("train.sh"), script).unwrap();
        sandbox
    }

    /// The document of a comparison that has to succeed.
    fn document(&self, arguments: &[&str]) -> Value {
        let text = self.run(&[arguments, &["--json"]].concat()).success();
        serde_json::from_str(&text).unwrap()
    }
}

/// Prints an error that depends on the seed, and on what is its second argument in thousandths.
const PRINTS_ERRORS: &str = r#"echo "begins"
awk -v seed="$1" -v worse="$2" 'BEGIN { for (e = 1; e <= 2; e++)
    printf "{\"epoch\": %d, \"valid_loss\": %f, \"error\": %f}\n", e, 1 / e,
        0.2 / e + 0.001 * ((seed * 7) % 5) + 0.001 * worse + 0.0001 * ((seed * (worse + 3)) % 7) }'
"#;

fn judged(a: &str, b: &str, more: &[&str]) -> Outcome {
    let sandbox = Sandbox::new(PRINTS_ERRORS);
    let command = |worse: &str| format!("sh train.sh {{seed}} {worse}");
    let (a, b) = (command(a), command(b));
    sandbox.run(&[&["judge", &a, &b, "--measure", "error", "--plain"], more].concat())
}

#[test]
fn a_judge_ends_with_a_sentence_and_a_code_that_scripts_act_on() {
    let last = |outcome: &Outcome| outcome.stdout().lines().last().unwrap_or_default().to_owned();
    let better = judged("20", "0", &[]);
    assert_eq!(better.code(), 0, "{}{}", better.stdout(), better.stderr());
    let said = last(&better);
    assert!(said.starts_with("sh train.sh {seed} 0 beats sh train.sh {seed} 20 by 0.0"), "{said}");
    assert_eq!(judged("0", "20", &[]).code(), 10);
    let same = judged("0", "1", &["--negligible", "0.5"]);
    assert_eq!(same.code(), 11, "{}", same.stdout());
    let undecided = judged("20", "0", &["--seeds", "3"]);
    assert_eq!(undecided.code(), 12);
    assert!(last(&undecided).contains("cannot be told apart yet"), "{}", last(&undecided));
    assert_eq!(judged("20", "0", &["--until-decided"]).code(), 0);
}

#[test]
fn a_program_that_does_not_use_its_seed_is_told_of() {
    let sandbox = Sandbox::new(PRINTS_ERRORS);
    let judge = |a: &str, b: &str, seeds: &str| {
        let measure = ["--measure", "error", "--plain", "--seeds", seeds];
        sandbox.run(&[&["judge", a, b][..], &measure].concat()).stdout()
    };
    let said = judge("sh train.sh 1 20", "sh train.sh 1 0", "8");
    assert!(
        said.ends_with("If a program ignores its seed, its runs are copies of one run.\n"),
        "{said}"
    );
    let said = judge("sh train.sh {seed} 3", "sh train.sh {seed} 3 unused", "3");
    assert!(
        said.contains("at all 3 seeds. Check that the program uses what is compared."),
        "{said}"
    );
}

#[test]
fn what_cannot_be_judged_is_refused_or_has_failed() {
    judged("1", "1", &[]).refused(2, "both commands are the same");
    let sandbox = Sandbox::new("exit 3");
    let judge = |a: &str, b: &str, more: &[&str]| {
        sandbox.run(&[&["judge", a, b, "--plain", "--seeds", "1"], more].concat())
    };
    judge("sh a", "sh b", &[]).refused(2, "which metric decides?");
    judge("sh {x}", "sh b", &["--measure", "e"]).refused(2, "the command has {x}, and no axis");
    judge("sh 'a", "sh b", &["--measure", "e"]).refused(2, "a quote that is not closed");
    judge("./none-such", "sh b", &["--measure", "e"]).refused(1, "cannot start `./none-such`");
    let failed = judge("sh train.sh", "sh train.sh x", &["--measure", "e"]);
    failed.refused(1, "it ended with exit code 3");
}

#[test]
fn settings_are_compared_tuned_and_judged_at_each_of_some_values() {
    let sandbox = Sandbox::new(
        r#"case "$2" in relu) worse=$((9 + $1 % 2));; *) worse=0;; esac
loss=$(awk -v lr="$3" 'BEGIN { print ((lr > 0.05) ? 2 : 1) }')
echo "{\"valid_loss\": $loss, \"accuracy\": 0.$((700 + $1 % 3 + $4 - worse))}"
"#,
    );
    let command = "sh train.sh {seed} {activation} {lr} {width}";
    let arguments = [
        "compare",
        command,
        "--compare",
        "activation=gelu,relu",
        "--tune",
        "lr=1e-1,1e-2",
        "--each",
        "width=16,32",
        "--select",
        "valid_loss",
        "--metric",
        "accuracy",
        "--higher",
        "accuracy",
        "--jobs",
        "2",
    ];
    let document = sandbox.document(&arguments);
    assert_eq!(document["runs"].as_array().unwrap().len(), 2 * 2 * 2 * 8);
    let arms = document["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 4);
    for arm in arms {
        assert_eq!((&arm["best_lr"], &arm["finished"]), (&0.01.into(), &8.into()), "{arm}");
    }
    let differences = document["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 2);
    for difference in differences {
        assert_eq!(
            (&difference["activation"], &difference["verdict"]),
            (&"relu".into(), &"worse".into())
        );
        assert!(difference["sentence"].as_str().unwrap().starts_with("gelu beats relu by 0.009"));
    }
    assert_eq!(differences[1]["width"], 32.0);
    // The same command has nothing left to do, and another comparison is not mixed into it.
    assert_eq!(sandbox.document(&arguments), document);
    let changed =
        ["compare", "sh train.sh {seed} {activation}", "--compare", "activation=gelu,relu"];
    sandbox
        .run(&[&changed[..], &["--metric", "accuracy"]].concat())
        .refused(1, "holds another comparison");
    let listed = sandbox.run(&["runs", "results/train"]).success();
    assert!(listed.contains("64 runs: 64 finished"), "{listed}");
    let report = sandbox.run(&["report", "results/train"]).success();
    assert!(report.contains("Values of lr are chosen by valid_loss among 2."), "{report}");
    let page = fs::read_to_string(sandbox.path("results/train/report.html")).unwrap();
    assert!(page.contains("Values of lr") && !page.contains("activations"), "the page is general");
}

#[test]
fn measures_are_read_by_patterns_and_settings_from_the_environment() {
    let sandbox = Sandbox::new(
        r#"echo "$GELU_SETTING" >> "$GELU_RUN/settings"
echo "[epoch 1] val 2.5"
echo "[epoch 2] val 1.5 acc=0.$GELU_SEED"
echo '{"accuracy": 7}' >&2
"#,
    );
    let document = sandbox.document(&[
        "compare",
        "sh train.sh",
        "--environment",
        "--compare",
        "width=16,32",
        "--compare",
        "name=a b,true",
        "--read",
        "epoch {epoch}] val {valid_loss}",
        "--read",
        "acc={accuracy}",
        "--metric",
        "accuracy",
        "--higher",
        "accuracy",
        "--seeds",
        "1",
    ]);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4, "the arms are the combinations");
    let epochs = &runs[0]["epochs"];
    assert_eq!(epochs[0]["valid_loss"], 2.5);
    assert_eq!((&epochs[1]["valid_loss"], &epochs[1]["accuracy"]), (&1.5.into(), &0.1.into()));
    assert_eq!(document["criterion"]["baseline"], "width 16, name a b");
    let mut settings: Vec<String> = sandbox
        .runs("results/train")
        .iter()
        .map(|run| fs::read_to_string(run.join("kept/settings")).unwrap())
        .collect();
    settings.sort();
    let first: Value = serde_json::from_str(&settings[0]).unwrap();
    assert_eq!((&first["width"], &first["name"]), (&16.into(), &"a b".into()), "{settings:?}");
    assert!(settings[0].contains("\"width\":16") && settings[3].contains("\"name\":true"));
}

#[test]
fn wrong_usage_is_told_to_the_person_who_can_put_it_right() {
    let sandbox = Sandbox::new(PRINTS_ERRORS);
    let refused = |more: &[&str], text: &str| {
        let arguments = [&["compare", "sh train.sh {seed} {worse}"], more].concat();
        sandbox.run(&arguments).refused(2, text);
    };
    refused(&["--metric", "error"], "nothing is compared; name an axis");
    let unknown = ["--metric", "error", "--compare", "lr=1,2"];
    refused(&unknown, "the command has {worse}, and no axis of that name; there are: lr, seed");
    let axes = ["--compare", "worse=1,2", "--metric", "error"];
    refused(&[&axes[..], &["--compare", "lr=1,2"]].concat(), "does not use the axis lr");
    refused(&["--compare", "worse=1,2"], "which metric decides?");
    refused(&["--compare", "worse=1", "--metric", "error"], "nothing to compare it with");
    refused(&["--each", "worse=1,2", "--metric", "error"], "nothing is compared");
    refused(&["--compare", "worse"], "written as in lr=1e-3,1e-4");
    refused(&[&axes[..], &["--baseline", "7"]].concat(), "worse is one of 1, 2");
    refused(&[&axes[..], &["--read", "(?<x>"]].concat(), "cannot be read");
    refused(&[&axes[..], &["--read", "x"]].concat(), "names no metric");
    let tuned = ["--compare", "seed2=1,2", "--tune", "worse=1,2", "--metric", "error"];
    let arguments = [&["compare", "sh train.sh {seed2} {worse}"], &tuned[..]].concat();
    sandbox.run(&arguments).refused(2, "would be judged by what it was chosen for");
    assert!(!sandbox.path("results").exists(), "what is refused leaves nothing");
}

/// A comparison of two settings with one seed, by a script.
fn compared(script: &str, more: &[&str]) -> (Sandbox, Outcome) {
    let sandbox = Sandbox::new(script);
    let arguments = ["compare", "sh train.sh {x} {seed}", "--compare", "x=1,2", "--seeds", "1"];
    let outcome = sandbox.run(&[&arguments[..], &["--metric", "error", "--plain"], more].concat());
    (sandbox, outcome)
}

#[test]
fn runs_that_fail_say_what_the_program_said_last() {
    let (_, died) = compared("echo one; echo 'no such data' >&2; exit 7", &[]);
    let said = died.refused(1, "it ended with exit code 7; it said last:");
    assert!(said.contains("no such data"), "{said}");
    let (_, killed) = compared("kill -9 $$", &[]);
    killed.refused(1, "it ended with signal 9");
    let (_, silent) = compared("echo '{\"loss\": 1}'; echo '{\"accuracy\": 1}'", &[]);
    silent.refused(1, "it never reported error: it reported loss, accuracy");
    let (_, nothing) = compared("true", &[]);
    nothing.refused(1, "it reported no metric at all; print a line such as {\"error\": 0.5}");
    let began = Instant::now();
    let (_, late) = compared("sleep 60 & sleep 60", &["--timeout", "1"]);
    late.refused(1, "it was not done after 1 s (--timeout)");
    assert!(began.elapsed() < Duration::from_secs(20), "the program and its children are ended");
}

#[test]
fn a_failed_run_is_tried_again_where_that_is_asked_for() {
    let script = "echo x >> tries; [ $(wc -l < tries) -gt 1 ] || exit 1; echo '{\"error\": 1}'";
    let (sandbox, first) = compared(script, &[]);
    first.refused(1, "exit code 1");
    let command = "sh train.sh {x} {seed}";
    let again = ["compare", command, "--compare", "x=1,2", "--seeds", "1", "--metric", "error"];
    let tries = || fs::read_to_string(sandbox.path("tries")).unwrap().lines().count();
    let said = sandbox.run(&[&again[..], &["--plain"]].concat()).refused(1, "exit code 1");
    assert!(said.contains("--retry-failed tries failed runs again"), "{said}");
    assert_eq!(tries(), 2);
    sandbox.run(&[&again[..], &["--plain", "--retry-failed"]].concat()).success();
    assert_eq!(tries(), 3);
}

#[test]
fn what_is_no_number_is_a_run_that_diverged() {
    let script = r#"echo '{"epoch": 1, "error": 0.5}'
[ $1 = 1 ] || echo '{"epoch": 2, "error": NaN}'
sleep $(($1 * 30 - 30))"#;
    let began = Instant::now();
    let (sandbox, outcome) = compared(script, &[]);
    outcome.success();
    assert!(began.elapsed() < Duration::from_secs(20), "it is not waited for");
    let text = fs::read_to_string(sandbox.path("results/train/results.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let run = &document["runs"][1];
    assert_eq!((&run["status"], &run["diverged_in_epoch"]), (&"diverged".into(), &2.into()));
    assert_eq!(run["epochs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_program_may_print_whatever_it_likes() {
    let script = r#"seq 1000000
head -c 5000000 /dev/zero | tr '\0' 'x'
printf '\n\033[31m{"error": 2}\n{"error": 0.25}'"#;
    let (sandbox, outcome) = compared(script, &[]);
    outcome.success();
    let table = fs::read_to_string(sandbox.path("results/train/table.md")).unwrap();
    assert!(table.contains("0.2500 (1)"), "{table}");
}

#[test]
fn a_measure_that_is_no_number_from_the_first_line_on_ends_a_run() {
    let script = r#"echo '{"error": NaN}'
sleep 60"#;
    let began = Instant::now();
    let (sandbox, outcome) = compared(script, &[]);
    outcome.success();
    assert!(began.elapsed() < Duration::from_secs(30), "it is not waited for");
    for run in sandbox.runs("results/train") {
        let status = fs::read_to_string(run.join("status.json")).unwrap();
        let status: Value = serde_json::from_str(&status).unwrap();
        assert_eq!((&status["state"], &status["epoch"]), (&"diverged".into(), &1.into()));
    }
}

#[test]
fn a_judge_that_is_interrupted_says_so_by_its_code_and_goes_on() {
    let script = r#"touch began
while [ ! -e go ]; do sleep 0.02; done
echo "{\"error\": 0.$1$2}""#;
    let sandbox = Sandbox::new(script);
    let arguments =
        ["judge", "sh train.sh 2 {seed}", "sh train.sh 1 {seed}", "--measure", "error", "--plain"];
    let mut judge = sandbox.command(&arguments);
    let judge = judge.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let judge = judge.spawn().unwrap();
    wait("the first run", || sandbox.path("began").exists());
    let interrupt = Command::new("kill").args(["-INT", &judge.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    // The run under way ends as it would.
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

#[test]
fn ten_times_the_epochs_take_about_ten_times_as_long() {
    let seconds = |epochs: &str| {
        let script = format!("seq -f '{{\"epoch\": %.0f, \"error\": 0.5}}' 1 {epochs}");
        let began = Instant::now();
        // So that it fails, and does not go on for hours.
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

/// Whether a process goes on; nobody may have asked yet how one ended.
#[cfg(target_os = "linux")]
fn goes_on(process: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat"));
    text.is_ok_and(|text| !text.contains(") Z "))
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_whose_worker_was_killed_is_ended_before_its_run_begins_anew() {
    // What it has saved after the first epoch it goes on from. What it starts itself outlives its worker.
    let script = r#"cd "$GELU_RUN"
[ -e saved ] || echo '{"epoch": 1, "error": 0.7}'
touch saved
echo '{"epoch": 2, "error": 0.5}'
while [ $1 = 1 ] && [ ! -e ../../../../../go ]; do sleep 0.05; done & echo $$ $! >> sessions
wait"#;
    let sandbox = Sandbox::new(script);
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
    // Of the same run; the other one may be taken first.
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

/// The tables of a comparison's runs, in order.
fn tables(sandbox: &Sandbox) -> Vec<String> {
    let runs = sandbox.runs("results/train").into_iter();
    runs.map(|run| fs::read_to_string(run.join("metrics.csv")).unwrap_or_default()).collect()
}

/// The clock of whoever reads a program's output has no say in what it told.
#[test]
#[cfg(target_os = "linux")]
fn a_slow_disk_loses_no_line() {
    let sandbox = Sandbox::new(
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

/// Leaves a process behind whose outputs are those, in a session of its own.
#[cfg(target_os = "linux")]
fn leaving(outputs: &str) -> String {
    format!(
        r#"setsid sh -c "echo \$\$ > left-$1-$2; exec sleep 300" < /dev/null {outputs} &
while [ ! -s left-$1-$2 ]; do sleep 0.02; done
echo '{{"error": 0.5}}'"#
    )
}

/// Ends what was left behind; how much of it there still was.
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
    // A daemon closes its outputs, and nothing else that it does not know.
    let began = Instant::now();
    let (sandbox, outcome) = compared(&leaving("> /dev/null 2>&1"), &[]);
    assert_eq!(end_left(&sandbox), 2, "they outlive the comparison");
    outcome.success();
    assert!(began.elapsed() < Duration::from_secs(150));
}

/// Of so many runs, each leaves a process that has both its outputs open.
#[test]
#[cfg(target_os = "linux")]
fn outputs_that_are_kept_open_cost_no_descriptors() {
    let sandbox = Sandbox::new(&leaving(""));
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
    let sandbox = Sandbox::new(script);
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

/// A table that cannot be written is a copy: the program goes on, and what it told is not lost.
#[test]
fn results_that_a_disk_does_not_take_are_written_by_the_next_command() {
    let script = r#"echo x >> starts
until mkdir "$GELU_RUN/../metrics.csv"; do rm -f "$GELU_RUN/../metrics.csv"; done
for epoch in 1 2 3; do echo "{\"epoch\": $epoch, \"error\": 0.$epoch}"; sleep 0.2; done"#;
    let (sandbox, outcome) = compared(script, &[]);
    outcome.refused(1, "metrics.csv");
    for run in sandbox.runs("results/train") {
        fs::remove_dir(run.join("metrics.csv")).unwrap();
    }
    let command = "sh train.sh {x} {seed}";
    let again = ["compare", command, "--compare", "x=1,2", "--seeds", "1", "--metric", "error"];
    sandbox.run(&[&again[..], &["--plain", "--retry-failed"]].concat()).success();
    assert_eq!(tables(&sandbox), ["epoch,error\n1,0.1\n2,0.2\n3,0.3\n"; 2]);
    assert_eq!(fs::read_to_string(sandbox.path("starts")).unwrap().lines().count(), 2);
    for run in sandbox.runs("results/train") {
        let names = fs::read_dir(run).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names = names.map(|name| name.into_string().unwrap());
        assert!(!names.any(|name| name.starts_with("told") || name.starts_with("process")));
    }
}

#[test]
fn the_lease_of_a_comparison_cannot_be_changed_in_silence() {
    let sandbox = Sandbox::new(PRINTS_ERRORS);
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
    let sandbox = Sandbox::new(PRINTS_ERRORS);
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

/// The program in C that the book has.
#[test]
fn a_compiled_program_is_judged() {
    let sandbox = Sandbox::new("");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/programs/pi.c");
    // Rust links with it.
    let compiled = Command::new("cc")
        .args(["-O2", "-o", "pi", source, "-lm"])
        .current_dir(sandbox.folder.path())
        .status();
    assert!(compiled.unwrap().success());
    let judged = ["judge", "./pi anywhere {seed}", "./pi grid {seed}", "--measure", "error"];
    let text = sandbox.run(&[&judged[..], &["--plain"]].concat()).success();
    assert!(text.ends_with("./pi grid {seed} beats ./pi anywhere {seed} by 0.0124 of error (95% interval 0.0056 to 0.0191; 8 seeds; p = 0.0078).\n"), "{text}");
    assert!(!text.contains("goes on"), "{text}");
}

/// A program whose script is not there, with as many settings and seeds as it takes to be sorry.
fn mistyped(more: &[&str]) -> Outcome {
    let sandbox = Sandbox::new(PRINTS_ERRORS);
    let command = "sh nowhere/tarin.sh {seed} {worse}";
    let compare = ["compare", command, "--compare", "worse=0,20", "--metric", "error", "--json"];
    sandbox.run(&[&compare[..], more].concat())
}

fn states(outcome: &Outcome) -> Vec<String> {
    let document: Value = serde_json::from_str(&outcome.stdout()).unwrap();
    let runs = document["runs"].as_array().unwrap().iter();
    runs.map(|run| run["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn where_the_first_run_of_every_setting_fails_alike_no_other_is_started() {
    let ended = mistyped(&[]);
    let states = self::states(&ended);
    assert_eq!(states.iter().filter(|state| *state == "failed").count(), 2, "{states:?}");
    assert_eq!(states.iter().filter(|state| *state == "waiting").count(), 14, "{states:?}");
    let said = ended.refused(1, "so no other was started; put it right and run the command again");
    assert!(said.contains("--keep-going") && said.contains("it ended with exit code"), "{said}");
    let all = self::states(&mistyped(&["--keep-going"]));
    assert!(all.iter().all(|state| state == "failed") && all.len() == 16, "{all:?}");
    // One that can be run at all shows that the others may be, too.
    let sandbox = Sandbox::new(&format!("[ $2 = 20 ] && exit 3\n{PRINTS_ERRORS}"));
    let compare = ["compare", "sh train.sh {seed} {worse}", "--compare", "worse=0,20"];
    let some = sandbox.run(&[&compare[..], &["--metric", "error", "--json"]].concat());
    assert_eq!(self::states(&some).iter().filter(|state| *state == "finished").count(), 8);
}

#[test]
fn a_mistyped_measure_is_put_right_in_the_same_folder() {
    let sandbox = Sandbox::new(PRINTS_ERRORS);
    let judge = |measure: &str| {
        let commands = ["judge", "sh train.sh {seed} 20", "sh train.sh {seed} 0"];
        let more = ["--measure", measure, "--plain", "--out", "one"];
        sandbox.run(&[&commands[..], &more].concat())
    };
    let meant = "it never reported eror: it reported valid_loss, error; did you mean `error`?";
    judge("eror").refused(1, meant);
    let said = judge("error").success();
    // Nobody has seen a result of a measure yet.
    assert!(!said.contains("unplanned"), "{said}");
    let before = fs::read_to_string(sandbox.path("one/runs.csv")).unwrap();
    let later = judge("valid_loss");
    // Both have the same losses, and `--negligible` is not given.
    assert_eq!(later.code(), 12, "{}{}", later.stdout(), later.stderr());
    let said = later.stdout().replace("\n  ", " ");
    assert!(said.contains("valid_loss was chosen in place of error once runs were"), "{said}");
    assert!(said.contains("unplanned choice, so verdicts err more often"), "{said}");
    let document = fs::read_to_string(sandbox.path("one/results.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["criterion"]["later_measures"][0]["instead_of"], "error");
    // No run was run again.
    assert_eq!(fs::read_to_string(sandbox.path("one/runs.csv")).unwrap(), before);
    let unreported = "not all of them reported accuracy: there are valid_loss, error; name another";
    let said = judge("accuracy").refused(1, unreported);
    assert!(said.contains("16 of its runs are complete") && !said.contains("delete"), "{said}");
}

/// As Slurm ends a job: whoever is in it is sent a signal, the program as well as its worker.
#[test]
fn a_program_that_is_ended_with_its_worker_has_not_failed() {
    for (out, order) in [("program-first", "$$ $PPID"), ("worker-first", "$PPID $$")] {
        let sandbox = Sandbox::new(&format!(
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

/// What a run of a process costs beside the process, in seconds on the clock: only where it is asked for.
#[test]
fn many_short_processes_cost_little_besides_themselves() {
    let Some(runs) = std::env::var("GELU_MANY_RUNS").ok() else {
        eprintln!("skipped: GELU_MANY_RUNS=1000 asks for it");
        return;
    };
    let runs: u32 = runs.parse().expect("GELU_MANY_RUNS is a number");
    let sandbox = Sandbox::new("echo '{\"loss\": '$1'}'");
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

/// Ends within a minute, or is ended.
fn ends(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    let mut command = sandbox.command(arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut process = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while process.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            process.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Outcome(process.wait_with_output().unwrap())
}

#[test]
fn axes_may_be_named_in_any_order() {
    let sandbox = Sandbox::new(r#"echo "{\"score\": 0.$1$2$3$4}""#);
    let command = "sh train.sh {mu} {zeta} {alpha} {seed}";
    let compare = |axes: [&str; 4], more: &[&str]| {
        let head = ["compare", command, "--metric", "score", "--plain", "--out", "r"];
        ends(&sandbox, &[&head, &axes[..], more].concat())
    };
    let (zeta_first, alpha_first) =
        (["--each", "zeta=1,2", "--each", "alpha=3"], ["--each", "alpha=3", "--each", "zeta=1,2"]);
    let compared = ["--compare", "mu=4,5"];
    compare(zeta_first, &[&compared[..], &["--seeds", "2"]].concat()).success();
    let names = |count: usize| {
        let names: Vec<String> = sandbox
            .runs("r")
            .iter()
            .map(|run| run.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names.len(), count, "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("mu")), "{names:?}");
        names
    };
    let first = names(8);
    // Seeds that are added are read from disk before they are planned by anybody.
    compare(zeta_first, &[&compared[..], &["--seeds", "3"]].concat()).success();
    assert!(first.iter().all(|name| names(12).contains(name)));
    // The order of flags makes no other comparison, and no other names.
    compare(alpha_first, &[&compared[..], &["--seeds", "4"]].concat()).success();
    let all = names(16);
    assert!(all.iter().all(|name| name.contains("-zeta") && name.contains("-alpha3-")), "{all:?}");
    // A run is one, however many folders hold it.
    let (one, other) = (&all[0], all[0].replace("mu", "um"));
    let runs = sandbox.path("r/runs");
    let copied = Command::new("cp").arg("-r").arg(runs.join(one)).arg(runs.join(&other)).status();
    assert!(copied.unwrap().success());
    let said = sandbox.run(&["report", "r"]);
    let warning = format!("{other}: holds the same run as {one}, and is left out");
    assert!(said.stderr().contains(&warning), "{}", said.stderr());
    let document = sandbox.document(&["report", "r"]);
    assert_eq!(document["runs"].as_array().unwrap().len(), 16);
}

#[test]
fn a_verdict_is_waited_for_whatever_the_order_of_axes() {
    let sandbox = Sandbox::new(r#"echo "{\"score\": 0.$(( 100 + ($3 * 7919 * $1) % 97 ))}""#);
    let arguments = [
        "compare",
        "sh train.sh {zeta} {alpha} {seed}",
        "--compare",
        "zeta=1,2",
        "--each",
        "alpha=3",
        "--metric",
        "score",
        "--plain",
        "--until-decided",
        "--max-seeds",
        "20",
        "--out",
        "r",
    ];
    ends(&sandbox, &arguments).success();
    let runs = sandbox.runs("r").len();
    assert!(runs > 2 * 8, "there is a second look: {runs} runs");
}
