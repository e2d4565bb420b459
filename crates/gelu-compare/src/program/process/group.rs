//! A process with all that it starts: waited for, and ended together.

use crate::{Error, Result};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How often a process is looked at while it says nothing.
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// How long a process that is to end may take over it.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// A process that leads a group of its own.
pub(super) struct Group(Child);

impl Group {
    pub(super) fn of(process: Child) -> Self {
        Self(process)
    }

    /// How the process ended; `None` while it goes on.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.0.try_wait().map_err(Error::io("wait for", "a program"))
    }

    /// Ends it and all that it started: asked first.
    pub(super) fn kill(&mut self) {
        self.signal_group(false);
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if !matches!(self.0.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.kill_group();
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Ends what it started.
    pub(super) fn kill_group(&self) {
        self.signal_group(true);
    }

    #[cfg(unix)]
    fn signal_group(&self, kill: bool) {
        use nix::sys::signal::{Signal, killpg};
        let signal = if kill { Signal::SIGKILL } else { Signal::SIGTERM };
        let group = i32::try_from(self.0.id()).map(nix::unistd::Pid::from_raw);
        // There may be nobody left.
        let _ = group.map(|group| killpg(group, signal));
    }

    #[cfg(not(unix))]
    fn signal_group(&self, _kill: bool) {}
}

impl Drop for Group {
    /// Nobody hears it any more.
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

/// Whether it was a signal that asks for an end, SIGHUP, SIGINT or SIGTERM, or a shell that says so of what it
/// ran.
pub(super) fn is_told_to_end(status: ExitStatus) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
        matches!(signal, Some(1 | 2 | 15))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

/// `exit code 3`, `signal 9`.
pub(super) fn said(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!("signal {signal}");
        }
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}
