//! Tells the program which commit it is built from, where it is built in a repository.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The log of HEAD grows with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        && std::path::Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
        let mark = if changed.is_some_and(|list| !list.is_empty()) { "+" } else { "" };
        println!("cargo::rustc-env=GELU_COMMIT={commit}{mark}");
    }
}
