//! Runs a program in a temporary folder.

use super::Outcome;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A temporary folder for one test, with the program to start in it.
#[derive(Debug)]
pub struct Sandbox {
    pub folder: tempfile::TempDir,
    program: PathBuf,
}

impl Sandbox {
    pub fn of(program: &Path) -> Self {
        assert!(program.exists(), "{} is not built", program.display());
        Self { folder: tempfile::tempdir().unwrap(), program: program.to_path_buf() }
    }

    /// Creates a sandbox for an example, which `cargo test` builds.
    pub fn of_example(name: &str) -> Self {
        // The test is target/release/deps/programs-…, the example is in target/release/examples.
        let deps = std::env::current_exe().unwrap();
        Self::of(&deps.parent().unwrap().parent().unwrap().join("examples").join(name))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome(self.command(arguments).output().unwrap())
    }

    /// Returns the folders of a comparison's runs, sorted by name, except those that are not complete yet. There are
    /// none before the comparison's folder exists.
    pub fn runs(&self, comparison: &str) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.path(comparison).join("runs")).into_iter().flatten();
        let runs = runs.map(|run| run.unwrap());
        let made = runs.filter(|run| !run.file_name().to_string_lossy().starts_with('.'));
        let mut runs: Vec<PathBuf> = made.map(|run| run.path()).collect();
        runs.sort();
        runs
    }

    /// Starts `times` workers on a comparison and kills each one after some run has made progress.
    pub fn killed_workers(&self, comparison: &str, times: usize) {
        let mut kills = 0;
        for _ in 0..times {
            let before = self.epochs(comparison);
            let mut worker = self.command(&["work", comparison]).spawn().unwrap();
            wait("progress", || {
                self.epochs(comparison) != before || worker.try_wait().unwrap().is_some()
            });
            kills += usize::from(worker.try_wait().unwrap().is_none());
            kill(&mut worker);
        }
        assert!(kills > times / 2, "{kills} workers were killed in the middle");
    }

    fn epochs(&self, comparison: &str) -> usize {
        let lines = |run: &PathBuf| fs::read_to_string(run.join("metrics.csv")).unwrap_or_default();
        self.runs(comparison).iter().map(|run| lines(run).lines().count()).sum()
    }

    /// Checks that the results of two comparisons are identical to the byte.
    #[track_caller]
    pub fn are_equal(&self, one: &str, other: &str) {
        let (one, other) = (self.runs(one), self.runs(other));
        assert!(!one.is_empty());
        assert_eq!(names(&one), names(&other));
        for (one, other) in one.iter().zip(&other) {
            assert!(results(one) == results(other), "{} differs", other.display());
        }
    }
}

/// Waits until a condition holds. Panics after two minutes, which is long enough on a machine that builds meanwhile.
#[track_caller]
pub fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills a process and waits for its end.
pub fn kill(process: &mut Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

fn names(runs: &[PathBuf]) -> Vec<String> {
    runs.iter().map(|run| run.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// Returns a run's results: its metrics, and the files that its program made.
pub fn results(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(run).unwrap().map(|file| file.unwrap().path());
    let ends = |file: &PathBuf| {
        let end = file.extension().and_then(|end| end.to_str());
        matches!(end, Some("csv" | "bpk" | "bin"))
    };
    let read = |file: PathBuf| {
        let name = file.file_name().unwrap().into();
        (name, fs::read(file).unwrap())
    };
    files.filter(ends).map(read).collect()
}
