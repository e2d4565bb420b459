//! Printed and typed values arrive unchanged, or the run fails with the reason.

use gelu_compare::testing::Outcome;
use gelu_compare::testing::Sandbox;
use std::fs;
use std::path::PathBuf;

/// Judges a script with six seeds. Its first argument is 3 for A and 2 for B.
fn judged(script: &str, more: &[&str]) -> (Sandbox, Outcome) {
    let sandbox = crate::scripted(script);
    let judge = ["judge", "sh train.sh 3 {seed}", "sh train.sh 2 {seed}", "--measure", "loss"];
    let outcome =
        sandbox.run(&[&judge[..], &["--plain", "--seeds", "6", "--out", "out"], more].concat());
    (sandbox, outcome)
}

#[track_caller]
fn ends(script: &str, more: &[&str], code: i32) -> String {
    let (_, outcome) = judged(script, more);
    assert_eq!(outcome.code(), code, "{}{}", outcome.stdout(), outcome.stderr());
    outcome.stdout() + &outcome.stderr()
}

#[test]
fn a_number_in_a_line_is_read_whole_or_not_at_all() {
    let diverges = "echo epoch 1 val 0.$1$2; [ $1 = 3 ] || echo epoch 2 val nan";
    ends(diverges, &["--read", "epoch {epoch} val {loss}"], 10);
    ends("echo val $1.$2e-05", &["--read", "val {loss}"], 0);
    ends("echo val -$(($1 * (10 + $2))).5", &["--read", "val {loss}"], 10);
    let half = ends(diverges, &["--read", "val (?<loss>[0-9.]+)"], 2);
    assert!(half.contains("cannot match 1e-05") && half.contains("write {loss} where"), "{half}");
    let comma = ends("echo val 0,$1$2", &["--read", "val {loss}"], 1);
    assert!(comma.contains("its line `val 0,31` cannot be read: loss would be `0`"), "{comma}");
    // The format of Keras.
    let lines = "echo Epoch 1/2; echo loss: 0.$1$2";
    ends(lines, &["--read", r"Epoch (?<epoch>\d+)/", "--read", r"loss: (?<loss>\S+)"], 0);
    let epoch = ends(lines, &["--read", "Epoch {epoch}/"], 2);
    assert!(epoch.contains("name an epoch and no measure"), "{epoch}");
}

