//! Tests of `gelu-compare compare` and `judge` with programs in other languages.

use crate::scripted;
use gelu_compare::testing::{Outcome, Sandbox};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// A script that prints an error. The error depends on the seed and on the second argument, in thousandths.
pub(crate) const PRINTS_ERRORS: &str = r#"echo "begins"
awk -v seed="$1" -v worse="$2" 'BEGIN { for (e = 1; e <= 2; e++)
    printf "{\"epoch\": %d, \"valid_loss\": %f, \"error\": %f}\n", e, 1 / e,
        0.2 / e + 0.001 * ((seed * 7) % 5) + 0.001 * worse + 0.0001 * ((seed * (worse + 3)) % 7) }'
"#;

fn judged(a: &str, b: &str, more: &[&str]) -> Outcome {
    let sandbox = scripted(PRINTS_ERRORS);
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
    let sandbox = scripted(PRINTS_ERRORS);
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
    let sandbox = scripted("exit 3");
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
    let sandbox = scripted(
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
    let document = crate::document(&sandbox, &arguments);
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
    // The same command has nothing left to do, and another comparison is not mixed into the folder.
    assert_eq!(crate::document(&sandbox, &arguments), document);
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
    let sandbox = scripted(
        r#"echo "$GELU_SETTING" >> "$GELU_RUN/settings"
echo "[epoch 1] val 2.5"
echo "[epoch 2] val 1.5 acc=0.$GELU_SEED"
echo '{"accuracy": 7}' >&2
"#,
    );
    let document = crate::document(
        &sandbox,
        &[
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
        ],
    );
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
    let sandbox = scripted(PRINTS_ERRORS);
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

/// Tests the book's C program.
#[test]
fn a_compiled_program_is_judged() {
    let sandbox = scripted("");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/programs/pi.c");
    // `cc` is available, because Rust links with it.
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

/// Runs a command, and panics if it takes longer than a minute.
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
    let sandbox = scripted(r#"echo "{\"score\": 0.$1$2$3$4}""#);
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
    // Added seeds are read from disk before any process plans them.
    compare(zeta_first, &[&compared[..], &["--seeds", "3"]].concat()).success();
    assert!(first.iter().all(|name| names(12).contains(name)));
    // The order of flags makes neither another comparison nor other names.
    compare(alpha_first, &[&compared[..], &["--seeds", "4"]].concat()).success();
    let all = names(16);
    assert!(all.iter().all(|name| name.contains("-zeta") && name.contains("-alpha3-")), "{all:?}");
    // Copies of a run in several folders count once.
    let (one, other) = (&all[0], all[0].replace("mu", "um"));
    let runs = sandbox.path("r/runs");
    let copied = Command::new("cp").arg("-r").arg(runs.join(one)).arg(runs.join(&other)).status();
    assert!(copied.unwrap().success());
    let said = sandbox.run(&["report", "r"]);
    let warning = format!("{other}: holds the same run as {one}, and is left out");
    assert!(said.stderr().contains(&warning), "{}", said.stderr());
    let document = crate::document(&sandbox, &["report", "r"]);
    assert_eq!(document["runs"].as_array().unwrap().len(), 16);
}

#[test]
fn a_verdict_is_waited_for_whatever_the_order_of_axes() {
    let sandbox = scripted(r#"echo "{\"score\": 0.$(( 100 + ($3 * 7919 * $1) % 97 ))}""#);
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
