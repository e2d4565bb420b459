//! Tests of a comparison's folder from an attacker: every string that can be anything, and the folder's own name, is
//! full of sequences that a terminal or a web page would obey. All commands must show them as text.

use crate::support::{Sandbox, small};
use gelu_compare::runs::RunFolder;
use gelu_compare::testing::{
    EVIL, EVIL_NAME, Leaf, assert_text, leaves, read, spoiled, unfinished, write,
};
use gelu_experiments::runs::{Comparison, RunSpec};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Returns whether a file can still be read.
fn is_read(path: &Path) -> bool {
    let run = RunFolder::at(path.parent().unwrap());
    match path.file_name().unwrap().to_str().unwrap() {
        "comparison.toml" => Comparison::open(path.parent().unwrap()).is_ok(),
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
        let holder = unfinished(relu, elu);
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

    fn says(&self, arguments: &[&str]) -> [String; 2] {
        says(&self.sandbox, arguments)
    }
}

/// Returns the output of a command: standard output and standard error.
#[track_caller]
fn says(sandbox: &Sandbox, arguments: &[&str]) -> [String; 2] {
    let output = sandbox.command(arguments).stdin(Stdio::null()).output().unwrap();
    let what = format!("{arguments:?}");
    [assert_text(&what, &output.stdout), assert_text(&what, &output.stderr)]
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
fn a_recipe_from_somebody_else_is_refused_in_text() {
    let sandbox = Sandbox::new();
    let file = sandbox.path(&format!("{EVIL_NAME}.toml"));
    let whole: Value = toml::from_str(include_str!("../../recipes/digits.toml")).unwrap();
    for leaf in leaves(&whole) {
        write(&file, &spoiled(&whole, &leaf));
        let recipe = ["--recipe", file.to_str().unwrap(), "--out", "x"];
        let [_, said] = says(&sandbox, &[&["compare", "--dry-run"], &recipe[..]].concat());
        assert!(said.contains("evil"), "{leaf:?} is refused: {said}");
    }
}
