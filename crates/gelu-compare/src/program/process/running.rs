//! The life of a process, from its start to its outcome.

use super::command::{command, kept};
use super::group::{Group, LOOK, was_terminated};
use super::memory::MemoryKills;
use super::step;
use crate::measure::EpochMetrics;
use crate::pipe::{Pipe, Reading, wait};
use crate::program::journal::Journal;
use crate::program::output::{Lines, OutputLog};
use crate::program::reported_metrics::ReportedMetrics;
use crate::program::reports::Reports;
use crate::program::transcript::{self, Transcript};
use crate::program::{ProgramRecipe, ProgramSpec, orphan};
use crate::runs::{ClaimedRun, Recipe, RunStatus, Spec};
use crate::worker::Control;
use crate::{Error, Result};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// The wait for the end of another process through which a program prints, such as `> >(tee log)` in Bash. Such a
/// process ends right after the program. Nothing that the program itself prints depends on this time.
const RELAY: Duration = Duration::from_millis(200);
/// The minimum time between two updates of the visible epochs.
const PUBLISHED: Duration = Duration::from_millis(100);
/// Updates of the visible epochs take at most one part in this number of the time, because each writes the whole
/// table.
const SHARE: u32 = 10;
/// The time without activity after which a worker may have been frozen, and checks at once whether it still holds the
/// run.
const FROZEN: Duration = Duration::from_secs(1);
/// The time that a worker waits for its own request to end, after its program got one.
const REQUEST: Duration = Duration::from_secs(2);

/// The outcome of a process.
pub(super) enum Ended {
    With(RunStatus, Vec<EpochMetrics>),
    /// The reason, and the number of epochs.
    Failed(String, usize),
}

/// A running process.
pub(super) struct Running<'a> {
    process: Process<'a>,
    recipe: &'a ProgramRecipe,
    output: Pipe,
    errors: Pipe,
    text: Text,
    began: Instant,
    /// The numbers of processes killed for memory before the start.
    killed_before: MemoryKills,
    /// The time of the last check.
    looked: Instant,
    /// Whether finished epochs are not visible yet, and the time from which they may be published.
    unseen: bool,
    publish_at: Instant,
}

/// The output of a process that was read so far.
struct Text {
    output: Lines,
    errors: Lines,
    journal: Journal,
    reported: ReportedMetrics,
    reports: Reports,
    heard: OutputLog<std::io::Stderr>,
    transcript: Transcript,
}

/// The process of a run. Dropping it ends the process. Its note exists as long as the process may live.
struct Process<'a> {
    run: &'a ClaimedRun<ProgramSpec>,
    group: Group,
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        if self.group.kill() {
            orphan::forget(self.run);
        }
    }
}

/// Runs the program of a run. Does not start it again if it ended successfully before its results were written.
pub(super) fn carry_out(
    run: &ClaimedRun<ProgramSpec>,
    recipe: &ProgramRecipe,
    control: &Control,
) -> Result<Ended> {
    let words = run.spec().words()?;
    let left = orphan::end(run)?;
    let kept = kept(run, &left)?;
    orphan::forget_all(run)?;
    let mut reported = ReportedMetrics::of(recipe.required());
    let journal = Journal::open(run, recipe, &mut reported)?;
    let transcript = Transcript::begin(run, recipe.keep_output.unwrap_or(transcript::LIMIT))?;
    if journal.has_ended() {
        return Ok(Ended::With(RunStatus::Finished, reported.kept()));
    }
    let has_told = !reported.epochs().is_empty();
    let text = Text {
        output: Lines::default(),
        errors: Lines::default(),
        journal,
        reported,
        reports: Reports::of(recipe),
        heard: OutputLog::new(std::io::stderr()),
        transcript,
    };
    orphan::announce(run)?;
    let killed_before = MemoryKills::now();
    let group =
        Group::spawn(&mut command(run, &words, &kept), recipe.grace()).map_err(|error| {
            orphan::forget(run);
            let program = crate::names::printable(&words[0]);
            Error::Failed(format!("{}{program}`: {error}", step::CANNOT_START))
        })?;
    let mut process = Process { run, group };
    orphan::note(run, process.group.id())?;
    let (output, errors) = process.group.outputs();
    let pipe = |pipe: std::io::Result<Pipe>| pipe.map_err(Error::io("read", "a program's output"));
    let now = Instant::now();
    let running = Running {
        process,
        recipe,
        output: pipe(Pipe::of(output))?,
        errors: pipe(Pipe::of(errors))?,
        text,
        began: now,
        killed_before,
        looked: now,
        // The journal has the reports of earlier sessions, and their table is a copy that may be outdated.
        unseen: has_told,
        publish_at: now,
    };
    running.end(control)
}

