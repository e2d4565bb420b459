use super::output::{Heard, Told, for_each_line, measures};
use super::{Study, StudyRun, Template, orphan};
use crate::measure::EpochMetrics;
use crate::runs::{ClaimedRun, Comparison, Environment, RunStatus};
use crate::worker::{Control, Trainer, conclude, fail};
use crate::{Error, Result};
use serde_json::{Map, Value as Json};
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often a process is looked at while it says nothing.
const LOOK: Duration = Duration::from_millis(10);
/// How long a process that is to end may take over it.
const GRACE: Duration = Duration::from_secs(2);
/// How long what a process has printed is waited for once it has ended.
const QUIET: Duration = Duration::from_millis(200);
/// Lines that wait to be heard; a process that prints faster waits with its next.
const WAITING_LINES: usize = 1024;
/// How often epochs are made visible at most.
const PUBLISHED: Duration = Duration::from_millis(100);
/// Of the time, no more than one part in so many goes into making epochs visible: their table is written as a
/// whole.
const SHARE: u32 = 10;
/// The folder of a run in which a program may keep what it likes.
const KEPT: &str = "kept";

/// Trains by a command: what it prints are the measures.
#[derive(Debug, Default)]
pub struct Processes;

impl Trainer for Processes {
    type Experiment = Study;

    fn environment(&self, _: &Comparison<Study>, _: usize) -> Environment {
        Environment::of_this_machine()
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun<StudyRun>>,
        comparison: &Comparison<Study>,
        _: &Environment,
        control: &Control,
    ) -> Result<RunStatus> {
        let before = run.status();
        if before.status.is_complete() {
            return Ok(before.status);
        }
        let earlier = run.folder().metrics().unwrap_or_default();
        run.set_status(RunStatus::Running, before.seconds)?;
        let began = Instant::now();
        let ended = Running::start(run, &comparison.recipe, earlier)
            .and_then(|running| running.end(control));
        orphan::forget(run.folder().path());
        let seconds = before.seconds + began.elapsed().as_secs_f64();
        match ended {
            Ok(Ended::With(status, epochs)) => conclude(run, Ok(status), &epochs, seconds),
            Ok(Ended::Failed(reason, epochs)) => fail(run, &reason, seconds, epochs),
            Err(error) => conclude(run, Err(error), &[], seconds),
        }
    }
}

/// How a process ended.
enum Ended {
    With(RunStatus, Vec<EpochMetrics>),
    /// Why, and after how many epochs.
    Failed(String, usize),
}

/// A line that a process printed; measures are read from standard output alone.
enum Line {
    Output(String),
    Error(String),
}

/// A process under way.
struct Running<'a> {
    run: &'a ClaimedRun<StudyRun>,
    study: &'a Study,
    process: Child,
    lines: Receiver<Line>,
    told: Told,
    heard: Heard<std::io::Stderr>,
    began: Instant,
    /// Whether epochs have ended that nobody sees yet, and when they may be seen.
    unseen: bool,
    publish_at: Instant,
}

impl<'a> Running<'a> {
    fn start(
        run: &'a ClaimedRun<StudyRun>,
        study: &'a Study,
        earlier: Vec<EpochMetrics>,
    ) -> Result<Self> {
        let words = words(run.spec())?;
        orphan::end(run.folder().path())?;
        let folder = kept(run)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env("GELU_RUN", &folder)
            .env("GELU_SEED", run.spec().seed.to_string())
            .env("GELU_SETTING", setting(run.spec()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // So that all it starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn().map_err(|error| {
            Error::Failed(format!("cannot start `{}`: {error}", crate::names::printable(&words[0])))
        })?;
        if let Err(error) = orphan::note(run.folder().path(), &process) {
            let _ = process.kill();
            return Err(error);
        }
        let (hear, lines) = sync_channel(WAITING_LINES);
        let output = process.stdout.take().expect("standard output was asked for");
        let errors = process.stderr.take().expect("standard error was asked for");
        listen(output, hear.clone(), Line::Output)?;
        listen(errors, hear, Line::Error)?;
        Ok(Self {
            run,
            study,
            process,
            lines,
            told: Told::after(earlier, study.required()),
            heard: Heard::new(std::io::stderr()),
            began: Instant::now(),
            unseen: false,
            publish_at: Instant::now(),
        })
    }

