//! Folders, programs and tables from untrusted sources. Everything that `gelu-compare` prints about them must be
//! plain text.

use gelu_compare::testing::Sandbox;
use gelu_compare::testing::{EVIL, EVIL_NAME, assert_text, leaves, read, spoiled, write};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns standard output and standard error of a command, after checking that both are plain text.
#[track_caller]
fn says(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.command(arguments).output().unwrap();
    let what = format!("{arguments:?}");
    assert_text(&what, &output.stdout) + &assert_text(&what, &output.stderr)
}

/// Checks all files of a report.
#[track_caller]
fn assert_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if ["html", "svg", "md", "json", "csv"].contains(&kind) {
            assert_text(&path.display().to_string(), &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn whatever_a_folder_holds_is_shown_as_text() {
    let sandbox = crate::program();
    let out = format!("made/{EVIL_NAME}");
    let made = ["compare", "printf '{\"loss\": %s}' {lr}", "--compare", "lr=1,2", "--out", &out];
    let made = [&made[..], &["--metric", "loss", "--seeds", "1", "--plain"]].concat();
    let said = says(&sandbox, &made);
    assert!(said.contains("lr 2 seed 1  finished"), "{said}");
    let files =
        |run: &PathBuf| ["run.toml", "status.json", "provenance-0001.json"].map(|f| run.join(f));
    let mut all: Vec<PathBuf> = sandbox.runs(&out).iter().flat_map(files).collect();
    all.push(sandbox.path(&out).join("comparison.toml"));
    let mut tried = 0;
    for file in all {
        let whole = read(&file);
        for leaf in leaves(&whole) {
            let described = leaf[0] == "description";
            let mut spoiled = spoiled(&whole, &leaf);
            if described {
                // Only other kinds of programs read the description.
                spoiled["description"]["tool"] = "other".into();
            }
            write(&file, &spoiled);
            let commands =
                [&["runs", &out][..], &["work", &out], &["runs", "made"], &["report", &out]];
            for command in &commands[..if described { 2 } else { 4 }] {
                says(&sandbox, command);
            }
            tried += 1;
        }
        write(&file, &whole);
    }
    assert!(tried >= 20, "{tried} strings");
    assert_files(&sandbox.path(&out));
}

#[test]
fn whatever_a_program_prints_is_shown_as_text() {
    let sandbox = crate::program();
    let escaped = serde_json::to_string(EVIL).unwrap();
    // The program prints an evil measure and evil output, and then fails, so that the report quotes its last lines.
    let script = format!(
        "cat <<'END'\n{{\"loss\": 1, {escaped}: 1}}\n{EVIL}\nEND\necho '{{\"loss\": '$1'}}'\nexit $2\n"
    );
    fs::write(sandbox.path("train.sh"), script).unwrap();
    for code in ["0", "3"] {
        let command = format!("sh train.sh {{lr}} {code}");
        let out = format!("out-{code}");
        let compare =
            ["compare", &command, "--compare", "lr=1,2", "--metric", "loss", "--out", &out];
        let said = says(&sandbox, &[&compare[..], &["--seeds", "1", "--plain"]].concat());
        let expected = if code == "0" { "finished" } else { "exit code 3" };
        assert!(said.contains(expected), "{said}");
        for command in [["report", &out], ["runs", &out]] {
            says(&sandbox, &command);
        }
        assert_files(&sandbox.path(&out));
    }
}

#[test]
fn whatever_a_table_holds_is_judged_in_text() {
    let sandbox = crate::program();
    let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let (arm, axis) = (field(EVIL), field(&format!("a{EVIL}")));
    let mut table = format!("{axis},seed,loss\n");
    for seed in 0..8 {
        table +=
            &format!("plain,{seed},{}\n{arm},{seed},{}\n", 1.0 + 0.01 * f64::from(seed), 2 + seed);
    }
    let name = format!("{EVIL_NAME}.csv");
    fs::write(sandbox.path(&name), &table).unwrap();
    let axis = format!("a{EVIL}");
    let judge = ["verdict", &name, "--compare", &axis, "--metric", "loss"];
    let said = says(&sandbox, &[&judge[..], &["--forest", "forest.svg"]].concat());
    assert!(said.contains("plain beats "), "{said}");
    assert_text("forest.svg", &fs::read(sandbox.path("forest.svg")).unwrap());
    says(&sandbox, &[&judge[..], &["--json"]].concat());
    // These are errors that quote names from the table.
    for wrong in [["--compare", "b"], ["--baseline", EVIL_NAME], ["--each", EVIL]] {
        says(&sandbox, &[&judge[..], &wrong].concat());
    }
    fs::write(sandbox.path(&name), table.replace("plain,3,", &format!("plain,{arm},"))).unwrap();
    let said = says(&sandbox, &judge);
    assert!(said.contains("line"), "{said}");
}
