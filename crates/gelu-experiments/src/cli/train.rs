use super::selection::Selection;
use super::suggested::Suggested;
use crate::Result;
use crate::recipe::{Recipe, measures};
use crate::training::{Display, Splits, train};
use clap::Args;
use clap::builder::TypedValueParser;
use gelu_compare::cli::{ByHand, Telling, TrainedRun};
use gelu_compare::cli::{number, whole};
use gelu_compare::dashboard::epoch_line;
use gelu_compare::runs::{Recipe as _, RunKey, Spec, Stage};
use gelu_compare::worker::Cores;
use gelu_learner::activation::NamedActivation;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Train {
    #[command(flatten)]
    selection: Selection,
    /// Activation: a name, or a formula as in mine=x*tanh(x)
    #[arg(long, value_name = "NAME", default_value = "gelu", value_parser = Suggested::activations().try_map(|name| name.parse::<NamedActivation>()))]
    activation: NamedActivation,
    /// Seed of the weights, the order of the batches and the dropout masks
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = whole::<u64>(0..=crate::runs::RunSpec::LARGEST_SEED))]
    seed: u64,
    /// Initial learning rate [default: the experiment's first]
    #[arg(long, value_name = "RATE", value_parser = number)]
    learning_rate: Option<f64>,
    /// Dropout rate [default: the experiment's first]
    #[arg(long, value_name = "RATE", value_parser = number)]
    dropout: Option<f64>,
    /// Formula to learn, by its name in the experiment or as in wave=sin(3*x)*y [default: the experiment's first]
    #[arg(long, value_name = "FORMULA")]
    formula: Option<String>,
    /// Continue without a display if the terminal closes
    #[arg(long)]
    keep_going: bool,
}

impl Train {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { activation, learning_rate, dropout, formula, seed, selection, keep_going } =
            self;
        let selected = selection.resolve(|recipe| {
            let varied = &mut recipe.comparison;
            varied.activations = vec![activation];
            varied.baseline = None;
            varied.until_decided = None;
            varied.learning_rates = one(learning_rate, &varied.learning_rates);
            varied.dropout = one(dropout, &varied.dropout);
            match formula {
                Some(text) => varied.formulas = vec![varied.formula(&text)?],
                None => varied.formulas.truncate(1),
            }
            varied.widths.truncate(1);
            varied.depths.truncate(1);
            varied.batch_sizes.truncate(1);
            varied.tables.truncate(1);
            Ok(())
        })?;
        // Each axis has one value, except the tables of a folder; the run takes the first table.
        let setting = selected.recipe.design().settings().swap_remove(0);
        let key = RunKey { setting, seed, stage: Stage::Only };
        let mut comparison = selected.plan();
        comparison.planned = false;
        selected.check(&comparison, [key.clone()])?;
        let spec = comparison.spec(&key).expect("a recipe's activations are its own");
        selected.devices[0].check()?;
        let device = &selected.devices[0];
        let by_hand = ByHand { out: &selected.out, asked: &comparison, spec: &spec, keep_going };
        let trained = by_hand.train(Telling::ByTrainer, |run, comparison, control| {
            let opened = device.open();
            let splits = Splits::new(&selected.data, run.spec(), &opened)?;
            let threads = Cores::here(1).share(1, selected.recipe.comparison.threads);
            let environment = crate::environment::here(device, threads);
            let criterion = comparison.recipe.design().criterion();
            let how = (Display::Burn, selected.captures);
            train(run, &splits, &criterion, &opened, control, &environment, how)
        })?;
        let primary = comparison.criterion().primary;
        trained.conclude(&reported(&trained, &primary))
    }
}

/// Returns the value of the flag, or the first value of the recipe.
fn one(flag: Option<f64>, recipe: &[f64]) -> Vec<f64> {
    flag.or(recipe.first().copied()).into_iter().collect()
}

/// Returns a line about the reported epoch.
fn reported(trained: &TrainedRun<Recipe>, primary: &str) -> String {
    let (folder, spec) = (trained.run.folder(), trained.run.spec());
    let snapshot = folder.snapshot(spec, trained.silence);
    let Some(reported) = spec.reported_epoch(&snapshot.epochs) else { return String::new() };
    let measures = measures(spec.loss());
    let mut line = epoch_line(&measures, primary, reported, Some(snapshot.epochs_planned));
    if let Some(selection) = spec.best_by {
        line.push_str(&format!("  (of {}, the best by {selection})", snapshot.epochs.len()));
    }
    line.push('\n');
    line
}
