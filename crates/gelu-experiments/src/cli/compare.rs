use super::selection::{Selected, Selection};
use super::suggested::Suggested;
use super::{dry_run, export, print};
use crate::activation::ActivationList;
use crate::comparison::{ComparisonReader, plan};
use crate::dashboard::{self, Mode, PlainReporter, Request};
use crate::device::DeviceName;
use crate::export::Target;
use crate::measure::UntilDecided;
use crate::recipe::Recipe;
use crate::report::{self, Document, table};
use crate::runs::{Comparison, ComparisonSnapshot, RunStatus};
use crate::signals::Signals;
use crate::worker::{PoolOptions, WorkerPool, take_up_failed};
use crate::{Error, Result};
use clap::Args;
use clap::builder::TypedValueParser;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How often the folders are looked at while lines are printed.
const INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    pub(super) selection: Selection,
    #[command(flatten)]
    pub(super) varied: Varied,
    /// Runs to train at the same time on each device [default: one per processor core, one on a GPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Say what would be trained, how long that would take (one epoch is trained and timed) and how
    /// much it would leave on disk, and end
    #[arg(long, conflicts_with_all = ["plain", "json"])]
    dry_run: bool,
    /// Export the results in the end: tensorboard, tensorboard=DIR, mlflow=URL; may be given several
    /// times
    #[arg(long, value_name = "TARGET")]
    export: Vec<Target>,
    /// Print a line per epoch instead of the dashboard
    #[arg(long)]
    plain: bool,
    /// Print the results as one JSON document on standard output, and nothing else there
    #[arg(long)]
    json: bool,
    /// Go on without a display when the terminal goes away
    #[arg(long)]
    keep_going: bool,
}

/// What a comparison varies, as flags: shared by `compare` and `submit`.
#[derive(Debug, Args)]
pub(super) struct Varied {
    /// Activations to compare: names, and formulas of your own as in 'gelu,mine=x*tanh(x)'
    #[arg(long, value_name = "LIST", value_parser = Suggested::activations().try_map(|list| list.parse::<ActivationList>()))]
    activations: Option<ActivationList>,
    /// Runs of each setting, with the seeds 1 to N
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// The activation that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME", value_parser = Suggested::activations())]
    baseline: Option<String>,
    /// Add seeds until every comparison is decided: looked at after 10, 15, 20, … of them
    #[arg(long, conflicts_with = "seeds")]
    until_decided: bool,
    /// Give up deciding after N seeds [default: 20]
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    max_seeds: Option<u64>,
    /// Initial learning rates to try
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    learning_rates: Option<Vec<f64>>,
    /// Dropout rates to try
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    dropout: Option<Vec<f64>>,
    /// Seconds after which another host's worker that shows no sign of life has lost its run
    /// [default: 60, and 120 on a network file system]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=Comparison::LONGEST_LEASE))]
    lease: Option<u64>,
}

impl Varied {
    /// Changes of a recipe what the flags say.
    pub(super) fn change(self, recipe: &mut Recipe) {
        let Self { activations, baseline, learning_rates, dropout, .. } = self;
        let Self { seeds, until_decided, max_seeds, .. } = self;
        let varied = &mut recipe.comparison;
        varied.activations = activations.map_or_else(|| varied.activations.clone(), |list| list.0);
        varied.baseline = baseline.or_else(|| varied.baseline.clone());
        varied.seeds = seeds.unwrap_or(varied.seeds);
        varied.until_decided = match (seeds, until_decided) {
            (Some(_), _) => None,
            (None, true) => varied.until_decided.or_else(|| Some(UntilDecided::default())),
            (None, false) => varied.until_decided,
        };
        if let (Some(until), Some(max_seeds)) = (&mut varied.until_decided, max_seeds) {
            until.max_seeds = max_seeds;
        }
        varied.learning_rates = learning_rates.unwrap_or_else(|| varied.learning_rates.clone());
        varied.dropout = dropout.unwrap_or_else(|| varied.dropout.clone());
    }

    /// What is compared, once it is certain that its runs can be trained.
    pub(super) fn select(self, selection: Selection) -> Result<(Selected, Comparison)> {
        let (max_seeds, lease) = (self.max_seeds, self.lease);
        let selected = selection.resolve(|recipe| self.change(recipe))?;
        if max_seeds.is_some() && selected.recipe.comparison.until_decided.is_none() {
            return Err(Error::Usage(
                "--max-seeds says when deciding is given up; it goes with --until-decided"
                    .to_owned(),
            ));
        }
        let mut comparison = selected.comparison();
        comparison.lease_seconds = lease.unwrap_or(comparison.lease_seconds);
        for key in plan::grid(&comparison.recipe) {
            selected.check(&comparison, &key)?;
        }
        Ok((selected, comparison))
    }
}

