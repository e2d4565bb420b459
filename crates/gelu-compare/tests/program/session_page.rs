//! Runs the loops on the book's page about sessions.

use std::fs;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../../../docs/src/how-to/research-loop.md");

/// Returns the blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let parts = PAGE.split("```").skip(1).step_by(2);
    parts.filter_map(|part| part.strip_prefix(&format!("{language}\n"))).collect()
}

/// Runs a loop of the page in a temporary folder with `train.py`, and returns its output.
fn play(program: &str, name: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("train.py"), blocks("python")[0]).unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_gelu-compare")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = Command::new(program)
        .arg(name)
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn the_loop_in_shell_keeps_what_is_better() {
    let text = blocks("sh").into_iter().find(|block| block.contains("for edit")).unwrap();
    assert!(text.lines().count() <= 20, "a loop of 20 lines");
    let said = play("sh", "loop.sh", text);
    for line in [
        "no improvement: s/RATE = .*/RATE = 0.001/",
        "kept: s/RATE = .*/RATE = 0.1/",
        "no improvement: s/EPOCHS = .*/EPOCHS = 8, 5/",
        "4 judgements of loss, of which lower is better",
        "From start to now: ",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn the_loop_in_python_plays_a_session() {
    let text = blocks("python")[1];
    let said = play("python3", "loop.py", text);
    assert!(said.contains("judgements of loss") && said.contains("Budget "), "{said}");
}
