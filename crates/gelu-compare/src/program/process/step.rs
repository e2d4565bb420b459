//! A process between a worker and its program. It makes the program end with the worker, and then becomes the
//! program.

use crate::names::printable;
use crate::output::complain;
use clap::Args;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// The name of the command, which only workers use.
pub(super) const NAME: &str = "become-program";
/// The exit code if the program could not be started, as in shells.
pub(super) const NOT_STARTED: i32 = 127;
/// The beginning of the error message in that case.
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

/// Returns the command that starts a program. On systems that can end a process with its parent, the command goes
/// through this step, which requests that. The system sends the signal when the parent *thread* ends, so the thread
/// that starts the program must be the one that waits for it.
pub(super) fn start(words: &[String]) -> Command {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        return command;
    }
    // `/proc/self/exe` is the running executable, even if its file was replaced.
    let mut command = Command::new("/proc/self/exe");
    command.args([NAME, &std::process::id().to_string(), "--"]).args(words);
    command
}

impl BecomeProgram {
    /// Replaces this process by the program. Returns only if that fails.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(in crate::program) fn run(self) -> ExitCode {
        use std::os::unix::process::{CommandExt, parent_id};
        let Some((program, arguments)) = self.words.split_first() else { return self.failed("") };
        if let Err(error) = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL) {
            return self.failed(&error.to_string());
        }
        // The worker may have ended before the request.
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
