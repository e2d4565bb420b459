use super::executable::note_executable;
use super::{BoxError, ProgramBody, ProgramRecipe, ProgramSpec, Run, Work, WrapsFunction};
use crate::Result;
use crate::runs::{ClaimedRun, Environment, Plan, RunStatus};
use crate::worker::{Control, Cores, Trainer, conclude};
use clap::Args;
use std::ffi::OsString;
use std::sync::Arc;

/// A training loop of a program.
pub struct Loop(Box<Function>);

type Function = dyn Fn(&mut Run) -> Result<(), BoxError>;

impl std::fmt::Debug for Loop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loop").finish_non_exhaustive()
    }
}

/// No additional flags.
#[derive(Clone, Copy, Debug, Args)]
pub struct NoFlags {}

impl<F, E> WrapsFunction<F, E> for Loop
where
    F: Fn(&mut Run) -> Result<(), E> + 'static,
    E: Into<BoxError>,
{
    fn wrapping(function: F) -> Self {
        Self(Box::new(move |run| function(run).map_err(Into::into)))
    }
}

impl ProgramBody for Loop {
    type Flags = NoFlags;
    type Trainer<'a> = Loops<'a>;

    fn words(&self, _: &NoFlags) -> Vec<OsString> {
        Vec::new()
    }

    fn trainer<'a>(&'a self, work: Work<'_, NoFlags>) -> Result<Loops<'a>> {
        Ok(Loops { body: self, program: work.program.to_owned(), cores: work.cores })
    }
}

/// Trains by a loop of the program's own.
#[derive(Debug)]
pub struct Loops<'a> {
    body: &'a Loop,
    program: String,
    cores: Cores,
}

impl Trainer for Loops<'_> {
    type Recipe = ProgramRecipe;

    fn environment(&self, _: &Plan<ProgramRecipe>, left: usize) -> Environment {
        let mut here = Environment::of_this_machine();
        here.0.insert("program".to_owned(), self.program.clone().into());
        note_executable(&mut here);
        here.0.insert("threads".to_owned(), self.cores.share(left, usize::MAX).into());
        here
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
        let mut of = Run::new(run.clone(), &plan.recipe, control.clone(), before.seconds);
        let returned = (self.body.0)(&mut of);
        let (status, metrics, seconds) = of.ended(returned);
        conclude(run, status, &metrics, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::examples::{claim, folder, plan};

    #[test]
    fn the_seconds_of_earlier_sessions_count() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, spec) = folder(parent.path());
        let run = Arc::new(claim(&folder, &spec));
        run.set_status(RunStatus::Interrupted, 5000.0).unwrap();
        let body = Loop::wrapping(|run: &mut Run| run.report(1, [("test_error", 0.5)], |_| Ok(())));
        let mut loops = Loops { body: &body, program: "test".to_owned(), cores: Cores::here(1) };
        let (plan, control) = (plan(), Control::default());
        let environment = loops.environment(&plan, 1);
        let status = loops.train(&run, &plan, &environment, &control).unwrap();
        assert_eq!(status, RunStatus::Finished);
        let seconds = folder.status().unwrap().seconds;
        assert!((5000.0..5100.0).contains(&seconds), "{seconds}");
    }
}
