//! Training by a command: its process, and its output.

mod command;
mod group;
mod memory;
mod running;
mod step;

use super::journal::Journal;
use super::{ProgramRecipe, ProgramSpec, contents};
use crate::Result;
use crate::runs::{ClaimedRun, Environment, Plan, RunStatus};
use crate::worker::{Control, Trainer, conclude, fail};
use running::{Ended, carry_out};
use std::sync::Arc;
use std::time::Instant;
pub(in crate::program) use step::BecomeProgram;

/// Trains by a command, and reads measures from its output.
#[derive(Debug, Default)]
pub struct Processes;

impl Trainer for Processes {
    type Recipe = ProgramRecipe;

    fn check(&self, spec: &ProgramSpec) -> Result<()> {
        contents::check(spec)
    }

    fn environment(&self, _: &Plan<ProgramRecipe>, _: usize) -> Environment {
        Environment::of_this_machine()
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun<ProgramSpec>>,
        plan: &Plan<ProgramRecipe>,
        _: &Environment,
        control: &Control,
    ) -> Result<RunStatus> {
        let before = run.status();
        if before.status.is_complete() {
            return Ok(before.status);
        }
        run.set_status(RunStatus::Running, before.seconds)?;
        let began = Instant::now();
        let ended = carry_out(run, &plan.recipe, control);
        let seconds = before.seconds + began.elapsed().as_secs_f64();
        match ended {
            Ok(Ended::With(status, epochs)) => {
                let status = conclude(run, Ok(status), &epochs, seconds)?;
                if status.is_complete() {
                    Journal::forget(run);
                }
                Ok(status)
            }
            Ok(Ended::Failed(reason, epochs)) => fail(run, &reason, seconds, epochs),
            Err(error) => conclude(run, Err(error), &[], seconds),
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
