use super::{STOP_AFTER_EPOCH, STOP_NOW, last_complaint};
use crate::pipe::{Pipe, Reading};
use crate::{Error, Result};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a worker that is to end at once may take over its batch, or over the end of its program beyond the time that
/// this has.
const GRACE: Duration = Duration::from_secs(3);
/// Bytes of what a worker says that are kept: its last message is among them.
const SAID: usize = 1 << 18;
/// How often a worker that crashed is replaced, for each of the pool's places.
const REPLACEMENTS: usize = 50;

/// The workers that a comparison starts on its own machine.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// The program, which understands `work`.
    pub program: PathBuf,
    /// How its messages begin.
    pub tool: String,
    /// The comparison's folder.
    pub folder: PathBuf,
    /// Where each worker is.
    pub places: Vec<Place>,
    /// How long a run may take to end that is to end at once.
    pub grace: Duration,
}

/// What a worker has of its own.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Arguments that the worker gets besides the folder: its device, for example.
    pub words: Vec<OsString>,
    /// Variables of its environment, which the programs that it starts have, too.
    pub variables: Vec<(String, String)>,
}

impl From<Vec<OsString>> for Place {
    fn from(words: Vec<OsString>) -> Self {
        Self { words, variables: Vec::new() }
    }
}

/// A worker that ended with an error: what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerFailure(pub String);

/// Some worker processes on this machine. They end when nothing is wanted, and when whoever started
/// them is gone: after the epoch they are at. A worker that crashes is replaced.
#[derive(Debug)]
pub struct WorkerPool {
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
    /// What it said last on standard error.
    said: Vec<u8>,
}

impl Member {
    /// Takes what it has said since, without waiting for it: whatever it has started may have its standard error open
    /// for longer than it lives.
    fn listen(&mut self) {
        let Self { errors, said, .. } = self;
        while let Ok(Reading::Bytes(_)) = errors.read(|bytes| said.extend_from_slice(bytes)) {
            said.drain(..said.len().saturating_sub(SAID));
        }
    }

    /// Its last complaint, once it has ended.
    fn complaint(mut self, tool: &str) -> Option<String> {
        let Self { errors, said, .. } = &mut self;
        let _ = errors.read_rest(|bytes| {
            said.extend_from_slice(bytes);
            said.drain(..said.len().saturating_sub(SAID));
        });
        last_complaint(tool, &said[..])
    }

    /// Ends it. One that hangs in the system, on a disk that does not answer for example, is not waited for.
    fn kill(&mut self) {
        let _ = self.process.kill();
        let deadline = Instant::now() + GRACE;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl WorkerPool {
    /// Starts a worker in every place.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn start(options: PoolOptions) -> Result<Self> {
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

    /// Whether all workers have ended. Replaces those that crashed.
    pub fn is_finished(&mut self) -> bool {
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

    /// Lets every worker finish and save its epoch, and take no other run.
    pub fn stop_after_epoch(&mut self) {
        self.tell(STOP_AFTER_EPOCH);
    }

    /// Ends every worker after the batch it is at; the epochs under way are lost.
    pub fn stop_now(&mut self) {
        self.tell(STOP_NOW);
        let deadline = Instant::now() + self.options.grace + GRACE;
        while !self.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.workers.iter_mut().for_each(Member::kill);
        self.workers.clear();
    }

    /// Whether the workers were asked to end before they were done.
    pub fn was_stopped(&self) -> bool {
        self.stopping
    }

    /// The workers that ended with an error.
    pub fn failures(&self) -> &[WorkerFailure] {
        &self.failures
    }

    fn tell(&mut self, what: &str) {
        self.stopping = true;
        for worker in &mut self.workers {
            let input = worker.process.stdin.as_mut();
            // A worker that has just ended needs no telling.
            let _ = input.map(|input| writeln!(input, "{what}"));
        }
    }

    fn spawn(&self, place: Place) -> Result<Member> {
        let PoolOptions { program, folder, places, .. } = &self.options;
        let mut command = Command::new(program);
        command.arg("work").args(&place.words).arg("--supervised");
        command.envs(place.variables.iter().map(|(name, value)| (name, value)));
        command.args(["--slots", &places.len().to_string()]);
        // Its name may begin like a flag.
        command.arg("--").arg(folder);
        // Ctrl-C reaches every process of a terminal's foreground group; it is the comparison that
        // decides.
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
            // Killed, or crashed: the run it was at says more, and another goes on with it.
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
