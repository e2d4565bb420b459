use super::{export, warnings};
use crate::comparison::{SnapshotReader, common_failure, plan};
use crate::dashboard::{self, Mode, PlainReporter, Request};
use crate::export::Target;
use crate::output::{complain, print};
use crate::program::has_output;
use crate::report::{self, Document, table};
use crate::runs::{Recipe, RunSnapshot, RunStatus, Snapshot, Spec};
use crate::signals::Signals;
use crate::worker::{Place, PoolOptions, WorkerPool, retry_failed_runs};
use crate::{Error, Result};
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The shortest time between two reads of the folders while the program prints lines.
const INTERVAL: Duration = Duration::from_millis(100);
/// With many runs a read takes long: between two of them, this process rests this many times as long.
const REST: u32 = 99;
/// The longest time between two reads of the folders.
const LONGEST: Duration = Duration::from_secs(2);

/// Flags for the display while a comparison runs, and for exporting its results.
#[derive(Clone, Debug, Default, Args)]
pub struct DisplayFlags {
    /// Export the results at the end: tensorboard, tensorboard=DIR, mlflow=URL; may be given several times
    #[arg(long, value_name = "TARGET")]
    export: Vec<Target>,
    /// Print one line per epoch instead of the dashboard
    #[arg(long)]
    pub plain: bool,
    /// Print the results as one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Continue without a display if the terminal goes away, and start all runs even if the first run of every
    /// setting fails in the same way
    #[arg(long)]
    keep_going: bool,
    /// Run failed runs again
    #[arg(long)]
    pub retry_failed: bool,
}

/// The outcome of running a comparison.
#[derive(Debug)]
pub struct ComparisonOutcome {
    /// The comparison's state at the end.
    pub snapshot: Snapshot,
    /// Whether no run is left to do.
    pub done: bool,
    /// Number of failed runs and workers, and of files that could not be written.
    pub troubles: usize,
    /// Whether all exports worked.
    exported: bool,
    /// Whether the workers were asked to stop.
    stopped: bool,
    out: PathBuf,
}

impl ComparisonOutcome {
    /// Returns 0 if everything is done, and 1 if something went wrong.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Interrupted`] if the comparison was stopped before it was done.
    pub fn exit_code(&self) -> Result<ExitCode> {
        match (self.done, self.troubles) {
            (false, _) if self.stopped => Err(Error::Interrupted { out: self.out.clone() }),
            (true, 0) if self.exported => Ok(ExitCode::SUCCESS),
            _ => Ok(ExitCode::FAILURE),
        }
    }
}

impl DisplayFlags {
    /// Runs the comparison in `folder` with workers on this machine, one in each of `places`. Shows the progress, and
    /// writes the report at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no comparison in the folder, or no worker can be started.
    pub fn carry_out<R: Recipe>(
        &self,
        folder: &Path,
        places: impl Iterator<Item = impl Into<Place>>,
    ) -> Result<ComparisonOutcome> {
        let signals = Signals::listen()?;
        let mut reader = SnapshotReader::<R>::open(folder)?;
        if self.retry_failed {
            retry_failed_runs(&mut reader)?;
        }
        let before = reader.snapshot();
        if before.criterion.comparisons > 0 && !before.runs.iter().any(|run| run.status.is_over()) {
            complain(&format!("{}: {}\n", R::Spec::TOOL, reader.plan().recipe.design().prospect()));
        }
        let most = plan::most_at_once(reader.plan(), &before);
        let pool = WorkerPool::start(PoolOptions {
            program: std::env::current_exe().map_err(Error::io("find", "this program"))?,
            tool: R::Spec::TOOL.to_owned(),
            folder: folder.to_path_buf(),
            places: places
                .take(most)
                .map(|place| {
                    let mut place: Place = place.into();
                    place.words.extend(self.keep_going.then(|| "--keep-going".into()));
                    place
                })
                .collect(),
            grace: reader.plan().recipe.grace(),
        })?;
        let mut running = Running { reader, pool, signals, keep_going: self.keep_going };
        if !self.plain && !self.json && std::io::stdout().is_terminal() {
            running.with_dashboard()?;
        } else {
            running.with_lines(PlainReporter::after(&before), self.json)?;
        }
        running.conclude(self)
    }
}

/// The workers and the reader that shows their progress.
struct Running<R: Recipe> {
    reader: SnapshotReader<R>,
    pool: WorkerPool,
    signals: Signals,
    keep_going: bool,
}