impl Compare {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { selection, varied, jobs, plain, json, keep_going, dry_run, export } = self;
        let jobs = jobs.map(usize::from);
        let (selected, comparison) = varied.select(selection)?;
        selected.devices.iter().try_for_each(DeviceName::check)?;
        if dry_run {
            return dry_run::run(&selected, &comparison, jobs);
        }
        let folder = selected.make_folder(&comparison)?;
        let Selected { devices, data_folder: data, .. } = selected;
        let jobs = jobs.unwrap_or_else(|| jobs_on(&devices[0]));
        let signals = Signals::listen()?;
        let mut reader = ComparisonReader::open(folder.path())?;
        take_up_failed(&mut reader)?;
        let before = reader.snapshot();
        let most = plan::most_at_once(reader.comparison(), &before);
        let places = (0..jobs).flat_map(|_| devices.iter().map(ToString::to_string));
        let pool = WorkerPool::start(PoolOptions {
            program: std::env::current_exe().map_err(Error::io("find", "this program"))?,
            folder: folder.path().to_path_buf(),
            places: places.take(most).collect(),
            data,
        })?;
        let mut shown = Shown { reader, pool, signals, keep_going };
        if !plain && !json && std::io::stdout().is_terminal() {
            shown.with_dashboard()?;
        } else {
            shown.with_lines(PlainReporter::after(&before), json)?;
        }
        shown.conclude(json, &export)
    }
}

/// How many runs train at the same time on each device, if nobody says.
pub(super) fn jobs_on(device: &DeviceName) -> usize {
    match device.is_cpu() {
        true => std::thread::available_parallelism().map_or(1, |n| n.get()),
        false => 1,
    }
}

/// Workers at work, and what is shown of it.
struct Shown {
    reader: ComparisonReader,
    pool: WorkerPool,
    signals: Signals,
    keep_going: bool,
}

impl Shown {
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
            let finished = self.pool.is_finished();
            let lines = reporter.lines(&self.reader.snapshot());
            match quiet_output {
                true => super::complain(&lines),
                false => print(&lines)?,
            }
            if finished {
                return Ok(());
            }
            stops.pass_on(&self.signals, &mut self.pool, self.keep_going);
            self.wait();
        }
    }

    /// Waits until it is time to look again, or the workers have ended.
    fn wait(&mut self) {
        let mut left = INTERVAL;
        while left > Duration::ZERO && !self.pool.is_finished() {
            let step = left.min(Duration::from_millis(10));
            std::thread::sleep(step);
            left -= step;
        }
    }

    /// Waits for the workers where there is nobody to show anything to.
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

    /// Reports what there is, and says how it went.
    fn conclude(mut self, json: bool, exports: &[Target]) -> Result<ExitCode> {
        let snapshot = self.reader.snapshot();
        let out = self.reader.folder().path().to_path_buf();
        let document = Document::of(&snapshot);
        let written = report::write(&snapshot, &self.reader.comparison().recipe, &out);
        match json {
            true => print(&document.to_json())?,
            false => print(&summary(&document, &out, &written.files))?,
        }
        let troubles = self.complain(&snapshot) + written.failures.len();
        for error in &written.failures {
            super::complain(&format!("gelu: {error}\n"));
        }
        let exported = export::all(exports, &snapshot, &out, json)?;
        let troubles = troubles + usize::from(!exported);
        let wanted = plan::next(self.reader.comparison(), &snapshot);
        match (wanted.is_empty(), troubles) {
            (false, _) if self.pool.was_stopped() => Err(Error::Interrupted { out }),
            (true, 0) => Ok(ExitCode::SUCCESS),
            _ => Ok(ExitCode::FAILURE),
        }
    }

    /// Says what failed and what could not be read; how much failed.
    fn complain(&self, snapshot: &ComparisonSnapshot) -> usize {
        let mut failures = Vec::new();
        for run in &snapshot.runs {
            if let RunStatus::Failed { reason } = &run.status {
                failures.push(format!("gelu: {} failed: {reason}\n", run.key));
            }
        }
        if failures.is_empty() {
            failures.extend(self.pool.failures().iter().map(|f| format!("gelu: {}\n", f.0)));
        }
        super::complain(&super::warnings(snapshot));
        super::complain(&failures.concat());
        failures.len()
    }
}

/// Requests to stop that were passed on to the workers.
#[derive(Default)]
struct Stops {
    passed_on: usize,
}

impl Stops {
    fn pass_on(&mut self, signals: &Signals, pool: &mut WorkerPool, keep_going: bool) {
        let hang_up = usize::from(signals.hung_up() && !keep_going);
        let asked = signals.requests() + hang_up;
        if asked > self.passed_on {
            self.passed_on = asked;
            match asked {
                1 => pool.stop_after_epoch(),
                _ => pool.stop_now(),
            }
        }
    }
}

fn summary(document: &Document, out: &Path, written: &[std::path::PathBuf]) -> String {
    let names: Vec<String> = written
        .iter()
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    format!("\n{}\nResults in {}: {}\n", table::text(document), out.display(), names.join(", "))
}
