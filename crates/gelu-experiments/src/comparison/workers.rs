//! Carrying out a plan: one process a run, several at a time.
//!
//! A process of its own gives each run its own random number generators (Burn's are global), and
//! keeps a crash, a panic or an exhausted memory to the run that has it. A worker is this program
//! started as `gelu worker RUN`; it is told to stop after its epoch by a line on its standard
//! input, and ends by itself when that closes, so no worker outlives its comparison.

use crate::runs::{RunFolder, RunStatus};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a worker is told on its standard input to end after the epoch under way.
pub const STOP_AFTER_EPOCH: &str = "stop";
/// Exit code of a worker that stopped because it was told to.
pub const STOPPED: u8 = 3;
/// How often finished workers are looked for.
const TICK: Duration = Duration::from_millis(20);

/// What the workers of a comparison have in common.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The program, which understands `worker`.
    pub program: PathBuf,
    /// Name of the device they train on.
    pub device: String,
    /// Folder of the data; `None` for the customary place.
    pub data: Option<PathBuf>,
    /// How many work at a time.
    pub jobs: usize,
    /// Threads each may use; `None` leaves it to Burn.
    pub threads: Option<usize>,
}

/// A run that ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The run's folder.
    pub run: PathBuf,
    /// What happened, in one line.
    pub reason: String,
}

/// A comparison being carried out in the background. Dropping it ends all workers at once.
#[derive(Debug)]
pub struct Workers {
    requests: Sender<Request>,
    thread: Option<JoinHandle<Vec<Failure>>>,
}

#[derive(Debug)]
enum Request {
    StopAfterEpoch,
    StopNow,
}

impl Workers {
    /// Starts working on `runs`, in that order; complete ones are passed over.
    ///
    /// # Errors
    ///
    /// When a run's status cannot be read, or there are no threads to be had.
    pub fn start(runs: Vec<RunFolder>, options: WorkerOptions) -> Result<Self> {
        let mut queue = VecDeque::new();
        for run in runs {
            if !run.status()?.status.is_complete() {
                queue.push_back(run);
            }
        }
        let (requests, received) = channel();
        let crew = Crew { queue, options, working: Vec::new(), failures: Vec::new() };
        let thread = std::thread::Builder::new()
            .name("workers".to_owned())
            .spawn(move || crew.work(&received))
            .map_err(Error::io("start a thread for", "the workers"))?;
        Ok(Self { requests, thread: Some(thread) })
    }

    /// Whether all work is done or given up.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Lets every worker finish and save its epoch, and starts no other run.
    pub fn stop_after_epoch(&self) {
        // A crew that has gone has nothing to stop.
        let _ = self.requests.send(Request::StopAfterEpoch);
    }

    /// Ends every worker at once; the epochs under way are lost.
    pub fn stop_now(&self) {
        let _ = self.requests.send(Request::StopNow);
    }

    /// Waits for the end, and says which runs failed.
    pub fn join(mut self) -> Vec<Failure> {
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop_now();
            let _ = thread.join();
        }
    }
}

/// The thread behind [`Workers`].
struct Crew {
    queue: VecDeque<RunFolder>,
    options: WorkerOptions,
    working: Vec<Worker>,
    failures: Vec<Failure>,
}

struct Worker {
    run: RunFolder,
    process: Child,
    /// The last thing it said on standard error.
    complaint: JoinHandle<Option<String>>,
}

impl Crew {
    fn work(mut self, requests: &Receiver<Request>) -> Vec<Failure> {
        loop {
            while self.working.len() < self.options.jobs
                && let Some(run) = self.queue.pop_front()
            {
                match self.hire(run.clone()) {
                    Ok(worker) => self.working.push(worker),
                    Err(error) => self.fail(&run, error.to_string()),
                }
            }
            if self.working.is_empty() {
                return self.failures;
            }
            match requests.recv_timeout(TICK) {
                Ok(Request::StopAfterEpoch) => {
                    self.queue.clear();
                    for worker in &mut self.working {
                        let input = worker.process.stdin.as_mut();
                        // A worker that has just ended needs no telling.
                        let _ = input.map(|input| writeln!(input, "{STOP_AFTER_EPOCH}"));
                    }
                }
                Ok(Request::StopNow) | Err(RecvTimeoutError::Disconnected) => {
                    self.queue.clear();
                    for worker in &mut self.working {
                        let _ = worker.process.kill();
                        let _ = worker.process.wait();
                    }
                    return self.failures;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.dismiss_finished();
        }
    }

    fn hire(&self, run: RunFolder) -> Result<Worker> {
        let WorkerOptions { program, device, data, threads, .. } = &self.options;
        let mut command = Command::new(program);
        command.arg("worker").arg(run.path()).args(["--device", device]);
        if let Some(data) = data {
            command.arg("--data").arg(data);
        }
        if let Some(threads) = threads {
            command.env("RAYON_NUM_THREADS", threads.to_string());
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Error::io("start", program))?;
        let errors = process.stderr.take().expect("standard error was asked for");
        let complaint = std::thread::spawn(move || last_line(errors));
        Ok(Worker { run, process, complaint })
    }

    fn dismiss_finished(&mut self) {
        let mut index = 0;
        while index < self.working.len() {
            match self.working[index].process.try_wait() {
                Ok(None) => index += 1,
                Ok(Some(status)) => {
                    let worker = self.working.swap_remove(index);
                    self.judge(worker, status);
                }
                Err(error) => {
                    let worker = self.working.swap_remove(index);
                    self.fail(&worker.run, format!("its process is lost: {error}"));
                }
            }
        }
    }

    fn judge(&mut self, worker: Worker, status: ExitStatus) {
        let complaint = worker.complaint.join().ok().flatten();
        match status.code() {
            Some(0) => {}
            Some(code) if code == i32::from(STOPPED) => {}
            _ => {
                let reason = complaint.unwrap_or_else(|| format!("its process ended by {status}"));
                self.fail(&worker.run, reason);
            }
        }
    }

    fn fail(&mut self, run: &RunFolder, reason: String) {
        // A worker that could, has written this itself; on a full disk nobody can.
        if let Ok(before) = run.status()
            && !matches!(before.status, RunStatus::Failed { .. })
        {
            let status = RunStatus::Failed { reason: reason.clone() };
            let _ = run.set_status(status, before.seconds);
        }
        self.failures.push(Failure { run: run.path().to_path_buf(), reason });
    }
}

/// The last line that says something, without the program's own prefix. Lines of a stack trace
/// are not what happened, so what a panic said is preferred.
fn last_line(errors: ChildStderr) -> Option<String> {
    let lines: Vec<String> = BufReader::new(errors).lines().map_while(|line| line.ok()).collect();
    let panic = lines.iter().position(|line| line.contains("panicked at"));
    let line = match panic {
        Some(index) => lines.get(index + 1).or(lines.get(index)),
        None => lines.iter().rev().find(|line| !line.trim().is_empty()),
    };
    line.map(|line| line.trim().trim_start_matches("gelu: ").to_owned())
}
