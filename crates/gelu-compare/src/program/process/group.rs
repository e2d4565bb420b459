//! A process with all its children, to be waited for and ended together.

use crate::{Error, Result};
use std::io;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The time between checks of a process that prints nothing.
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// The time limit for a killed process to disappear.
const KILLED: Duration = Duration::from_secs(2);

/// A process and its children: a process group on Unix, a job on Windows. The system ends a job when the last handle
/// to it is closed, for whatever reason.
pub(super) struct Group {
    process: Child,
    /// The time that the process gets between the request to end and the kill.
    grace: Duration,
    asked: bool,
    /// Whether the children have been ended.
    over: bool,
    #[cfg(windows)]
    job: Option<win32job::Job>,
}

impl Group {
    /// Starts a process as the leader of a new process group.
    #[cfg(not(windows))]
    pub(super) fn spawn(command: &mut Command, grace: Duration) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { process: command.spawn()?, grace, asked: false, over: false })
    }

    /// Starts a process in a new job.
    #[cfg(windows)]
    pub(super) fn spawn(command: &mut Command, grace: Duration) -> io::Result<Self> {
        use std::os::windows::io::AsRawHandle;
        let mut limits = win32job::ExtendedLimitInfo::new();
        let job = win32job::Job::create_with_limit_info(limits.limit_kill_on_job_close());
        let job = job.map_err(io::Error::other)?;
        let mut process = command.spawn()?;
        if let Err(error) = job.assign_process(process.as_raw_handle() as isize) {
            let _ = process.kill();
            return Err(io::Error::other(error));
        }
        Ok(Self { process, grace, asked: false, over: false, job: Some(job) })
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the process's standard output and standard error.
    pub(super) fn outputs(&mut self) -> (ChildStdout, ChildStderr) {
        let output = self.process.stdout.take().expect("standard output was asked for");
        (output, self.process.stderr.take().expect("standard error was asked for"))
    }

    /// Returns the process's exit status, or `None` while the process runs.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process.try_wait().map_err(Error::io("wait for", "a program"))
    }

    /// Asks the process and its children to end, if the system has a way to ask. Returns the time until which they
    /// may take to end.
    pub(super) fn ask_to_end(&mut self) -> Instant {
        if !cfg!(unix) || std::mem::replace(&mut self.asked, true) {
            return Instant::now();
        }
        self.signal_group(false);
        Instant::now() + self.grace
    }

    /// Ends the process and its children, with a request first. Returns whether the process has ended. A process that
    /// hangs in the system, for example on a disk that does not respond, ends later.
    pub(super) fn kill(&mut self) -> bool {
        if !self.ends_until(Instant::now()) {
            let until = self.ask_to_end();
            self.ends_until(until);
        }
        self.kill_group();
        self.ends_until(Instant::now() + KILLED)
    }

    fn ends_until(&mut self, until: Instant) -> bool {
        loop {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Kills the children.
    pub(super) fn kill_group(&mut self) {
        // The ID of a group that has ended may be reused, so the group is only signalled once.
        if !std::mem::replace(&mut self.over, true) {
            self.signal_group(true);
            let _ = self.process.kill();
            #[cfg(windows)]
            drop(self.job.take());
        }
    }

    #[cfg(unix)]
    fn signal_group(&self, kill: bool) {
        use nix::sys::signal::{Signal, killpg};
        let signal = if kill { Signal::SIGKILL } else { Signal::SIGTERM };
        let group = i32::try_from(self.process.id()).map(nix::unistd::Pid::from_raw);
        // The group may have no process left.
        let _ = group.map(|group| killpg(group, signal));
    }

    #[cfg(not(unix))]
    fn signal_group(&self, _kill: bool) {}
}

/// Returns whether the process ended by SIGHUP, SIGINT or SIGTERM, which ask for an end, or is a shell that reports
/// this of its command.
pub(super) fn was_terminated(status: ExitStatus) -> bool {
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

/// Returns whether the process ended by SIGKILL, or is a shell that reports this of its command. The system kills
/// processes this way when memory runs out.
pub(super) fn is_killed(status: ExitStatus) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        status.signal() == Some(9) || status.code() == Some(128 + 9)
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

/// Returns the status in words: `exit code 3`, `signal 9`.
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
