//! Training by a command: its process, and what that prints.

mod command;
mod group;
mod pipes;
mod running;

use super::journal::Journal;
use super::{Study, StudyRun, orphan};
use crate::Result;
use crate::runs::{ClaimedRun, Comparison, Environment, RunStatus};
use crate::worker::{Control, Trainer, conclude, fail};
use running::{Ended, Running};
use std::sync::Arc;
use std::time::Instant;

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
        run.set_status(RunStatus::Running, before.seconds)?;
        let began = Instant::now();
        let ended =
            Running::start(run, &comparison.recipe).and_then(|running| running.end(control));
        orphan::forget(run.folder().path());
        let seconds = before.seconds + began.elapsed().as_secs_f64();
        match ended {
            Ok(Ended::With(status, epochs)) => {
                let status = conclude(run, Ok(status), &epochs, seconds)?;
                if status.is_complete() {
                    Journal::forget(run.folder().path());
                }
                Ok(status)
            }
            Ok(Ended::Failed(reason, epochs)) => fail(run, &reason, seconds, epochs),
            Err(error) => conclude(run, Err(error), &[], seconds),
        }
    }
}