    fn end(mut self, control: &Control) -> Result<Ended> {
        let limit = self.study.timeout.map(Duration::from_secs);
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => self.hear(line),
                Err(RecvTimeoutError::Timeout) => {}
                // Nobody has its output open any more: it is at its end, or has closed it.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
            }
            if let Some(epoch) = self.told.lost() {
                self.kill();
                return Ok(Ended::With(RunStatus::Diverged { epoch }, self.told.kept()));
            }
            if self.unseen && Instant::now() >= self.publish_at {
                self.publish()?;
            }
            if self.run.lease().is_marked_lost() {
                self.kill();
                return Err(Error::LeaseLost { run: self.run.folder().path().to_path_buf() });
            }
            if control.wants_stop_now() {
                self.kill();
                self.publish()?;
                return Ok(Ended::With(RunStatus::Interrupted, self.told.kept()));
            }
            if limit.is_some_and(|limit| self.began.elapsed() > limit) {
                self.kill();
                let seconds = self.study.timeout.unwrap_or_default();
                let problem = format!("it was not done after {seconds} s (--timeout)");
                return self.failed(&problem);
            }
            if let Some(status) =
                self.process.try_wait().map_err(Error::io("wait for", "a program"))?
            {
                return self.conclude(status);
            }
        }
    }

    fn hear(&mut self, line: Line) {
        let (text, told) = match line {
            Line::Output(text) => {
                let told = measures(&text, &self.study.read);
                (text, told)
            }
            Line::Error(text) => (text, None),
        };
        self.heard.hear(&text);
        self.unseen |= told.is_some_and(|told| self.told.hear(told));
    }

    /// Makes the epochs visible that have ended.
    fn publish(&mut self) -> Result<()> {
        if self.unseen {
            let began = Instant::now();
            self.run.publish_metrics(&self.told.ended())?;
            self.unseen = false;
            self.publish_at = Instant::now() + PUBLISHED.max(SHARE * began.elapsed());
        }
        Ok(())
    }

    /// What a process that has ended by itself came to.
    fn conclude(mut self, status: ExitStatus) -> Result<Ended> {
        // What it started may go on and keep its output open; what it has said itself is there.
        let until = Instant::now() + GRACE;
        while Instant::now() < until
            && let Ok(line) = self.lines.recv_timeout(QUIET)
        {
            self.hear(line);
        }
        self.kill_group();
        if let Some(epoch) = self.told.lost() {
            return Ok(Ended::With(RunStatus::Diverged { epoch }, self.told.kept()));
        }
        if !status.success() {
            return self.failed(&format!("it ended with {}", said(status)));
        }
        let epochs = self.told.kept();
        let reported = self.run.spec();
        let reported = crate::runs::Spec::reported_epoch(reported, &epochs);
        let missing = |name: &&str| reported.is_none_or(|epoch| epoch.get(name).is_none());
        match self.study.required().find(missing) {
            None => Ok(Ended::With(RunStatus::Finished, epochs)),
            Some(name) => {
                let columns = crate::runs::columns(epochs.iter());
                let there = match columns.is_empty() {
                    true => "it told no measure at all".to_owned(),
                    false => format!("it told {}", columns.join(", ")),
                };
                let advice = match self.study.read.is_empty() {
                    true => {
                        "print a line such as {\"NAME\": 0.5}, or say how it is printed with --read"
                    }
                    false => "its pattern may match no line",
                };
                let advice = advice.replace("NAME", name);
                self.failed(&format!("it never told {name}: {there}; {advice}"))
            }
        }
    }

    fn failed(&mut self, problem: &str) -> Result<Ended> {
        self.publish()?;
        let last = self.heard.last();
        let said = if last.is_empty() { String::new() } else { format!("; it said last:\n{last}") };
        Ok(Ended::Failed(format!("{problem}{said}"), self.told.epochs().len()))
    }

    /// Ends it and all that it started: asked first.
    fn kill(&mut self) {
        self.signal_group(false);
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if !matches!(self.process.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.kill_group();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Ends what it started.
    fn kill_group(&self) {
        self.signal_group(true);
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

/// `exit code 3`, `signal 9`.
fn said(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!("signal {signal}");
        }
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Tells every line of an output, in a thread of its own.
fn listen(
    output: impl Read + Send + 'static,
    hear: SyncSender<Line>,
    kind: fn(String) -> Line,
) -> Result<()> {
    let thread = std::thread::Builder::new().name("output".to_owned()).spawn(move || {
        for_each_line(BufReader::with_capacity(1 << 16, output), |line| {
            // Nobody may listen any more.
            let _ = hear.send(kind(line.to_owned()));
        });
    });
    thread.map(drop).map_err(Error::io("start a thread for", "a program's output"))
}

/// The words of a run's command.
fn words(spec: &StudyRun) -> Result<Vec<String>> {
    let command = match &spec.command {
        Some(command) => command.clone(),
        None => spec.setting.text(Study::COMMAND),
    };
    Ok(Template::parse(&command)?.words(&spec.setting, spec.seed))
}

/// The folder in which the program of a run may keep what it likes.
fn kept(run: &ClaimedRun<StudyRun>) -> Result<PathBuf> {
    let folder = std::path::absolute(run.folder().file(KEPT));
    let folder = folder.map_err(Error::io("find", run.folder().path()))?;
    std::fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
    Ok(folder)
}

fn setting(spec: &StudyRun) -> String {
    let pairs = spec.setting.iter().map(|(name, value)| (name.to_owned(), value.to_plain_json()));
    Json::Object(pairs.collect::<Map<_, _>>()).to_string()
}
