//! A process with all that it starts: waited for, and ended together.

use crate::{Error, Result};
use std::io;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often a process is looked at while it says nothing.
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// How long a process may take to be gone once it is killed.
const KILLED: Duration = Duration::from_secs(2);

/// A process, and what it starts: a group of processes on Unix, a job on Windows, which the system ends when nobody has
/// it open any more, however that came about.
pub(super) struct Group {
    process: Child,
    /// How long it may take to end once it is asked to.
    grace: Duration,
    asked: bool,
    /// Whether what it started was ended.
    over: bool,
    #[cfg(windows)]
    job: Option<win32job::Job>,
}

impl Group {
    /// Starts a process as the first of a group of its own.
    #[cfg(not(windows))]
    pub(super) fn spawn(command: &mut Command, grace: Duration) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { process: command.spawn()?, grace, asked: false, over: false })
    }

    /// Starts a process in a job of its own.
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

    /// Its outputs, which it was started with.
    pub(super) fn outputs(&mut self) -> (ChildStdout, ChildStderr) {
        let output = self.process.stdout.take().expect("standard output was asked for");
        (output, self.process.stderr.take().expect("standard error was asked for"))
    }

    /// How the process ended; `None` while it goes on.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process.try_wait().map_err(Error::io("wait for", "a program"))
    }

    /// Asks it and all that it started to end, where the system has a way to ask; until when it may take its time.
    pub(super) fn ask_to_end(&mut self) -> Instant {
        if !cfg!(unix) || std::mem::replace(&mut self.asked, true) {
            return Instant::now();
        }
        self.signal_group(false);
        Instant::now() + self.grace
    }

    /// Ends it and all that it started: asked first. Whether it has ended: one that hangs in the system, on a disk that
    /// does not answer for example, ends when that lets it.
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

    /// Ends what it started.
    pub(super) fn kill_group(&mut self) {
        // The number of a group that has ended may be given again.
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
        // There may be nobody left.
        let _ = group.map(|group| killpg(group, signal));
    }

    #[cfg(not(unix))]
    fn signal_group(&self, _kill: bool) {}
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

/// Whether it was SIGKILL, or a shell that says so of what it ran: the system ends a process like that where memory has run
/// out.
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
