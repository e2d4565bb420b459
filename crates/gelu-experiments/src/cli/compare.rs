use super::own::say_how_read;
use super::selection::{SelectedRecipe, Selection};
use super::suggested::Suggested;
use super::{chance, dry_run, print};
use crate::Result;
use crate::recipe::Recipe;
use crate::runs::Plan;
use clap::Args;
use clap::builder::TypedValueParser;
use gelu_compare::cli::{DisplayFlags, Seeds};
use gelu_compare::cli::{OverFlags, count, no_worse, number, whole};
use gelu_compare::comparison::plan;
use gelu_compare::measure::NoWorse;
use gelu_compare::output::complain;
use gelu_compare::runs::Recipe as _;
use gelu_learner::activation::{ActivationList, listed};
use gelu_learner::device::DeviceName;
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    pub(super) selection: Selection,
    #[command(flatten)]
    pub(super) varied: VariationFlags,
    /// Runs to train at the same time on each device [default: one per processor core, one on a GPU]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=65535))]
    jobs: Option<u16>,
    /// Train up to N runs of one small network as one program, on the CPU, to the same results [default: as many as are
    /// fastest]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    cohort: Option<u16>,
    /// Print the planned runs, their time (from training one epoch) and their disk space, and end
    #[arg(long, conflicts_with_all = ["plain", "json"])]
    dry_run: bool,
    #[command(flatten)]
    shown: DisplayFlags,
}

/// Flags of what a comparison varies, shared by `compare` and `submit`.
#[derive(Debug, Args)]
pub(super) struct VariationFlags {
    /// Activations to compare: names, and formulas of your own, as in 'gelu,mine=x*tanh(x)'
    #[arg(long, value_name = "LIST", value_parser = Suggested::activations().try_map(|list| list.parse::<ActivationList>()))]
    activations: Option<ActivationList>,
    #[command(flatten)]
    seeds: Seeds,
    /// Call no activation better that may be worse in another metric by more than this, as in test-loss=0.01
    #[arg(long, value_name = "METRIC=DIFFERENCE", value_parser = no_worse)]
    no_worse: Option<NoWorse>,
    #[command(flatten)]
    over: OverFlags,
    /// Maximum probability of a wrong verdict in the table [default: 0.05]
    #[arg(long, value_name = "PROBABILITY", value_parser = number)]
    level: Option<f64>,
    /// Activation to compare the others with [default: the first]
    #[arg(long, value_name = "NAME", value_parser = Suggested::activations())]
    baseline: Option<String>,
    /// Initial learning rates to try
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number)]
    learning_rates: Option<Vec<f64>>,
    /// Dropout rates to try
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number)]
    dropout: Option<Vec<f64>>,
    /// Numbers of neurons in the hidden layers to try, each with its own verdicts
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count::<usize>)]
    widths: Option<Vec<usize>>,
    /// Numbers of hidden layers to try, each with its own verdicts
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count::<usize>)]
    depths: Option<Vec<usize>>,
    /// Batch sizes to try, each with its own verdicts
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count::<usize>, conflicts_with = "batch_size")]
    batch_sizes: Option<Vec<usize>>,
    /// Tables of a folder to learn, by their file names without endings [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tables: Option<Vec<String>>,
    /// Formulas to learn: names from the experiment, and your own, as in 'runge,wave=sin(3*x)*y'
    #[arg(long, value_name = "LIST")]
    formulas: Option<String>,
}

impl VariationFlags {
    /// Applies the flags to `recipe`.
    ///
    /// # Errors
    ///
    /// If a formula is neither one of the recipe's nor a valid formula.
    pub(super) fn change(self, recipe: &mut Recipe) -> Result<()> {
        let Self { activations, baseline, learning_rates, dropout, formulas, seeds, .. } = self;
        let Self { widths, depths, batch_sizes, tables, no_worse, over, level, .. } = self;
        let varied = &mut recipe.comparison;
        varied.activations = activations.map_or_else(|| varied.activations.clone(), |list| list.0);
        varied.baseline = baseline.or_else(|| varied.baseline.clone());
        seeds.change(&mut varied.seeds, &mut varied.until_decided);
        varied.no_worse = no_worse.or(varied.no_worse.take());
        over.change(&mut varied.over);
        varied.level = level.or(varied.level);
        varied.learning_rates = learning_rates.unwrap_or_else(|| varied.learning_rates.clone());
        varied.dropout = dropout.unwrap_or_else(|| varied.dropout.clone());
        varied.widths = widths.unwrap_or_else(|| varied.widths.clone());
        varied.depths = depths.unwrap_or_else(|| varied.depths.clone());
        varied.batch_sizes = batch_sizes.unwrap_or_else(|| varied.batch_sizes.clone());
        varied.tables = tables.unwrap_or_else(|| varied.tables.clone());
        if let Some(list) = formulas {
            let chosen = listed(&list).map(|text| varied.formula(text));
            varied.formulas = chosen.collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Resolves the flags into a comparison, after checking that its runs can be trained.
    pub(super) fn select(self, selection: Selection) -> Result<(SelectedRecipe, Plan)> {
        let seeds = self.seeds.clone();
        let mut selected = selection.resolve(|recipe| self.change(recipe))?;
        // With a verdict over tasks, the number of seeds does not limit the verdict.
        if selected.is_built_in && selected.recipe.comparison.over.is_none() {
            let rule = selected.recipe.design().rule();
            let number = &mut selected.recipe.comparison.seeds;
            seeds.raise::<Recipe>(&rule, number, &selected.out);
        }
        seeds.check(selected.recipe.comparison.until_decided)?;
        let mut plan = selected.plan();
        plan.lease_seconds = seeds.lease::<Recipe>(&selected.out)?;
        selected.check(&plan, plan::grid(&plan.recipe.design()))?;
        Ok((selected, plan))
    }
}

impl Compare {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { selection, varied, jobs, cohort, dry_run, shown } = self;
        let jobs = jobs.map(usize::from);
        let (selected, plan) = varied.select(selection)?;
        selected.devices.iter().try_for_each(DeviceName::check)?;
        say_how_read(&selected.data, &selected.recipe.comparison.tables, |line| {
            match shown.json {
                true => {
                    complain(&format!("gelu: {line}"));
                    Ok(())
                }
                false => print(line),
            }
        })?;
        if dry_run {
            return dry_run::run(&selected, &plan, jobs);
        }
        let folder = selected.make_folder(&plan)?;
        if let (Some(_), false) = (&selected.made, shown.json) {
            print(&format!(
                "Saved the recipe as {}; to change it, edit a copy and run `gelu compare --recipe COPY`\n",
                selected.recipe_file().display()
            ))?;
        }
        let jobs = selected.jobs(jobs);
        let chance = chance::of_chance(&selected.data, &plan.recipe);
        let flags: Vec<_> = selected.devices.iter().map(|device| selected.words(device)).collect();
        let SelectedRecipe { data_folder, data, .. } = selected;
        // Workers read the data themselves; this process would hold them until all workers end.
        drop(data);
        let place = |flags: &Vec<OsString>| {
            let mut place = flags.clone();
            if let Some(data) = &data_folder {
                place.extend(["--data".into(), data.into()]);
            }
            if let Some(cohort) = cohort {
                place.extend(["--cohort".into(), cohort.to_string().into()]);
            }
            place
        };
        let places = (0..jobs).flat_map(|_| flags.iter().map(place));
        let carried_out = shown.carry_out::<Recipe>(folder.path(), places)?;
        if let Some(chance) = chance {
            chance::warn(folder.path(), chance)?;
        }
        carried_out.exit_code()
    }
}
