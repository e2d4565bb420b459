//! The life of a process: from its start to what it came to.

use super::command::{command, words};
use super::group::{GRACE, Group, LOOK, is_told_to_end, said};
use super::pipes::{Line, listen};
use crate::measure::EpochMetrics;
use crate::program::journal::Journal;
use crate::program::output::Heard;
use crate::program::reports::Reports;
use crate::program::told::Told;
use crate::program::{Study, StudyRun, orphan};
use crate::runs::{ClaimedRun, RunStatus, Spec};
use crate::worker::Control;
use crate::{Error, Result};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long what a process has printed is waited for once it has ended.
const QUIET: Duration = Duration::from_millis(200);
/// A process and its worker that end within this time are ended by the same.
const SAME_TIME: Duration = Duration::from_millis(500);
/// How often epochs are made visible at most.
const PUBLISHED: Duration = Duration::from_millis(100);
/// Of the time, no more than one part in so many goes into making epochs visible: their table is written as a
/// whole.
const SHARE: u32 = 10;

/// How a process ended.
pub(super) enum Ended {
    With(RunStatus, Vec<EpochMetrics>),
    /// Why, and after how many epochs.
    Failed(String, usize),
}

/// A process under way.
pub(super) struct Running<'a> {
    run: &'a ClaimedRun<StudyRun>,
    study: &'a Study,
    process: Group,
    lines: Receiver<Line>,
    journal: Journal,
    told: Told,
    reports: Reports,
    heard: Heard<std::io::Stderr>,
    began: Instant,
    /// Whether epochs have ended that nobody sees yet, and when they may be seen.
    unseen: bool,
    publish_at: Instant,
}

impl<'a> Running<'a> {
    pub(super) fn start(run: &'a ClaimedRun<StudyRun>, study: &'a Study) -> Result<Self> {
        let (words, folder) = (words(run.spec())?, run.folder().path());
        orphan::end(folder)?;
        let mut told = Told::of(study.required());
        let journal = Journal::open(folder, study, &mut told)?;
        let mut process = command(run, &words)?.spawn().map_err(|error| {
            Error::Failed(format!("cannot start `{}`: {error}", crate::names::printable(&words[0])))
        })?;
        if let Err(error) = orphan::note(run.folder().path(), &process) {
            let _ = process.kill();
            return Err(error);
        }
        let lines = listen(&mut process)?;
        Ok(Self {
            run,
            study,
            process: Group::of(process),
            lines,
            journal,
            told,
            reports: Reports::of(study),
            heard: Heard::new(std::io::stderr()),
            began: Instant::now(),
            unseen: false,
            publish_at: Instant::now(),
        })
    }

    pub(super) fn end(mut self, control: &Control) -> Result<Ended> {
        let limit = self.study.timeout.map(Duration::from_secs);
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => self.hear(line)?,
                Err(RecvTimeoutError::Timeout) => {}
                // Nobody has its output open any more: it is at its end, or has closed it.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
            }
            if let Some(epoch) = self.told.lost() {
                self.process.kill();
                return Ok(Ended::With(RunStatus::Diverged { epoch }, self.told.kept()));
            }
            if self.unseen && Instant::now() >= self.publish_at {
                self.publish()?;
            }
            if self.run.lease().is_marked_lost() {
                self.process.kill();
                return Err(Error::LeaseLost { run: self.run.folder().path().to_path_buf() });
            }
            if control.wants_stop_now() {
                self.process.kill();
                return self.interrupted();
            }
            if limit.is_some_and(|limit| self.began.elapsed() > limit) {
                self.process.kill();
                let seconds = self.study.timeout.unwrap_or_default();
                let problem = format!("it was not done after {seconds} s (--timeout)");
                return self.failed(&problem);
            }
            if let Some(status) = self.process.ended()? {
                return self.conclude(status, control);
            }
            if let Some(problem) = self.reports.unreadable() {
                self.process.kill();
                return self.failed(&problem);
            }
        }
    }

    fn hear(&mut self, (line, of_stderr): Line) -> Result<()> {
        self.heard.hear(&line);
        if let Some(told) = self.reports.read(&line, of_stderr) {
            self.journal.note(&told)?;
            self.unseen |= self.told.hear(told);
        }
        Ok(())
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

    /// Hears what a process has said before it ended. What it started may go on and keep its output open.
    fn hear_the_last(&mut self) -> Result<()> {
        let until = Instant::now() + GRACE;
        while Instant::now() < until
            && let Ok(line) = self.lines.recv_timeout(QUIET)
        {
            self.hear(line)?;
        }
        Ok(())
    }

    fn interrupted(mut self) -> Result<Ended> {
        self.hear_the_last()?;
        self.publish()?;
        Ok(Ended::With(RunStatus::Interrupted, self.told.kept()))
    }

    /// What a process that has ended by itself came to.
    fn conclude(mut self, status: ExitStatus, control: &Control) -> Result<Ended> {
        self.hear_the_last()?;
        self.process.kill_group();
        self.told.settle();
        if let Some(epoch) = self.told.lost() {
            return Ok(Ended::With(RunStatus::Diverged { epoch }, self.told.kept()));
        }
        if !status.success() {
            if was_told_to_end(status, control) {
                return self.interrupted();
            }
            return self.failed(&format!("it ended with {}", said(status)));
        }
        if let Some(problem) =
            self.reports.unreadable().or_else(|| self.reports.no_number(&self.told))
        {
            return self.failed(&problem);
        }
        let epochs = self.told.kept();
        let reported = self.run.spec().reported_epoch(&epochs);
        let missing = |name: &&str| reported.is_none_or(|epoch| epoch.get(name).is_none());
        match self.study.required().find(missing) {
            None => Ok(Ended::With(RunStatus::Finished, epochs)),
            Some(name) => self.failed(&self.reports.never_told(name, &epochs)),
        }
    }

    fn failed(&mut self, problem: &str) -> Result<Ended> {
        self.publish()?;
        let last = self.heard.last();
        let said = if last.is_empty() { String::new() } else { format!("; it said last:\n{last}") };
        Ok(Ended::Failed(format!("{problem}{said}"), self.told.epochs().len()))
    }
}

/// Whether a process has failed because its worker is to end: the engine of a cluster signals both, in
/// whichever order.
fn was_told_to_end(status: ExitStatus, control: &Control) -> bool {
    let until = Instant::now() + if is_told_to_end(status) { SAME_TIME } else { Duration::ZERO };
    while !control.wants_stop() && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    control.wants_stop()
}
