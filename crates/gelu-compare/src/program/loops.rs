use super::{BoxError, Run, Study, StudyRun};
use crate::Result;
use crate::runs::{ClaimedRun, Comparison, Environment, RunStatus};
use crate::worker::{Control, Cores, Trainer, conclude};
use std::sync::Arc;

/// A loop as a program gives it.
pub(super) type Loop = Box<dyn Fn(&mut Run) -> Result<(), BoxError>>;

/// Trains by a loop of the program's own.
pub(super) struct Loops<'a> {
    pub(super) body: &'a Loop,
    pub(super) program: String,
    pub(super) cores: Cores,
}

impl Trainer for Loops<'_> {
    type Experiment = Study;

    fn environment(&self, _: &Comparison<Study>, left: usize) -> Environment {
        let mut here = Environment::of_this_machine();
        here.0.insert("program".to_owned(), self.program.clone().into());
        here.0.insert("threads".to_owned(), self.cores.share(left, usize::MAX).into());
        here
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
        let mut of = Run::new(run.clone(), &comparison.recipe, control.clone(), before.seconds);
        let returned = (self.body)(&mut of);
        let (status, metrics, seconds) = of.ended(returned);
        conclude(run, status, &metrics, seconds)
    }
}