impl Running<'_> {
    fn end(mut self, control: &Control) -> Result<Ended> {
        let limit = self.recipe.timeout.map(Duration::from_secs);
        loop {
            if self.read()? == Reading::Nothing {
                wait(&[&self.output, &self.errors], LOOK);
            }
            self.text.journal.write();
            if let Some(epoch) = self.text.reported.lost() {
                self.kill()?;
                return Ok(Ended::With(RunStatus::Diverged { epoch }, self.text.reported.kept()));
            }
            if self.unseen && Instant::now() >= self.publish_at {
                self.publish()?;
            }
            if self.is_lost() {
                self.process.group.kill();
                return Err(Error::LeaseLost { run: self.run().folder().path().to_path_buf() });
            }
            if control.wants_stop_now() {
                self.kill()?;
                return self.interrupted();
            }
            if limit.is_some_and(|limit| self.began.elapsed() > limit) {
                self.kill()?;
                self.read_the_rest()?;
                let seconds = self.recipe.timeout.unwrap_or_default();
                let problem = format!("it was not done after {seconds} s (--timeout)");
                return self.failed(&problem);
            }
            if let Some(status) = self.process.group.ended()? {
                return self.conclude(status, control);
            }
            if let Some(problem) = self.text.reports.unreadable() {
                self.kill()?;
                return self.failed(&problem);
            }
        }
    }

    /// Asks the program to end, reads its output until the time is up, and kills it.
    fn kill(&mut self) -> Result<()> {
        let until = self.process.group.ask_to_end();
        while Instant::now() < until && self.process.group.ended()?.is_none() {
            if self.read()? == Reading::Nothing {
                wait(&[&self.output, &self.errors], LOOK);
            }
            self.text.journal.write();
            if self.is_lost() {
                break;
            }
        }
        self.process.group.kill();
        Ok(())
    }

    fn run(&self) -> &ClaimedRun<ProgramSpec> {
        self.process.run
    }

    /// Returns whether another worker has taken the run.
    fn is_lost(&mut self) -> bool {
        let frozen = std::mem::replace(&mut self.looked, Instant::now()).elapsed() > FROZEN;
        let lease = self.run().lease();
        lease.is_marked_lost() || (frozen && lease.is_lost())
    }

    /// Reads at most one portion of each output. Returns `Reading::Nothing` if both are empty.
    fn read(&mut self) -> Result<Reading> {
        let mut noted = Ok(());
        let (text, unseen) = (&mut self.text, &mut self.unseen);
        let output = self.output.read(|bytes| noted = text.print(bytes, unseen));
        let mut complained = Ok(());
        let errors = self.errors.read(|bytes| complained = text.complain(bytes, unseen));
        noted.and(complained)?;
        match (output, errors) {
            (Err(error), _) | (_, Err(error)) => {
                Err(Error::io("read", "a program's output")(error))
            }
            (Ok(bytes @ Reading::Bytes(_)), _) | (_, Ok(bytes @ Reading::Bytes(_))) => Ok(bytes),
            _ => Ok(Reading::Nothing),
        }
    }

    /// Reads the rest of both outputs after the process has ended. The last line may lack its end.
    fn read_the_rest(&mut self) -> Result<()> {
        let (text, unseen) = (&mut self.text, &mut self.unseen);
        let (mut noted, mut complained) = (Ok(()), Ok(()));
        let keep_first = |kept: &mut Result<()>, now: Result<()>| {
            *kept = std::mem::replace(kept, Ok(())).and(now);
        };
        let output =
            self.output.read_rest(|bytes| keep_first(&mut noted, text.print(bytes, unseen)));
        let errors = self
            .errors
            .read_rest(|bytes| keep_first(&mut complained, text.complain(bytes, unseen)));
        noted.and(complained)?;
        output.and(errors).map_err(Error::io("read", "a program's output"))
    }

    /// Publishes the finished epochs. If the disk refuses the table, the next call tries again.
    fn publish(&mut self) -> Result<()> {
        if self.unseen {
            let began = Instant::now();
            self.unseen = !self.run().publish_metrics(&self.text.reported.ended())?;
            self.publish_at = Instant::now() + PUBLISHED.max(SHARE * began.elapsed());
        }
        Ok(())
    }

    fn interrupted(mut self) -> Result<Ended> {
        // A line that was cut off does not count, because it is not what the program meant to report.
        self.read_the_rest()?;
        self.publish()?;
        Ok(Ended::With(RunStatus::Interrupted, self.text.reported.kept()))
    }

    /// Determines the outcome of a process that has ended by itself.
    fn conclude(mut self, status: ExitStatus, control: &Control) -> Result<Ended> {
        if cfg!(unix) {
            self.read_the_rest()?;
            self.hear_relays()?;
        }
        self.process.group.kill_group();
        if cfg!(not(unix)) {
            self.read_the_rest()?;
        }
        self.text.last_line(status.success())?;
        self.text.reported.settle();
        if let Some(epoch) = self.text.reported.lost() {
            return Ok(Ended::With(RunStatus::Diverged { epoch }, self.text.reported.kept()));
        }
        if !status.success() {
            if was_told_to_end(status, control) {
                return self.interrupted();
            }
            return self.failed(&self.killed_before.explain(MemoryKills::now(), status));
        }
        let reports = &self.text.reports;
        if let Some(problem) =
            reports.unreadable().or_else(|| reports.no_number(&self.text.reported))
        {
            return self.failed(&problem);
        }
        let epochs = self.text.reported.kept();
        let reported = self.run().spec().reported_epoch(&epochs);
        let missing = |name: &&str| reported.is_none_or(|epoch| epoch.get(name).is_none());
        match self.recipe.required().find(missing) {
            None => {
                self.text.journal.end();
                Ok(Ended::With(RunStatus::Finished, epochs))
            }
            Some(name) => self.failed(&self.text.reports.never_told(name, &epochs)),
        }
    }

    /// Reads on for [`RELAY`] if other processes still have the output open.
    fn hear_relays(&mut self) -> Result<()> {
        let until = Instant::now() + RELAY;
        while !self.output.is_at_its_end() && Instant::now() < until {
            wait(&[&self.output], until.saturating_duration_since(Instant::now()));
            self.read()?;
        }
        Ok(())
    }

    fn failed(&mut self, problem: &str) -> Result<Ended> {
        self.publish()?;
        let last = self.text.heard.last();
        let epochs = self.text.reported.epochs().len();
        // The program was never started.
        let not_started = problem == format!("it ended with exit code {}", step::NOT_STARTED)
            && last.starts_with(step::CANNOT_START);
        Ok(Ended::Failed(
            match (not_started, last.is_empty()) {
                (true, _) => last,
                (_, true) => problem.to_owned(),
                _ if problem.ends_with('?') => format!("{problem} It said last:\n{last}"),
                _ => format!("{problem}; its last output:\n{last}"),
            },
            epochs,
        ))
    }
}

