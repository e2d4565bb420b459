use super::print;
use super::selection::{Selected, Selection, activation};
use crate::comparison::{self, Failure, WorkerOptions, Workers};
use crate::dashboard::{self, Mode, PlainReporter, Request};
use crate::report::{self, Document, table};
use crate::runs::{ComparisonFolder, RunFolder, RunSpec, RunStatus};
use crate::training::Splits;
use crate::{Error, Result};
use clap::Args;
use gelu_core::Activation;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the folders are looked at while lines are printed.
const INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    selection: Selection,
    /// Activations to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = activation)]
    activations: Option<Vec<Activation>>,
    /// Runs of each setting, with the seeds 1 to N
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Initial learning rates to try
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    learning_rates: Option<Vec<f64>>,
    /// Dropout rates to try
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    dropout: Option<Vec<f64>>,
    /// Runs to train at the same time [default: one per processor core, one on a GPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Print a line per epoch instead of the dashboard
    #[arg(long)]
    plain: bool,
    /// Print the results as one JSON document on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

/// How the work ended.
struct End {
    failures: Vec<Failure>,
    interrupted: bool,
}

impl Compare {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { activations, seeds, learning_rates, dropout, .. } = self;
        let selected_data = self.selection.data.clone();
        let selected = self.selection.resolve(|recipe| {
            let varied = &mut recipe.comparison;
            varied.activations = activations.unwrap_or_else(|| varied.activations.clone());
            varied.seeds = seeds.unwrap_or(varied.seeds);
            varied.learning_rates = learning_rates.unwrap_or_else(|| varied.learning_rates.clone());
            varied.dropout = dropout.unwrap_or_else(|| varied.dropout.clone());
        })?;
        let Selected { recipe, device, data, .. } = &selected;
        let mut specs = comparison::specs(recipe, device.backend(), &data.source().fingerprint);
        let (folder, runs) = prepare(&selected, &specs)?;
        let plan = |specs: &[RunSpec]| {
            folder.set_plan(&comparison::plan(recipe, &device.to_string(), data.source(), specs))
        };
        plan(&specs)?;
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let options = WorkerOptions {
            program: std::env::current_exe().map_err(Error::io("find", "this program"))?,
            device: device.to_string(),
            data: selected_data,
            jobs: self.jobs.map_or(if device.is_cpu() { cores } else { 1 }, usize::from),
            // Networks of this size train faster on one thread than on two.
            threads: device.is_cpu().then_some(1).filter(|_| !threads_are_chosen()),
        };
        let stop = super::signals::interrupted()?;
        let mut reporter = PlainReporter::after(&folder.snapshot()?);
        let fullscreen = !self.plain && !self.json && std::io::stdout().is_terminal();
        let mut carry_out = |runs: Vec<RunFolder>| {
            let workers = Workers::start(runs, options.clone())?;
            match fullscreen {
                true => with_dashboard(&folder, workers, &stop),
                false => with_lines(&folder, workers, &stop, &mut reporter, self.json),
            }
        };
        let mut end = carry_out(runs)?;
        // What is trained in the end follows from what the tuning runs found.
        let last = comparison::final_specs(recipe, &folder.snapshot()?, &specs);
        if !end.interrupted && !last.is_empty() {
            let (_, runs) = prepare(&selected, &last)?;
            specs.extend(last);
            plan(&specs)?;
            end = carry_out(runs)?;
        }
        conclude(&folder, &end, self.json)
    }
}

fn threads_are_chosen() -> bool {
    std::env::var_os("RAYON_NUM_THREADS").is_some()
}

/// Makes the folders of runs, once it is certain that they can be trained.
pub(super) fn prepare(
    selected: &Selected,
    specs: &[RunSpec],
) -> Result<(ComparisonFolder, Vec<RunFolder>)> {
    specs.iter().try_for_each(|spec| Splits::check(&selected.data, spec))?;
    let folder = ComparisonFolder::create(&selected.out)?;
    let runs = specs.iter().map(|spec| folder.run(spec)).collect::<Result<_>>()?;
    Ok((folder, runs))
}

fn with_dashboard(folder: &ComparisonFolder, workers: Workers, stop: &AtomicBool) -> Result<End> {
    let mut asked_to_stop = false;
    let left = dashboard::run(
        || Ok((folder.snapshot()?, workers.is_finished())),
        |request| match request {
            Request::StopAfterEpoch => {
                asked_to_stop = true;
                workers.stop_after_epoch();
            }
            Request::Quit => workers.stop_now(),
        },
        Mode::Owning,
        stop,
    );
    if left.is_err() || stop.load(Ordering::SeqCst) {
        workers.stop_now();
    }
    let failures = workers.join();
    let quit = left? == dashboard::Outcome::Quit;
    Ok(End { failures, interrupted: quit || asked_to_stop || stop.load(Ordering::SeqCst) })
}

fn with_lines(
    folder: &ComparisonFolder,
    workers: Workers,
    stop: &AtomicBool,
    reporter: &mut PlainReporter,
    quiet_output: bool,
) -> Result<End> {
    let mut tell = || -> Result<()> {
        let lines = reporter.lines(&folder.snapshot()?);
        match quiet_output {
            true => {
                eprint!("{lines}");
                Ok(())
            }
            false => print(&lines),
        }
    };
    while !workers.is_finished() && !stop.load(Ordering::SeqCst) {
        tell()?;
        std::thread::sleep(INTERVAL);
    }
    if stop.load(Ordering::SeqCst) {
        workers.stop_now();
    }
    let failures = workers.join();
    tell()?;
    Ok(End { failures, interrupted: stop.load(Ordering::SeqCst) })
}

/// Reports what there is, and says how it went.
fn conclude(folder: &ComparisonFolder, end: &End, json: bool) -> Result<ExitCode> {
    let snapshot = folder.snapshot()?;
    let document = Document::of(&snapshot);
    let written = report::write(&snapshot, folder.path());
    match json {
        true => print(&document.to_json())?,
        false => print(&summary(&document, folder.path(), written.as_deref().unwrap_or(&[])))?,
    }
    for Failure { run, reason } in &end.failures {
        eprintln!("gelu: {} failed: {reason}", run.display());
    }
    written?;
    let unfinished = snapshot
        .runs
        .iter()
        .any(|run| !run.status.is_complete() && !matches!(run.status, RunStatus::Failed { .. }));
    match (end.interrupted && unfinished, end.failures.is_empty()) {
        (true, _) => Err(Error::Interrupted { out: folder.path().to_path_buf() }),
        (false, true) => Ok(ExitCode::SUCCESS),
        (false, false) => Ok(ExitCode::FAILURE),
    }
}

fn summary(document: &Document, out: &Path, written: &[std::path::PathBuf]) -> String {
    let names: Vec<String> = written
        .iter()
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    format!("\n{}\nResults in {}: {}\n", table::text(document), out.display(), names.join(", "))
}
