use super::flags::Values;
use super::{Body, Study, Work};
use crate::cli::stop_on_signals;
use crate::comparison::ComparisonReader;
use crate::dashboard::epoch_line;
use crate::measure::{EpochMetrics, Measure};
use crate::output::print;
use crate::runs::{
    ClaimedRun, Comparison, ComparisonFolder, DataSource, Experiment, RunKey, RunStatus, Spec,
    Stage, Watch,
};
use crate::setting::Setting;
use crate::signals::Signals;
use crate::worker::{Control, Cores, Trainer, fail, panic_message};
use crate::{Error, Result};
use clap::Args;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the run's folder is looked at for epochs to tell.
const INTERVAL: Duration = Duration::from_millis(100);

/// Train one run, and tell its epochs; what it saved is gone on from
#[derive(Debug, Args)]
pub(super) struct Train<F: Args> {
    /// Give an axis a value, as in lr=1e-3 [default: the first of its values]
    #[arg(long, value_name = "AXIS=VALUE")]
    set: Vec<Values>,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder for results [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    flags: F,
}

impl<F: Args> Train<F> {
    pub(super) fn run<B: Body<Flags = F>>(self, mut study: Study, body: &B) -> Result<ExitCode> {
        let Self { set, seed, out, flags } = self;
        body.declare(&mut study);
        study.validate()?;
        let setting = setting(&study, set)?;
        let out = out.unwrap_or_else(|| PathBuf::from("results").join(&study.name));
        let on = body.on(&flags)?;
        let asked = Comparison {
            planned: false,
            lease_seconds: Comparison::<Study>::default_lease(&out),
            ..Comparison::new(study.clone(), DataSource::default(), &on.device, &on.backend)
        };
        let key = RunKey { setting, seed, stage: Stage::Only };
        let spec = asked
            .spec(&key)
            .ok_or_else(|| Error::Usage(format!("this program cannot train a run of {key}")))?;
        let cores = Cores::here(1);
        let work = Work { program: &study.name, comparison: &asked, flags: &flags, cores };
        let mut trainer = body.trainer(work)?;
        trainer.check(&spec)?;
        let (folder, comparison) =
            ComparisonFolder::create(&out, &asked, ComparisonReader::has_looked)?;
        let folder = folder.run(&spec)?;
        let silence = comparison.silence();
        let claimed = ClaimedRun::claim(&folder, &spec, &mut Watch::default(), silence)?;
        let run = Arc::new(claimed.map_err(|holder| Error::Run {
            run: folder.path().to_path_buf(),
            problem: format!(
                "{} is working on it; wait for it or stop it",
                holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string())
            ),
        })?);
        let control = Control::default();
        stop_on_signals(control.clone(), Signals::listen()?)?;
        let environment = trainer.environment(&comparison, 1);
        run.begin_session(&environment, folder.metrics().map_or(0, |epochs| epochs.len()))?;
        let status = told(&run, &study, || {
            let train = || trainer.train(&run, &comparison, &environment, &control);
            catch_unwind(AssertUnwindSafe(train)).unwrap_or_else(|panic| {
                let reason = format!("panicked: {}", panic_message(panic.as_ref()));
                let epochs = run.folder().metrics().map_or(0, |epochs| epochs.len());
                fail(&run, &reason, run.status().seconds, epochs)?;
                Err(Error::Failed(reason))
            })
        })?;
        conclude(folder.path(), &spec.name(), &status)
    }
}

/// The setting that is asked for: where nothing is said, an axis has the first of its values.
fn setting(study: &Study, set: Vec<Values>) -> Result<Setting> {
    let first =
        |axis: &crate::setting::Axis| Some((axis.name.clone(), axis.values.first()?.clone()));
    let mut setting = Setting::new(study.axes.iter().filter_map(first));
    for Values { name, mut values } in set {
        study.knows(&name)?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => setting.set(&name, value),
            _ => {
                return Err(Error::Usage(format!(
                    "{name} is given several values, and one run has one; `compare` compares them"
                )));
            }
        }
    }
    Ok(setting)
}

/// Tells the epochs of a run while it is trained.
fn told<S: Spec>(
    run: &ClaimedRun<S>,
    study: &Study,
    train: impl FnOnce() -> Result<RunStatus>,
) -> Result<RunStatus> {
    let (over, before) = (AtomicBool::new(false), run.folder().metrics().unwrap_or_default());
    std::thread::scope(|scope| {
        let telling = scope.spawn(|| {
            let mut told = before.len();
            loop {
                // Looked at once more when it is over.
                let last = over.load(Ordering::SeqCst);
                let epochs = run.folder().metrics().unwrap_or_default();
                for epoch in epochs.iter().skip(told) {
                    print(&format!("{}\n", line(study, epoch)))?;
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

fn line(study: &Study, epoch: &EpochMetrics) -> String {
    let measures: Vec<Measure> = epoch.measured().map(|(name, _)| study.measure(name)).collect();
    epoch_line(&measures, epoch, epoch.epoch)
}

fn conclude(run: &Path, name: &str, status: &RunStatus) -> Result<ExitCode> {
    print(&format!("{name}: {status}\nSaved in {}\n", run.display()))?;
    match status {
        RunStatus::Interrupted => Err(Error::Interrupted { out: run.to_path_buf() }),
        RunStatus::Failed { .. } => Ok(ExitCode::FAILURE),
        _ => Ok(ExitCode::SUCCESS),
    }
}
