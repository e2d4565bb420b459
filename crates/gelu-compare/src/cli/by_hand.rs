//! Trains a single run in this process, as the `train` commands do.

use super::stop_on_signals;
use crate::comparison::SnapshotReader;
use crate::measure::EpochMetrics;
use crate::output::print;
use crate::runs::{
    ClaimedRun, Comparison, Holder, Plan, Recipe, RunFolder, RunStatus, Spec, Watch,
};
use crate::signals::Signals;
use crate::worker::{Control, fail, panic_message};
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time between two reads of the run's folder for new epochs.
const INTERVAL: Duration = Duration::from_millis(100);

/// A run to train in this process.
#[derive(Debug)]
pub struct ByHand<'a, R: Recipe> {
    /// The comparison's folder. It is created if it does not exist.
    pub out: &'a Path,
    /// The comparison that the folder has to hold.
    pub asked: &'a Plan<R>,
    /// The run's specification.
    pub spec: &'a R::Spec,
    /// Whether training continues without a display if the terminal goes away.
    pub keep_going: bool,
}

/// The reporter of finished epochs while a run is trained.
#[derive(Clone, Copy)]
pub enum Telling<'a> {
    /// The trainer reports them.
    ByTrainer,
    /// One line per epoch, formatted by the function. While the flag is set, the trainer has the terminal and no line
    /// is printed.
    Lines(&'a (dyn Fn(&EpochMetrics) -> String + Sync), &'a AtomicBool),
}

impl std::fmt::Debug for Telling<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Telling")
    }
}

/// A run that was trained in this process.
#[derive(Debug)]
pub struct TrainedRun<R: Recipe> {
    /// The run.
    pub run: Arc<ClaimedRun<R::Spec>>,
    /// The run's status at the end.
    pub status: RunStatus,
    /// Time without a sign of life after which a worker on another host loses its run.
    pub silence: Duration,
}

impl<R: Recipe> ByHand<'_, R> {
    /// Trains the run with `train`. Signals stop it through the [`Control`] that `train` gets.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder holds another comparison or cannot be written, another process works on the
    /// run, or `train` fails or panics.
    pub fn train(
        self,
        telling: Telling<'_>,
        train: impl FnOnce(&Arc<ClaimedRun<R::Spec>>, &Plan<R>, &Control) -> Result<RunStatus>,
    ) -> Result<TrainedRun<R>> {
        let Self { out, asked, spec, keep_going } = self;
        let (folder, plan) = Comparison::create(out, asked, SnapshotReader::has_begun)?;
        let spec = plan.in_order(spec.clone());
        let (folder, silence) = (folder.run(&spec)?, plan.silence());
        let claimed = ClaimedRun::claim(&folder, &spec, &mut Watch::default(), silence)?;
        let run = Arc::new(claimed.map_err(|holder| busy(&folder, holder.as_ref()))?);
        let control = Control::default();
        let tool = (!matches!(telling, Telling::ByTrainer)).then_some(R::Spec::TOOL);
        stop_on_signals(control.clone(), Signals::listen()?, keep_going, tool)?;
        let train = || {
            let train = || train(&run, &plan, &control);
            catch_unwind(AssertUnwindSafe(train)).unwrap_or_else(|panic| {
                let problem = format!("training panicked: {}", panic_message(panic.as_ref()));
                let epochs = run.folder().metrics().map_or(0, |epochs| epochs.len());
                fail(&run, &problem, run.status().seconds, epochs)?;
                Err(Error::Run { run: run.folder().path().to_path_buf(), problem })
            })
        };
        let status = match telling {
            Telling::ByTrainer => train(),
            Telling::Lines(line, taken) => told(&run, line, taken, train),
        }?;
        Ok(TrainedRun { run, status, silence })
    }
}

impl<R: Recipe> TrainedRun<R> {
    /// Prints how the run ended: its name and status, the lines `said`, and its folder.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Interrupted`] if the run was interrupted.
    pub fn conclude(&self, said: &str) -> Result<ExitCode> {
        let (folder, status) = (self.run.folder(), &self.status);
        let name = folder.snapshot(self.run.spec(), self.silence).name;
        print(&format!("{name}: {status}\n{said}Saved in {}\n", folder.path().display()))?;
        match status {
            RunStatus::Interrupted => Err(Error::Interrupted { out: folder.path().to_path_buf() }),
            RunStatus::Failed { .. } => Ok(ExitCode::FAILURE),
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}

fn busy(run: &RunFolder, holder: Option<&Holder>) -> Error {
    let who = holder.map_or_else(|| "another process".to_owned(), ToString::to_string);
    Error::Run {
        run: run.path().to_path_buf(),
        problem: format!("{who} is working on it; wait for it or stop it"),
    }
}

/// Runs `train`, and meanwhile prints one line per finished epoch. Returns the status that `train` returns.
fn told<S: Spec>(
    run: &ClaimedRun<S>,
    line: &(dyn Fn(&EpochMetrics) -> String + Sync),
    taken: &AtomicBool,
    train: impl FnOnce() -> Result<RunStatus>,
) -> Result<RunStatus> {
    let (over, before) = (AtomicBool::new(false), run.folder().metrics().unwrap_or_default());
    std::thread::scope(|scope| {
        let telling = scope.spawn(|| {
            let mut told = before.len();
            loop {
                // Reads the folder once more after the training is over.
                let last = over.load(Ordering::SeqCst);
                let epochs = run.folder().metrics().unwrap_or_default();
                for epoch in epochs.iter().skip(told) {
                    if !taken.load(Ordering::SeqCst) {
                        print(&format!("{}\n", line(epoch)))?;
                    }
                }
                told = told.max(epochs.len());
                if last {
                    return Ok(());
                }
                std::thread::park_timeout(INTERVAL);
            }
        });
        let status = train();
        over.store(true, Ordering::SeqCst);
        telling.thread().unpark();
        let told: Result<()> = telling.join().unwrap_or(Ok(()));
        let status = status?;
        told.map(|()| status)
    })
}
