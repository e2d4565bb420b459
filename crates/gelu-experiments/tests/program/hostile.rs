//! Tests of a comparison's folder from an attacker: every string that can be anything, and the folder's own name, is
//! full of sequences that a terminal or a web page would obey. All commands must show them as text.

use crate::support::{Sandbox, small};
use gelu_compare::runs::RunFolder;
use gelu_compare::testing::{EVIL, EVIL_NAME, Leaf, assert_text, leaves, read, spoiled, write};
use gelu_experiments::runs::{ComparisonFolder, RunSpec};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns whether a file can still be read.
fn is_read(path: &Path) -> bool {
    let run = RunFolder::at(path.parent().unwrap());
    match path.file_name().unwrap().to_str().unwrap() {
        "comparison.toml" => ComparisonFolder::open(path.parent().unwrap()).is_ok(),
        "run.toml" => run.spec::<RunSpec>().is_ok(),
        "status.json" => run.status().is_ok(),
        name if name.starts_with("provenance") => run.provenance().unwrap().len() == 1,
        _ => true,
    }
}

/// A comparison with a finished run, a failed run, and a run in progress on another host, and its files with strings.
struct Folder {
    sandbox: Sandbox,
    name: String,
    files: Vec<PathBuf>,
    finished: PathBuf,
}

impl Folder {
    fn trained() -> Self {
        let sandbox = Sandbox::new();
        let name = format!("made/{EVIL_NAME}");
        let made = small("gelu,relu,elu", "1", &["--dropout", "0", "--plain", "--out", &name]);
        sandbox.run(&made).success();
        let runs = sandbox.runs(&name);
        let [elu, gelu, relu] = &runs[..] else { panic!("{runs:?}") };
        let failed = r#"{"state":"failed","reason":"the disk is full","seconds":1.5}"#;
        fs::write(relu.join("status.json"), failed).unwrap();
        fs::write(elu.join("status.json"), r#"{"state":"running","seconds":1.5}"#).unwrap();
        let progress = r#"{"epoch":1,"phase":"train","done":1,"total":2,"batch_loss":0.5}"#;
        fs::write(elu.join("progress.json"), progress).unwrap();
        fs::rename(elu.join("free-0001"), elu.join("lease-0002")).unwrap();
        let holder = elu.join("lease-0002/holder.json");
        let elsewhere = r#"{"host":"elsewhere","identity":"other","process":1,"beat":1}"#;
        fs::write(&holder, elsewhere).unwrap();
        let of_run = |run: &PathBuf| {
            ["run.toml", "status.json", "provenance-0001.json"].map(|file| run.join(file))
        };
        let mut files = vec![sandbox.path(&name).join("comparison.toml"), holder];
        files.extend(runs.iter().flat_map(of_run));
        let finished = gelu.clone();
        Self { sandbox, name, files, finished }
    }

    /// Makes every string evil that can be anything without breaking the comparison; returns the others.
    fn spoil(&self) -> Vec<(PathBuf, Leaf)> {
        let mut refused = Vec::new();
        for file in &self.files {
            let whole = read(file);
            let mut evil = whole.clone();
            for leaf in leaves(&whole) {
                write(file, &spoiled(&whole, &leaf));
                // Data are found by location and name, and a run belongs to the experiment of its name.
                let keep = ["location", "experiment", "set"]
                    .iter()
                    .any(|key| leaf.iter().any(|l| l == key));
                match is_read(file) && !keep {
                    true => evil = spoiled(&evil, &leaf),
                    false => refused.push((file.clone(), leaf)),
                }
            }
            write(file, &evil);
            assert!(is_read(file), "{}", file.display());
        }
        refused
    }

    /// Returns the output of a command: standard output and standard error.
    #[track_caller]
    fn says(&self, arguments: &[&str]) -> [String; 2] {
        let mut child = self
            .sandbox
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // `watch` does not end by itself.
        let deadline = Instant::now() + Duration::from_secs(3);
        while arguments[0] == "watch" && child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                Command::new("kill").arg(child.id().to_string()).status().unwrap();
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().unwrap();
        let what = format!("{arguments:?}");
        [assert_text(&what, &output.stdout), assert_text(&what, &output.stderr)]
    }
}

#[test]
fn whatever_is_shown_is_text() {
    let folder = Folder::trained();
    let refused = folder.spoil();
    let (here, run) = (folder.name.as_str(), folder.finished.to_str().unwrap());

    let [table, warnings] = folder.says(&["report", here]);
    // The table shows these strings instead of hiding them: the device, the activations, the reason of a failed run.
    for shown in ["device: flex\\u001b]0;evil\\u0007", "gelu\\u001b", "the disk is full\\u001b"] {
        assert!(table.replace("\n  ", " ").contains(shown), "{shown}: {table}{warnings}");
    }
    let [list, _] = folder.says(&["runs", here]);
    assert!(list.contains("failed: the disk is full\\u001b"), "{list}");
    assert_eq!(list.lines().filter(|line| line.starts_with("gelu: ")).count(), 0, "{list}");
    let scores = format!("{here}/runs.csv");
    for arguments in [
        &["runs", "made"][..],
        &["report", here, "--json", "--out", &format!("{EVIL_NAME}2"), "--export", "tensorboard"],
        &["report", here, "--export", "mlflow=http://127.0.0.1:9"],
        &["watch", here, "--plain"],
        &["watch", here, "--picture", "picture.svg"],
        &["eval", here],
        &["eval", here, "--json", "--noise", "0.5"],
        &["eval", run],
        &["train", "--epochs", "1", "--out", here],
        &["compare", "--out", here, "--plain"],
        &["compare", "--out", here, "--json"],
        &["compare", "--out", here, "--dry-run"],
        &["submit", "--out", here],
        &["submit", "--out", here, "--slurm", "--dry-run"],
        &["work", here],
        &["work", here, "--device", "flex"],
        &["verdict", &scores, "--compare", "activation", "--metric", "test_error"],
        &["verdict", &scores, "--compare", EVIL, "--metric", EVIL],
    ] {
        folder.says(arguments);
    }
    for entry in fs::read_dir(folder.sandbox.path(here)).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if !["html", "svg", "md", "json", "csv"].contains(&kind) {
            continue;
        }
        let text = assert_text(&path.display().to_string(), &fs::read(&path).unwrap());
        let escaped = !text.contains("<i>") || ["json", "csv"].contains(&kind);
        assert!(escaped, "{} has a mark of HTML in it", path.display());
    }
    assert_text("picture.svg", &fs::read(folder.sandbox.path("picture.svg")).unwrap());