#[test]
fn what_is_no_number_is_known_wherever_it_stands() {
    for nan in [
        r#""loss": NaN, "note": "loss is NaN""#,
        r#""loss":-nan"#,
        r#""loss": 1e400"#,
        r#""loss": "inf""#,
    ] {
        ends(&format!("echo '{{\"loss\": 0.'$1$2'}}'; [ $1 = 3 ] || echo '{{{nan}}}'"), &[], 10);
    }
    ends(r#"echo "{\"loss\": 0.$1$2, \"each\": [NaN, 1]}""#, &[], 0);
    let sandbox =
        crate::scripted(r#"printf '\357\273\277\033[1m{"val": {"loss": 0.%s}}\033[0m\n' $1$2"#);
    let judge = ["judge", "sh train.sh 3 {seed}", "sh train.sh 2 {seed}", "--measure", "val.loss"];
    let said = sandbox.run(&[&judge[..], &["--plain", "--seeds", "6"]].concat()).success();
    assert!(said.contains("beats"), "{said}");
}

#[test]
fn null_is_no_value_and_in_the_end_a_question() {
    let between = r#"echo '{"epoch": 1, "loss": null}'; echo "{\"epoch\": 2, \"loss\": 0.$1$2}""#;
    ends(between, &[], 0);
    let last = r#"echo "{\"epoch\": 1, \"loss\": 0.$1$2}"; echo '{"epoch": 2, "loss": null}'"#;
    let said = ends(last, &[], 1);
    assert!(
        said.contains(
            "its last report of loss is `null`, which is not a number: is it NaN, or was it"
        ),
        "{said}"
    );
}

#[test]
fn a_line_that_was_not_read_is_named_with_the_reason() {
    for (script, more, reason) in [
        (
            "echo '{\"loss\": 0,5}'",
            &[][..],
            "its line `{\"loss\": 0,5}` cannot be read: it is no JSON object",
        ),
        (
            "echo '{\"loss\": 0.5}' >&2",
            &[],
            "its line `{\"loss\": 0.5}`: it was printed to standard error, which is read with --stderr",
        ),
        ("echo 'INFO {\"loss\": 0.5}'", &[], "text stands before the JSON object"),
        (
            "echo '{\"val\": {\"loss\": 0.5}}'",
            &[],
            "it reported val.loss; name that with its object, val.loss",
        ),
        (
            "echo loss 0.5",
            &["--read", "val {loss}"],
            "its line `loss 0.5`: no --read pattern matches this line",
        ),
    ] {
        let said = ends(script, more, 1);
        assert!(said.contains(reason), "{script}: {said}");
    }
    ends("echo \"{\\\"loss\\\": 0.$1$2}\" >&2", &["--stderr"], 0);
}

#[test]
fn a_value_arrives_as_it_was_typed() {
    let script = r#"printf '%s\n' "$1" > "$GELU_RUN/got"; printf '%s' "$GELU_SETTING" > "$GELU_RUN/setting"
echo "{\"loss\": 0.$2}""#;
    let sandbox = crate::scripted(script);
    let typed = ["a", "\t", "12e45", "1e3", "+1e3", "1000", "two\nlines", "\\u0009"];
    let list = format!("v={}", typed.join(","));
    let compare = [
        "compare",
        "sh train.sh {v} {seed}",
        "--compare",
        &list,
        "--metric",
        "loss",
        "--seeds",
        "1",
    ];
    sandbox.run(&[&compare[..], &["--plain", "--out", "out"]].concat()).success();
    let kept = |name: &str| {
        let read =
            |run: &std::path::PathBuf| fs::read_to_string(run.join("kept").join(name)).unwrap();
        let mut all: Vec<String> = sandbox.runs("out").iter().map(read).collect();
        all.sort();
        all
    };
    let mut got = typed.map(|text| format!("{text}\n")).to_vec();
    got.sort();
    assert_eq!(kept("got"), got);
    let mut settings = [
        "\"a\"",
        "\"\\t\"",
        "12e45",
        "1e3",
        "\"+1e3\"",
        "1000",
        "\"two\\nlines\"",
        "\"\\\\u0009\"",
    ]
    .map(|value| format!("{{\"v\":{value}}}"))
    .to_vec();
    settings.sort();
    assert_eq!(kept("setting"), settings);
    // Displayed values are one line of text; values for other programs stay exact.
    let document = fs::read_to_string(sandbox.path("out/results.json")).unwrap();
    assert!(
        document.contains("\"v\": 12e45") && document.contains("\"v\": \"+1e3\""),
        "{document}"
    );
    let parsed: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(parsed["runs"][1]["v"], "\t");
    let table = fs::read_to_string(sandbox.path("out/runs.csv")).unwrap();
    assert!(table.contains(",\\u0009,") && table.contains(",two\\u000alines,"), "{table}");
    let lines = "sh -c '\necho \"{\\\"loss\\\": 0.2$0}\"' {seed}";
    let judge = [
        "judge",
        "sh -c 'echo \"{\\\"loss\\\": 0.3$0}\"' {seed}",
        lines,
        "--measure",
        "loss",
        "--plain",
    ];
    sandbox.run(&[&judge[..], &["--seeds", "6"]].concat()).success();
}

#[test]
fn a_folder_that_holds_numbers_goes_on_by_the_command_that_made_it() {
    let sandbox = crate::scripted("echo $1 >> got; echo \"{\\\"loss\\\": $1, \\\"other\\\": 1}\"");
    let compare = |values: &str, more: &[&str]| {
        let compare = [
            "compare",
            "sh train.sh {lr}",
            "--compare",
            values,
            "--metric",
            "loss",
            "--seeds",
            "1",
        ];
        sandbox.run(&[&compare[..], &["--plain", "--out", "out"], more].concat())
    };
    // Earlier versions stored 1e-3 and 1e-4 like this.
    compare("lr=0.001,0.0001", &[]).success();
    let runs = sandbox.runs("out");
    let text = fs::read_to_string(sandbox.path("out/comparison.toml")).unwrap();
    assert!(text.contains("[0.001, 0.0001]"), "{text}");
    compare("lr=1e-3,1e-4", &["--baseline", "1e-4"]).success();
    assert_eq!(sandbox.runs("out"), runs);
    compare("lr=1e-3,1e-4,1e-5", &[]).success();
    let got = fs::read_to_string(sandbox.path("got")).unwrap();
    assert_eq!(got, "0.001\n0.0001\n1e-5\n");
    // The names have the numbers before the digest, which also covers the shell.
    let name = |run: &PathBuf| run.file_name().unwrap().to_string_lossy().into_owned();
    let names: Vec<String> = runs.iter().map(name).collect();
    assert!(
        names[0].starts_with("lr0.0001-seed1-") && names[1].starts_with("lr0.001-seed1-"),
        "{names:?}"
    );
}

#[test]
fn a_measure_may_be_called_as_a_column_is() {
    let script = r#"echo "{\"seed\": $2, \"status\": 1, \"loss\": 0.$1$2}""#;
    let (sandbox, outcome) = judged(script, &[]);
    outcome.success();
    let verdict = ["verdict", "out/runs.csv", "--compare", "command", "--metric", "loss"];
    let said = sandbox.run(&verdict).success();
    assert!(said.contains("beats"), "{said}");
    let table = fs::read_to_string(sandbox.path("out/runs.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains(",metric_seed,metric_status,loss,"), "{table}");
}

#[test]
fn a_judge_says_what_it_says_whatever_becomes_of_an_export() {
    let script = r#"echo "{\"loss\": 0.$1$2}""#;
    // No server listens on this port.
    let said = ends(script, &["--export", "mlflow=http://127.0.0.1:9"], 0);
    assert!(said.contains("not exported to mlflow") && said.contains("beats"), "{said}");
    ends("echo '{\"loss\": 0.5}'", &["--export", "mlflow=http://127.0.0.1:9"], 12);
}

#[test]
fn the_best_epoch_is_chosen_by_another_measure_than_the_one_that_decides() {
    let script = r#"echo "{\"epoch\": 1, \"loss\": 0.$1$2, \"valid\": 1}"; echo '{"epoch": 2, "loss": 0, "valid": 2}'"#;
    ends(script, &["--best-epoch", "--select", "valid"], 0);
    for more in [&["--best-epoch"][..], &["--best-epoch", "--select", "loss"]] {
        let said = ends(script, more, 2);
        assert!(said.contains("would choose it by loss, which decides"), "{said}");
    }
}

#[test]
fn a_command_that_is_written_for_a_shell_is_pointed_out() {
    let sandbox = crate::scripted("echo \"{\\\"loss\\\": 0.$1}\"");
    let compare =
        ["compare", "sh train.sh {x} 2>&1", "--compare", "x=1,2", "--metric", "loss", "--dry-run"];
    let outcome = sandbox.run(&compare);
    assert!(
        outcome.stderr().contains("the program is given `2>&1` as it is"),
        "{}",
        outcome.stderr()
    );
}
