//! The runs kept in `evidence/` still give the tables and verdicts that stand beside them.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use support::Sandbox;

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, place).unwrap();
        }
    }
}

#[test]
fn the_runs_that_are_kept_give_the_tables_beside_them() {
    let evidence = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evidence");
    let comparisons: Vec<PathBuf> =
        entries(&evidence).into_iter().filter(|path| path.is_dir()).collect();
    assert!(!comparisons.is_empty(), "{} holds no comparison", evidence.display());
    for comparison in comparisons {
        let kept = fs::read_to_string(comparison.join("table.md")).unwrap();
        let sandbox = Sandbox::new();
        copy(&comparison, &sandbox.path("again"));
        fs::remove_file(sandbox.path("again/table.md")).unwrap();
        sandbox.run(&["report", "again"]).success();
        let again = fs::read_to_string(sandbox.path("again/table.md")).unwrap();
        assert_eq!(again, kept, "{}", comparison.display());
    }
}
