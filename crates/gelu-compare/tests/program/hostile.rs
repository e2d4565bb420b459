//! Folders, programs and tables from untrusted sources. Everything that `gelu-compare` prints about them must be
//! plain text.

use super::processes::Process;
use super::terminal::Terminal;
use gelu_compare::program::{ProgramRecipe, ProgramSpec};
use gelu_compare::runs::{Comparison, RunFolder};
use gelu_compare::testing::{
    EVIL, EVIL_NAME, Leaf, assert_text, leaves, read, spoiled, unfinished, write,
};
use gelu_compare::testing::{Sandbox, wait};
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
        if !["html", "svg", "md", "json", "csv"].contains(&kind) {
            continue;
        }
        let text = assert_text(&path.display().to_string(), &fs::read(&path).unwrap());
        let is_escaped = !text.contains("<i>") || ["json", "csv"].contains(&kind);
        assert!(is_escaped, "{} has a mark of HTML in it", path.display());
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

/// Returns whether a file can still be read.
fn is_read(path: &Path) -> bool {
    let run = RunFolder::at(path.parent().unwrap());
    match path.file_name().unwrap().to_str().unwrap() {
        "comparison.toml" => {
            let folder = Comparison::<ProgramRecipe>::open(path.parent().unwrap());
            folder.is_ok_and(|folder| folder.plan().is_ok())
        }
        "run.toml" => run.spec::<ProgramSpec>().is_ok(),
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
    fn new() -> Self {
        let sandbox = crate::program();
        let name = format!("made/{EVIL_NAME}");
        let made = ["compare", "printf '{\"loss\": %s}' {lr}", "--compare", "lr=1,2,3"];
        let more = ["--metric", "loss", "--seeds", "1", "--plain", "--out", &name];
        sandbox.run(&[&made[..], &more].concat()).success();
        let runs = sandbox.runs(&name);
        let [finished, failed, running] = &runs[..] else { panic!("{runs:?}") };
        let holder = unfinished(failed, running);
        let of_run = |run: &PathBuf| {
            ["run.toml", "status.json", "provenance-0001.json"].map(|file| run.join(file))
        };
        let mut files = vec![sandbox.path(&name).join("comparison.toml"), holder];
        files.extend(runs.iter().flat_map(of_run));
        let finished = finished.clone();
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
                // A run belongs to the experiment of its name, and to the settings of its comparison.
                let keep = ["experiment", "name", "command", "setting"];
                let is_kept = leaf.iter().any(|key| keep.contains(&key.as_str()));
                match is_read(file) && !is_kept {
                    true => evil = spoiled(&evil, &leaf),
                    false => refused.push((file.clone(), leaf)),
                }
            }
            write(file, &evil);
            assert!(is_read(file), "{}", file.display());
        }
        refused
    }
}

/// All strings of a folder are evil at once, so that a comparison of them is shown.
#[test]
fn whatever_all_files_of_a_folder_hold_is_shown_as_text() {
    let folder = Folder::new();
    let refused = folder.spoil();
    let (sandbox, here) = (&folder.sandbox, folder.name.as_str());
    let table = says(sandbox, &["report", here]);
    // The table shows such a string instead of hiding it.
    assert!(table.replace("\n  ", " ").contains("the disk is full\\u001b"), "{table}");
    let list = says(sandbox, &["runs", here]);
    assert!(list.contains("failed: the disk is full\\u001b"), "{list}");
    assert_eq!(list.lines().filter(|line| line.starts_with("gelu: ")).count(), 0, "{list}");
    let scores = format!("{here}/runs.csv");
    let (out, run) = (format!("{EVIL_NAME}2"), folder.finished.to_str().unwrap());
    for arguments in [
        &["runs", "made"][..],
        &["report", here, "--json", "--out", &out, "--export", "tensorboard"],
        &["report", here, "--export", "mlflow=http://127.0.0.1:9"],
        &["watch", here, "--picture", "picture.svg"],
        &["log", run],
        &["compare", "true", "--compare", "lr=1,2", "--metric", "loss", "--out", here, "--plain"],
        &["compare", "true", "--compare", "lr=1,2", "--metric", "loss", "--out", here, "--json"],
        &["compare", "true", "--compare", "lr=1,2", "--metric", "loss", "--out", here, "--dry-run"],
        &["submit", "true", "--compare", "lr=1,2", "--metric", "loss", "--out", here],
        &["verdict", &scores, "--compare", "lr", "--metric", "loss"],
        &["verdict", &scores, "--compare", EVIL, "--metric", EVIL],
    ] {
        says(sandbox, arguments);
    }
    // These wait for the run of the other host.
    for arguments in [&["watch", here, "--plain"][..], &["work", here]] {
        let mut process = Process::start(&mut sandbox.command(arguments));
        let mut looks = 0;
        wait("what it says", || {
            looks += 1;
            process.is_over() || looks > 500
        });
        assert_text(&format!("{arguments:?}"), process.said().as_bytes());
    }
    assert_files(&sandbox.path(here));
    assert_files(&sandbox.path(&out));
    assert_text("picture.svg", &fs::read(sandbox.path("picture.svg")).unwrap());

    // Evil values of the other strings are errors, and the messages are text.
    assert!(refused.len() > 20, "{refused:?}");
    for (file, leaf) in refused {
        let whole = read(&file);
        write(&file, &spoiled(&whole, &leaf));
        for command in ["report", "runs"] {
            says(sandbox, &[command, here]);
        }
        write(&file, &whole);
    }
}

#[test]
fn the_dashboard_draws_text_alone() {
    let folder = Folder::new();
    folder.spoil();
    let terminal = Terminal::start(&folder.sandbox, &["watch", &folder.name]);
    terminal.resize(40, 160);
    terminal.expect(&["q leave"]);
    for key in ["v", "v", "p", "r", "d", "h", " ", "q"] {
        terminal.press(key);
        // Each screen is drawn before the next key, or none of it might be.
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    let bytes = terminal.written();
    assert_eq!(terminal.end().0, 0);
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("\\u001b]0;evil"), "an evil string is drawn: {text:?}");
    for evil in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{7f}", "\u{202e}", "\u{2066}"] {
        assert!(!text.contains(evil), "{evil:?} in {text:?}");
    }
}

/// The name of a run's folder is also a path. A folder with an impossible name is left out with a message.
#[test]
fn folders_of_runs_with_evil_names_are_left_out() {
    let folder = Folder::new();
    fs::rename(&folder.finished, folder.finished.with_file_name(EVIL_NAME)).unwrap();
    let list = says(&folder.sandbox, &["runs", &folder.name]);
    assert!(list.contains("is no run's folder by its name"), "{list}");
    says(&folder.sandbox, &["report", &folder.name]);
}