impl<R: Recipe> Running<R> {
    fn with_dashboard(&mut self) -> Result<()> {
        let Self { reader, pool, signals, .. } = self;
        let pool = std::cell::RefCell::new(pool);
        let left = dashboard::run(
            || Ok((reader.snapshot(), pool.borrow_mut().is_finished())),
            |request| match request {
                Request::StopAfterEpoch => pool.borrow_mut().stop_after_epoch(),
                Request::Quit => pool.borrow_mut().stop_now(),
            },
            Mode::Owning,
            signals,
        );
        match left {
            Ok(dashboard::Outcome::HungUp) => {
                self.without_display();
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => {
                self.without_display();
                Err(error)
            }
        }
    }

    fn with_lines(&mut self, mut reporter: PlainReporter, quiet_output: bool) -> Result<()> {
        let mut stops = Stops::default();
        loop {
            let (began, finished) = (Instant::now(), self.pool.is_finished());
            let lines = reporter.lines(&self.reader.snapshot());
            match quiet_output {
                true => complain(&lines),
                false => print(&lines)?,
            }
            if finished {
                return Ok(());
            }
            match stops.pass_on(&self.signals, &mut self.pool, self.keep_going) {
                0 => {}
                asked => super::say_stopping(R::Spec::TOOL, asked),
            }
            self.wait((began.elapsed() * REST).clamp(INTERVAL, LONGEST), &stops);
        }
    }

    /// Waits for `pause`, until the workers have ended, or until they are to be stopped.
    fn wait(&mut self, pause: Duration, stops: &Stops) {
        let until = Instant::now() + pause;
        while Instant::now() < until
            && !self.pool.is_finished()
            && stops.asked(&self.signals, self.keep_going) <= stops.passed_on
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the workers after the display is gone. Asks them to stop after their epoch unless `keep_going` is
    /// set.
    fn without_display(&mut self) {
        let mut stops = Stops::default();
        if !self.keep_going {
            self.pool.stop_after_epoch();
            stops.passed_on = 1;
        }
        while !self.pool.is_finished() {
            stops.pass_on(&self.signals, &mut self.pool, self.keep_going);
            std::thread::sleep(INTERVAL);
        }
    }

    /// Writes and prints the report, exports the results, and returns the outcome.
    fn conclude(mut self, shown: &DisplayFlags) -> Result<ComparisonOutcome> {
        let (tool, snapshot) = (R::Spec::TOOL, self.reader.snapshot());
        let out = self.reader.folder().path().to_path_buf();
        let document = Document::of(&snapshot);
        let recipe = &self.reader.plan().recipe;
        let written = report::write(&snapshot, recipe, &out);
        match shown.json {
            true => print(&document.to_json())?,
            false => print(&summary(&document, &out, &written.files))?,
        }
        let troubles = self.complain(&snapshot) + written.failures.len();
        for error in &written.failures {
            complain(&format!("{tool}: {error}\n"));
        }
        let exported = export::all(tool, &shown.export, &snapshot, &out, shown.json)?;
        let wanted = plan::next(self.reader.plan(), &snapshot);
        Ok(ComparisonOutcome {
            done: wanted.is_empty(),
            troubles,
            exported,
            stopped: self.pool.was_stopped(),
            snapshot,
            out,
        })
    }

    /// Prints what failed and what could not be read. Returns the number of failures.
    fn complain(&self, snapshot: &Snapshot) -> usize {
        let tool = R::Spec::TOOL;
        let mut failures = Vec::new();
        let alike = common_failure(snapshot).filter(|_| !self.keep_going);
        if let (Some(run), false) = (alike, snapshot.runs.iter().all(|run| run.status.is_over())) {
            complain(&warnings(tool, snapshot));
            complain(&format!(
                "{tool}: {} {}\n{tool}: the first run of every setting failed like this, so no other was \
                 started; put it right and run the command again with --retry-failed, or start them all with --keep-going{}\n",
                run.name,
                run.status,
                self.output_of(run)
            ));
            return 1;
        }
        for run in &snapshot.runs {
            if let RunStatus::Failed { reason } = &run.status {
                let output = self.output_of(run);
                failures.push(format!("{tool}: {} failed: {reason}{output}\n", run.name));
            }
        }
        let advice = match failures.is_empty() {
            true => String::new(),
            false => format!("{tool}: --retry-failed tries failed runs again\n"),
        };
        if failures.is_empty() {
            failures.extend(self.pool.failures().iter().map(|f| format!("{tool}: {}\n", f.0)));
        }
        complain(&warnings(tool, snapshot));
        complain(&(failures.concat() + &advice));
        failures.len()
    }

    /// Returns the command that shows the whole output of a run's program, or an empty string if there is no output.
    fn output_of(&self, run: &RunSnapshot) -> String {
        let folder = self.reader.folder().runs().join(&run.folder);
        match has_output(&folder) {
            true => format!("\nIts whole output: {} log {}", R::Spec::TOOL, folder.display()),
            false => String::new(),
        }
    }
}

/// Counts the requests to stop that were passed on to the workers.
#[derive(Default)]
struct Stops {
    passed_on: usize,
}

impl Stops {
    /// Returns the number of requests to stop so far.
    fn asked(&self, signals: &Signals, keep_going: bool) -> usize {
        signals.requests() + usize::from(signals.hung_up() && !keep_going)
    }

    /// Passes new requests to stop on to the workers. Returns the number of all requests, or 0 if none is new.
    fn pass_on(&mut self, signals: &Signals, pool: &mut WorkerPool, keep_going: bool) -> usize {
        let asked = self.asked(signals, keep_going);
        if asked > self.passed_on {
            self.passed_on = asked;
            match asked {
                1 => pool.stop_after_epoch(),
                _ => pool.stop_now(),
            }
            return asked;
        }
        0
    }
}

fn summary(document: &Document, out: &Path, written: &[std::path::PathBuf]) -> String {
    let names: Vec<String> = written
        .iter()
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    format!("\n{}\nResults in {}: {}\n", table::text(document), out.display(), names.join(", "))
}
