//! What tests of killed, frozen and interrupted processes share: the loop that they run, processes that end with the
//! test, and what a comparison's folder says of them.

use gelu_compare::runs::RunFolder;
use gelu_compare::testing::{Outcome, Sandbox, wait};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Creates a temporary folder with the loop that saves its state after every epoch.
pub(crate) fn paced() -> Sandbox {
    Sandbox::of_example("paced_loop")
}

/// Makes the loop wait within `epoch` of each run, or within a later one, until [`release`].
pub(crate) fn hold(sandbox: &Sandbox, epoch: usize) {
    fs::write(sandbox.path("hold"), epoch.to_string()).unwrap();
}

/// Waits until the loop of this many runs waits within an epoch.
#[track_caller]
pub(crate) fn wait_for_held(sandbox: &Sandbox, runs: usize) {
    let is_held = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("held-");
    wait("runs that are held", || {
        let entries = fs::read_dir(sandbox.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap()).filter(is_held).count() == runs
    });
}

pub(crate) fn release(sandbox: &Sandbox) {
    fs::remove_file(sandbox.path("hold")).unwrap();
}

/// Returns the arguments for runs of one seed.
pub(crate) fn with<'a>(command: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, "--seeds", "1", "--out", out], more].concat()
}

/// A process that does not outlive the test, even if the test fails.
pub(crate) struct Process {
    child: Child,
    messages: File,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts a process. Its standard error can be read while it runs, and fills no pipe.
    pub(crate) fn start(command: &mut Command) -> Self {
        let messages = tempfile::tempfile().unwrap();
        let stderr = messages.try_clone().unwrap();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        Self { child: command.spawn().unwrap(), messages }
    }

    /// Starts a worker on a comparison.
    pub(crate) fn worker(sandbox: &Sandbox, out: &str) -> Self {
        Self::start(&mut sandbox.command(&["work", out]))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(name, &self.id().to_string());
    }

    /// Returns the messages so far.
    pub(crate) fn said(&self) -> String {
        let mut said = vec![0; self.messages.metadata().unwrap().len() as usize];
        self.messages.read_exact_at(&mut said, 0).unwrap();
        String::from_utf8(said).unwrap()
    }

    /// Waits for the process's end.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Outcome {
        wait("the process's end", || self.is_over());
        let (status, stderr) = (self.child.wait().unwrap(), self.said().into_bytes());
        Outcome(Output { status, stdout: Vec::new(), stderr })
    }
}

#[track_caller]
pub(crate) fn signal(name: &str, process: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), process]).status().unwrap();
    assert!(sent.success(), "kill -{name} {process}");
}

/// Returns the number of epochs that all runs of a comparison have finished.
pub(crate) fn epochs(sandbox: &Sandbox, out: &str) -> usize {
    sandbox.runs(out).iter().map(|run| epochs_of(run)).sum()
}

/// Returns the number of epochs that a run has finished.
pub(crate) fn epochs_of(run: &Path) -> usize {
    let table = fs::read_to_string(run.join("metrics.csv")).unwrap_or_default();
    table.lines().count().saturating_sub(1)
}

/// Returns the folders of a run's leases that are held; there may be none or one.
pub(crate) fn leases(run: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("/lease-")).collect()
}

/// Returns the number of sessions that finished a run.
pub(crate) fn ends(run: &Path) -> usize {
    let sessions = RunFolder::at(run).provenance().unwrap();
    sessions.iter().filter(|session| session.outcome.as_deref() == Some("finished")).count()
}

/// Checks that every run is finished, and that no two sessions have finished the same one. The session that did may
/// have been killed before it said so.
#[track_caller]
pub(crate) fn assert_ended_once(sandbox: &Sandbox, out: &str) {
    for run in sandbox.runs(out) {
        let status = status(&run);
        assert!(status.contains("finished"), "{}: {status}", run.display());
        assert!(ends(&run) <= 1, "{} was carried out to its end twice", run.display());
    }
}

/// Checks that a comparison has the results, to the byte, that another one has that nothing disturbs.
#[track_caller]
pub(crate) fn results_are_those_of(sandbox: &Sandbox, out: &str, undisturbed: &[&str]) {
    sandbox.run(undisturbed).success();
    sandbox.are_equal("whole", out);
}

pub(crate) fn status(run: &Path) -> String {
    fs::read_to_string(run.join("status.json")).unwrap_or_default()
}
