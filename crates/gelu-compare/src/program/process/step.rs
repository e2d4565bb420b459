//! The step between a worker and its program: it sees to it that the program ends with the worker, and becomes it.

use crate::names::printable;
use crate::output::complain;
use clap::Args;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// The name of the command, which nobody but a worker uses.
pub(super) const NAME: &str = "become-program";
/// The exit code of a step that could not start the program, as shells have it.
pub(super) const NOT_STARTED: i32 = 127;
/// How its message begins then.
pub(super) const CANNOT_START: &str = "cannot start `";

/// Become a run's program, which the system ends when its worker is gone
#[derive(Debug, Args)]
pub(in crate::program) struct BecomeProgram {
    /// The worker's process
    worker: u32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    words: Vec<OsString>,
}

/// The command that starts a program: where the system can end a process with the one that started it, through a step
/// that asks for that. The signal comes when the *thread* ends that started it, so that has to be the one that waits
/// for it.
pub(super) fn start(words: &[String]) -> Command {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        return command;
    }
    // Even where the file has been replaced since.
    let mut command = Command::new("/proc/self/exe");
    command.args([NAME, &std::process::id().to_string(), "--"]).args(words);
    command
}

impl BecomeProgram {
    /// Does not return where the program is started.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(in crate::program) fn run(self) -> ExitCode {
        use std::os::unix::process::{CommandExt, parent_id};
        let Some((program, arguments)) = self.words.split_first() else { return self.failed("") };
        if let Err(error) = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL) {
            return self.failed(&error.to_string());
        }
        // It may have ended before it was asked for.
        if parent_id() != self.worker {
            return self.failed("its worker is gone");
        }
        let error = Command::new(program).args(arguments).exec();
        self.failed(&error.to_string())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(in crate::program) fn run(self) -> ExitCode {
        let worker = self.worker;
        self.failed(&format!("worker {worker} starts programs without this step here"))
    }

    fn failed(&self, problem: &str) -> ExitCode {
        let program = self.words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        complain(&format!("{CANNOT_START}{}`: {problem}\n", printable(&program)));
        ExitCode::from(NOT_STARTED as u8)
    }
}