    // Evil values of the other strings are errors, and the messages are text.
    assert!(refused.len() > 20, "{refused:?}");
    for (file, leaf) in refused {
        let whole = read(&file);
        write(&file, &spoiled(&whole, &leaf));
        for command in ["report", "runs"] {
            folder.says(&[command, here]);
        }
        write(&file, &whole);
    }
}

#[test]
fn the_dashboard_draws_text_alone() {
    let folder = Folder::trained();
    folder.spoil();
    let size = PtySize { rows: 40, cols: 160, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(crate::support::PROGRAM);
    command.args(["watch", &folder.name]);
    command.cwd(folder.sandbox.path(""));
    command.env("TERM", "xterm-256color");
    let mut process = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut output = pair.master.try_clone_reader().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // When a terminal closes, reading it is an error.
        let _ = output.read_to_end(&mut bytes);
        bytes
    });
    let mut keyboard = pair.master.take_writer().unwrap();
    for key in ["v", "v", "p", "r", "d", "h", " ", "q"] {
        std::thread::sleep(Duration::from_millis(300));
        keyboard.write_all(key.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }
    assert!(process.wait().unwrap().success());
    drop(keyboard);
    drop(pair.master);
    let bytes = reader.join().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("\\u001b]0;evil"), "the device is in the title: {text:?}");
    for evil in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{7f}", "\u{202e}", "\u{2066}"] {
        assert!(!text.contains(evil), "{evil:?} in {text:?}");
    }
}

#[test]
fn a_recipe_from_somebody_else_is_refused_in_text() {
    let folder = Folder::trained();
    let file = folder.sandbox.path(&format!("{EVIL_NAME}.toml"));
    let whole: Value = toml::from_str(include_str!("../../recipes/digits.toml")).unwrap();
    for leaf in leaves(&whole) {
        write(&file, &spoiled(&whole, &leaf));
        let [_, said] = folder.says(&[
            "compare",
            "--dry-run",
            "--recipe",
            file.to_str().unwrap(),
            "--out",
            "x",
        ]);
        assert!(said.contains("evil"), "{leaf:?} is refused: {said}");
    }
}

/// Each impossible number in a run's files gives a warning about the run, and nothing panics.
#[test]
fn numbers_that_nothing_measures_are_warnings() {
    let sandbox = Sandbox::new();
    let made = ["--dropout", "0", "--plain", "--out", "made"];
    let mut made = small("gelu,relu", "1", &made);
    made[2] = "2";
    sandbox.run(&made).success();
    let run = sandbox.runs("made")[0].clone();
    let metrics = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let (header, record) = metrics.trim_end().split_once('\n').unwrap();
    let measures: Vec<&str> = record.split(',').collect();
    let with = |value: &str| format!("{header}\n{},{value}\n", measures[..8].join(","));
    let seconds = |value: &str| format!(r#"{{"state":"finished","seconds":{value}}}"#);
    for (file, content) in [
        ("metrics.csv", with("NaN")),
        ("metrics.csv", with("-inf")),
        ("metrics.csv", with("-1")),
        ("metrics.csv", format!("{metrics}{record}\n")),
        ("status.json", seconds("-1.0")),
        ("status.json", seconds("1e300")),
    ] {
        let path = run.join(file);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &content).unwrap();
        for command in [["report", "made"], ["runs", "made"]] {
            let outcome = sandbox.run(&command);
            let said = outcome.stdout() + &outcome.stderr();
            let warned = said.contains(&format!("{file}: ")) && !said.contains("panicked");
            assert!(outcome.code() == 0 && warned, "{command:?}, {content}: {said}");
        }
        fs::write(&path, whole).unwrap();
    }
}

/// The name of a run's folder is also a path. A folder with an impossible name is left out with a message.
#[test]
fn folders_of_runs_with_evil_names_are_left_out() {
    let folder = Folder::trained();
    let parent = folder.finished.parent().unwrap();
    fs::rename(&folder.finished, parent.join(EVIL_NAME)).unwrap();
    let [list, _] = folder.says(&["runs", &folder.name]);
    assert!(list.contains("is no run's folder by its name"), "{list}");
    folder.says(&["report", &folder.name]);
}
