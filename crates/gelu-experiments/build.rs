//! Passes the current commit to the program if the build runs in a repository, with a `+` if its sources have changed
//! since that commit.

use std::path::{Path, PathBuf};
use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Returns the existing sources of the program. Cargo would treat a missing path as changed in every build.
fn sources() -> Vec<String> {
    let packages = std::fs::read_dir("..").into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = packages.map(|package| package.path().join("src")).collect();
    paths.extend(["recipes", "../../Cargo.toml", "../../Cargo.lock"].map(PathBuf::from));
    paths.retain(|path| path.exists());
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let sources = sources();
    for path in &sources {
        println!("cargo::rerun-if-changed={path}");
    }
    // The log of HEAD grows with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let mut status = "--no-optional-locks status --porcelain --".split(' ').collect::<Vec<_>>();
        status.extend(sources.iter().map(String::as_str));
        let changed = git(&status);
        let mark = if changed.is_some_and(|list| !list.is_empty()) { "+" } else { "" };
        println!("cargo::rustc-env=GELU_COMMIT={commit}{mark}");
    }
}