impl Text {
    /// Handles bytes of standard output. Sets `unseen` if an epoch has ended.
    fn print(&mut self, bytes: &[u8], unseen: &mut bool) -> Result<()> {
        self.transcript.write(bytes);
        self.hear_output(bytes, unseen)
    }

    fn hear_output(&mut self, bytes: &[u8], unseen: &mut bool) -> Result<()> {
        let mut lines = std::mem::take(&mut self.output);
        let noted = self.hear(&mut lines, bytes, false, unseen);
        self.output = lines;
        noted
    }

    /// Handles bytes of standard error.
    fn complain(&mut self, bytes: &[u8], unseen: &mut bool) -> Result<()> {
        self.transcript.write(bytes);
        self.hear_errors(bytes, unseen)
    }

    fn hear_errors(&mut self, bytes: &[u8], unseen: &mut bool) -> Result<()> {
        let mut lines = std::mem::take(&mut self.errors);
        let noted = self.hear(&mut lines, bytes, true, unseen);
        self.errors = lines;
        noted
    }

    fn hear(
        &mut self,
        lines: &mut Lines,
        bytes: &[u8],
        of_stderr: bool,
        unseen: &mut bool,
    ) -> Result<()> {
        let mut noted = Ok(());
        lines.feed(bytes, |line| {
            self.heard.hear(line);
            if let Some(measures) = self.reports.read(line, of_stderr) {
                if noted.is_ok() {
                    noted = self.journal.note(&measures);
                }
                *unseen |= self.reported.hear(measures);
            }
        });
        noted
    }

    /// Handles the text after the last line end. It counts as a report only if the program ended successfully
    /// (`whole`).
    fn last_line(&mut self, whole: bool) -> Result<()> {
        if whole {
            let errors = self.hear_errors(b"\n", &mut false);
            return self.hear_output(b"\n", &mut false).and(errors);
        }
        let Self { heard, errors, output, .. } = self;
        errors.rest(|line| heard.hear(line));
        output.rest(|line| heard.hear(line));
        Ok(())
    }
}

/// Returns whether a process has failed because its worker should end: a cluster's engine signals both, in any order.
/// If the worker's signal comes later, the run counts as failed, which loses nothing.
fn was_told_to_end(status: ExitStatus, control: &Control) -> bool {
    let until = Instant::now() + if was_terminated(status) { REQUEST } else { Duration::ZERO };
    while !control.wants_stop() && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    control.wants_stop()
}
