use super::{STOP_AFTER_EPOCH, STOP_NOW, last_complaint};
use crate::pipe::{Pipe, Reading};
use crate::{Error, Result};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The extra time for a worker to finish its batch, or its program's end beyond the program's own limit, when the
/// worker has to end at once.
const GRACE: Duration = Duration::from_secs(3);
/// The limit, in bytes, for the stored part of a worker's standard error. It includes the last message.
const SAID: usize = 1 << 18;
/// The number of times that the pool replaces crashed workers, per place.
const REPLACEMENTS: usize = 50;

/// Options for the workers that a comparison starts on its own machine.
#[derive(Clone, Debug)]
pub(crate) struct PoolOptions {
    /// The program, which must have the command `work`.
    pub program: PathBuf,
    /// The prefix of the program's messages.
    pub tool: String,
    /// The comparison's folder.
    pub folder: PathBuf,
    /// One entry per worker.
    pub places: Vec<Place>,
    /// The time limit for a run that has to end at once.
    pub grace: Duration,
}

/// The arguments and variables of one worker.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The worker's arguments before the folder, such as its device.
    pub words: Vec<OsString>,
    /// The worker's environment variables, which the programs that it starts inherit.
    pub variables: Vec<(String, String)>,
}

impl From<Vec<OsString>> for Place {
    fn from(words: Vec<OsString>) -> Self {
        Self { words, variables: Vec::new() }
    }
}

/// The last message of a worker that ended with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerFailure(pub String);

/// Worker processes on this machine. They end when nothing is left to do, and after the current epoch when their
/// parent process is gone. The pool replaces workers that crash.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    options: PoolOptions,
    workers: Vec<Member>,
    failures: Vec<WorkerFailure>,
    stopping: bool,
    replacements: usize,
}

#[derive(Debug)]
struct Member {
    place: Place,
    process: Child,
    errors: Pipe,
    /// The end of the worker's standard error so far.
    said: Vec<u8>,
}

impl Member {
    /// Reads new output of the worker without waiting. The worker's children may have its standard error open for
    /// longer than the worker lives.
    fn listen(&mut self) {
        let Self { errors, said, .. } = self;
        while let Ok(Reading::Bytes(_)) = errors.read(|bytes| said.extend_from_slice(bytes)) {
            said.drain(..said.len().saturating_sub(SAID));
        }
    }

    /// Returns the worker's last message. Call it after the worker has ended.
    fn complaint(mut self, tool: &str) -> Option<String> {
        let Self { errors, said, .. } = &mut self;
        let _ = errors.read_rest(|bytes| {
            said.extend_from_slice(bytes);
            said.drain(..said.len().saturating_sub(SAID));
        });
        last_complaint(tool, &said[..])
    }

    /// Kills the worker. Stops waiting after [`GRACE`], because a worker may hang in the system, for example on a
    /// disk that does not respond.
    fn kill(&mut self) {
        let _ = self.process.kill();
        let deadline = Instant::now() + GRACE;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl WorkerPool {
    /// Starts one worker per place.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started.
    pub(crate) fn start(options: PoolOptions) -> Result<Self> {
        let replacements = REPLACEMENTS * options.places.len();
        let places = options.places.clone();
        let mut pool = Self {
            options,
            workers: Vec::new(),
            failures: Vec::new(),
            stopping: false,
            replacements,
        };
        for place in places {
            let member = pool.spawn(place)?;
            pool.workers.push(member);
        }
        Ok(pool)
    }

    /// Returns whether all workers have ended. Replaces those that crashed.
    pub(crate) fn is_finished(&mut self) -> bool {
        let mut index = 0;
        while index < self.workers.len() {
            self.workers[index].listen();
            match self.workers[index].process.try_wait() {
                Ok(None) => index += 1,
                Ok(Some(status)) => {
                    let member = self.workers.swap_remove(index);
                    self.see_off(member, status);
                }
                Err(error) => {
                    self.workers.swap_remove(index);
                    self.failures.push(WorkerFailure(format!("a worker is lost: {error}")));
                }
            }
        }
        self.workers.is_empty()
    }

    /// Makes every worker finish and save its epoch, and then end.
    pub(crate) fn stop_after_epoch(&mut self) {
        self.tell(STOP_AFTER_EPOCH);
    }

    /// Ends every worker after its current batch; the current epochs are lost.
    pub(crate) fn stop_now(&mut self) {
        self.tell(STOP_NOW);
        let deadline = Instant::now() + self.options.grace + GRACE;
        while !self.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.workers.iter_mut().for_each(Member::kill);
        self.workers.clear();
    }

    /// Returns whether the workers were asked to end before they were done.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopping
    }

    /// Returns the workers that ended with an error.
    pub(crate) fn failures(&self) -> &[WorkerFailure] {
        &self.failures
    }

    fn tell(&mut self, what: &str) {
        self.stopping = true;
        for worker in &mut self.workers {
            let input = worker.process.stdin.as_mut();
            // Writing fails if the worker has just ended, which is fine.
            let _ = input.map(|input| writeln!(input, "{what}"));
        }
    }

    fn spawn(&self, place: Place) -> Result<Member> {
        let PoolOptions { program, folder, places, .. } = &self.options;
        let mut command = Command::new(program);
        command.arg("work").args(&place.words).arg("--supervised");
        command.envs(place.variables.iter().map(|(name, value)| (name, value)));
        command.args(["--slots", &places.len().to_string()]);
        // `--` is needed because the folder's name may begin like a flag.
        command.arg("--").arg(folder);
        // Ctrl-C reaches every process of a terminal's foreground group. Workers get their own group, because the
        // comparison's process decides when they end.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Error::io("start", program))?;
        let errors = process.stderr.take().expect("standard error was asked for");
        let errors = Pipe::of(errors).map_err(Error::io("read the messages of", program))?;
        Ok(Member { place, process, errors, said: Vec::new() })
    }

    fn see_off(&mut self, member: Member, status: ExitStatus) {
        let place = member.place.clone();
        let complaint = member.complaint(&self.options.tool);
        match status.code() {
            Some(0 | 130) => {}
            Some(1 | 2) => {
                let problem = complaint.unwrap_or_else(|| format!("a worker ended by {status}"));
                self.failures.push(WorkerFailure(problem));
            }
            // The worker was killed or has crashed. The run's folder says more, and another worker continues the run.
            _ if self.stopping => {}
            _ if self.replacements > 0 => {
                self.replacements -= 1;
                match self.spawn(place) {
                    Ok(member) => self.workers.push(member),
                    Err(error) => self.failures.push(WorkerFailure(error.to_string())),
                }
            }
            _ => self.failures.push(WorkerFailure(format!("workers keep ending by {status}"))),
        }
    }
}
