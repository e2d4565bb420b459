use super::flags::Values;
use super::{ProgramBody, ProgramRecipe, Work};
use crate::cli::count;
use crate::cli::{ByHand, Telling};
use crate::dashboard::epoch_line;
use crate::measure::{EpochMetrics, Measure};
use crate::runs::{DataSource, Plan, Recipe, RunKey, Stage};
use crate::setting::Setting;
use crate::worker::{Cores, Trainer};
use crate::{Error, Result};
use clap::Args;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Train one run and report its epochs, continuing from saved state
#[derive(Debug, Args)]
pub(super) struct Train<F: Args> {
    /// Give an axis a value, as in lr=1e-3 [default: the first of its values]
    #[arg(long, value_name = "AXIS=VALUE")]
    set: Vec<Values>,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u64>)]
    seed: u64,
    /// Folder for results [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one line per epoch instead of the program's display, if it has one
    #[arg(long)]
    plain: bool,
    /// Continue without a display if the terminal goes away
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    flags: F,
}

impl<F: Args> Train<F> {
    pub(super) fn run<B: ProgramBody<Flags = F>>(
        self,
        mut recipe: ProgramRecipe,
        body: &B,
    ) -> Result<ExitCode> {
        let Self { set, seed, out, plain, keep_going, flags } = self;
        body.declare(&mut recipe);
        recipe.validate()?;
        let setting = setting(&recipe, set)?;
        let out = out.unwrap_or_else(|| PathBuf::from("results").join(&recipe.name));
        let on = body.on(&flags)?;
        let asked = Plan {
            planned: false,
            lease_seconds: Plan::<ProgramRecipe>::default_lease(&out),
            ..Plan::new(recipe.clone(), DataSource::default(), &on.device, &on.backend)
        };
        let key = RunKey { setting, seed, stage: Stage::Only };
        let spec = asked
            .spec(&key)
            .ok_or_else(|| Error::Usage(format!("this program cannot train a run of {key}")))?;
        super::executable::announce_change(&out);
        let taken = Arc::new(AtomicBool::new(false));
        let display = (!plain && std::io::stdout().is_terminal()).then(|| taken.clone());
        let cores = Cores::here(1);
        let work = Work { program: &recipe.name, plan: &asked, flags: &flags, cores, display };
        let mut trainer = body.trainer(work)?;
        trainer.check(&spec)?;
        let line = |epoch: &EpochMetrics| {
            let measures: Vec<Measure> =
                epoch.measured().map(|(name, _)| recipe.measure(name)).collect();
            epoch_line(&measures, &recipe.primary, epoch, None)
        };
        let by_hand = ByHand { out: &out, asked: &asked, spec: &spec, keep_going };
        let trained = by_hand.train(Telling::Lines(&line, &taken), |run, plan, control| {
            let environment = trainer.environment(plan, 1);
            let epochs = run.folder().metrics().map_or(0, |epochs| epochs.len());
            run.begin_session(&environment, epochs)?;
            trainer.train(run, plan, &environment, control)
        })?;
        trained.conclude("")
    }
}

/// Returns the requested setting. Axes without a flag have the first of their values.
fn setting(recipe: &ProgramRecipe, set: Vec<Values>) -> Result<Setting> {
    let first =
        |axis: &crate::setting::Axis| Some((axis.name.clone(), axis.values.first()?.clone()));
    let mut setting = Setting::new(recipe.axes.iter().filter_map(first));
    for Values { name, mut values } in set {
        let axis = recipe.knows(&name)?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => setting.set(&name, axis.typed(value)),
            _ => {
                return Err(Error::Usage(format!(
                    "{name} is given several values, and one run has one; `compare` compares them"
                )));
            }
        }
    }
    Ok(setting)
}
