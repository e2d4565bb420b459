use super::print;
use super::selection::Selection;
use super::suggested::Suggested;
use crate::activation::NamedActivation;
use crate::comparison::ComparisonReader;
use crate::recipe::{measures, setting};
use crate::runs::{
    ClaimedRun, ComparisonFolder, Experiment, Holder, RunFolder, RunKey, RunStatus, Spec, Stage,
    Watch,
};
use crate::signals::Signals;
use crate::training::{Display, Splits, train};
use crate::worker::{Control, Cores, Redirected, panic_message};
use crate::{Error, Result};
use clap::Args;
use clap::builder::TypedValueParser;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct Train {
    #[command(flatten)]
    selection: Selection,
    /// The activation: a name, or a formula as in mine=x*tanh(x)
    #[arg(long, value_name = "NAME", default_value = "gelu", value_parser = Suggested::activations().try_map(|name| name.parse::<NamedActivation>()))]
    activation: NamedActivation,
    /// Seed of the weights, the order of the batches and the dropout masks
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(..=crate::runs::RunSpec::LARGEST_SEED))]
    seed: u64,
    /// Initial learning rate [default: the experiment's first]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// Dropout rate [default: the experiment's first]
    #[arg(long, value_name = "RATE")]
    dropout: Option<f64>,
    /// Go on without a display when the terminal goes away
    #[arg(long)]
    keep_going: bool,
}

impl Train {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { activation, learning_rate, dropout, seed, selection, keep_going } = self;
        let selected = selection.resolve(|recipe| {
            let varied = &mut recipe.comparison;
            varied.activations = vec![activation];
            varied.baseline = None;
            varied.until_decided = None;
            varied.learning_rates = one(learning_rate, &varied.learning_rates);
            varied.dropout = one(dropout, &varied.dropout);
        })?;
        let varied = &selected.recipe.comparison;
        let key = RunKey {
            setting: setting(
                &varied.activations[0].to_string(),
                varied.learning_rates[0],
                varied.dropout[0],
            ),
            seed,
            stage: Stage::Only,
        };
        let mut comparison = selected.comparison();
        comparison.planned = false;
        let spec = selected.check(&comparison, &key)?;
        selected.devices[0].check()?;
        let (folder, comparison) =
            ComparisonFolder::create(&selected.out, &comparison, ComparisonReader::has_looked)?;
        let folder = folder.run(&spec)?;
        let claimed =
            ClaimedRun::claim(&folder, &spec, &mut Watch::default(), comparison.silence())?;
        let run = claimed.map_err(|holder| busy(&folder, holder.as_ref()))?;
        let (run, device) = (Arc::new(run), &selected.devices[0]);
        let (control, signals) = (Control::default(), Signals::listen()?);
        stop_when(signals.clone(), control.clone(), keep_going);
        let opened = device.open();
        let splits = Splits::new(&selected.data, &spec, &opened)?;
        let threads = Cores::here(1).share(1, selected.recipe.comparison.threads);
        let environment = crate::environment::here(device, threads);
        let status = apart_from_the_terminal(&run, &signals, || {
            let criterion = comparison.recipe.design().criterion();
            train(&run, &splits, &criterion, &opened, &control, &environment, Display::Burn)
        })?;
        conclude(&run, comparison.silence(), &status)
    }
}

/// Trains while standard error, if it is the terminal, goes into the run's log: Burn's display fills the
/// terminal, and what libraries say there when it is gone would be a panic within a panic.
fn apart_from_the_terminal(
    run: &ClaimedRun,
    signals: &Signals,
    train: impl FnOnce() -> Result<RunStatus>,
) -> Result<RunStatus> {
    if !std::io::stderr().is_terminal() {
        return train();
    }
    let log = Redirected::to(&run.log_file())?;
    let trained = catch_unwind(AssertUnwindSafe(train));
    match signals.hung_up() {
        true => std::mem::forget(log),
        false => drop(log),
    }
    trained.unwrap_or_else(|panic| {
        let run = run.folder().path().to_path_buf();
        Err(Error::Run { run, problem: format!("training panicked: {}", panic_message(&*panic)) })
    })
}

fn busy(run: &RunFolder, holder: Option<&Holder>) -> Error {
    let who = holder.map_or_else(|| "another process".to_owned(), ToString::to_string);
    Error::Run {
        run: run.path().to_path_buf(),
        problem: format!("{who} is working on it; wait for it or stop it"),
    }
}

/// The value of a flag, or the first of the recipe's.
fn one(flag: Option<f64>, recipe: &[f64]) -> Vec<f64> {
    flag.or(recipe.first().copied()).into_iter().collect()
}

/// One request ends training after the epoch, a second one now. The terminal's end is a request too,
/// unless training is to keep going.
fn stop_when(signals: Signals, control: Control, keep_going: bool) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            if signals.hung_up() {
                control.terminal_is_gone();
            }
            let hang_up = usize::from(signals.hung_up() && !keep_going);
            match signals.requests() + hang_up {
                0 => {}
                1 => control.stop_after_epoch(),
                _ => control.stop_now(),
            }
        }
    });
}

fn conclude(run: &ClaimedRun, silence: Duration, status: &RunStatus) -> Result<ExitCode> {
    let (folder, spec) = (run.folder(), run.spec());
    let snapshot = folder.snapshot(spec, silence);
    let mut lines = format!("{}: {status}\n", snapshot.name);
    if let Some(reported) = spec.reported_epoch(&snapshot.epochs) {
        lines.push_str(&crate::dashboard::epoch_line(
            &measures(spec.network.loss()),
            reported,
            snapshot.epochs_planned,
        ));
        if let Some(selection) = spec.best_by {
            let of = snapshot.epochs.len();
            lines.push_str(&format!("  (of {of}, the best by {selection})"));
        }
        lines.push('\n');
    }
    lines.push_str(&format!("Saved in {}\n", folder.path().display()));
    print(&lines)?;
    match status {
        RunStatus::Interrupted => Err(Error::Interrupted { out: folder.path().to_path_buf() }),
        _ => Ok(ExitCode::SUCCESS),
    }
}
