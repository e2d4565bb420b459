//! Programs that fail, diverge, or print values that are not numbers.

use super::ending::tables;
use super::judging::PRINTS_ERRORS;
use crate::scripted;
use gelu_compare::testing::{Outcome, Sandbox};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

/// Compares two settings with one seed, by a script.
pub(crate) fn compared(script: &str, more: &[&str]) -> (Sandbox, Outcome) {
    let sandbox = scripted(script);
    let arguments = ["compare", "sh train.sh {x} {seed}", "--compare", "x=1,2", "--seeds", "1"];
    let outcome = sandbox.run(&[&arguments[..], &["--metric", "error", "--plain"], more].concat());
    (sandbox, outcome)
}

#[test]
fn runs_that_fail_say_what_the_program_said_last() {
    let (_, died) = compared("echo one; echo 'no such data' >&2; exit 7", &[]);
    let said = died.refused(1, "it ended with exit code 7; its last output:");
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

/// The table is only a copy. If it cannot be written, the program continues, and its reports are not lost.
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

/// Starts a program whose script does not exist, with the given settings and seeds.
fn mistyped(more: &[&str]) -> Outcome {
    let sandbox = scripted(PRINTS_ERRORS);
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
    // A run that succeeds shows that others may succeed too.
    let sandbox = scripted(&format!("[ $2 = 20 ] && exit 3\n{PRINTS_ERRORS}"));
    let compare = ["compare", "sh train.sh {seed} {worse}", "--compare", "worse=0,20"];
    let some = sandbox.run(&[&compare[..], &["--metric", "error", "--json"]].concat());
    assert_eq!(self::states(&some).iter().filter(|state| *state == "finished").count(), 8);
}

#[test]
fn a_mistyped_measure_is_put_right_in_the_same_folder() {
    let sandbox = scripted(PRINTS_ERRORS);
    let judge = |measure: &str| {
        let commands = ["judge", "sh train.sh {seed} 20", "sh train.sh {seed} 0"];
        let more = ["--measure", measure, "--plain", "--out", "one"];
        sandbox.run(&[&commands[..], &more].concat())
    };
    let meant = "it never reported eror: it reported valid_loss, error; did you mean `error`?";
    judge("eror").refused(1, meant);
    let said = judge("error").success();
    // No results of a measure existed yet.
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
    // No run was repeated.
    assert_eq!(fs::read_to_string(sandbox.path("one/runs.csv")).unwrap(), before);
    let unreported = "not all of them reported accuracy: there are valid_loss, error; name another";
    let said = judge("accuracy").refused(1, unreported);
    assert!(said.contains("16 of its runs are complete") && !said.contains("delete"), "{said}");
}
