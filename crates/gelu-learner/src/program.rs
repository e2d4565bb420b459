use crate::Trainable;
use crate::batch_metrics::LOSS;
use crate::flags::Flags;
use crate::learn::{FinishedRun, RunContext, train_run};
use crate::log::log;
use crate::networks::{Networks, check_outcomes, parse_outcomes, set_outcomes};
use crate::session::RunOptions;
use crate::{Error, ModelOutput, Result, Run, Training, environment};
use burn::tensor::Device;
use burn::train::InferenceStep;
use gelu_compare::extension::extend;
use gelu_compare::measure::{Measure, Split};
use gelu_compare::output::complain;
use gelu_compare::program::{
    DeviceNames, ProgramBody, ProgramOf, ProgramRecipe, ProgramSpec, Work, WrapsFunction,
    note_executable,
};
use gelu_compare::runs::{ClaimedRun, Environment, Plan, RunStatus, Spec};
use gelu_compare::setting::Role;
use gelu_compare::worker::{Control, Cores, Trainer};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A program that compares settings of your own network.
pub type Program = ProgramOf<BurnTraining>;

/// The function of a program that returns the [`Training`] of a [`Run`].
pub struct BurnTraining {
    /// The metrics besides the loss that the network's output reports.
    measures: Vec<Measure>,
    train: Arc<dyn TrainRun>,
}

impl std::fmt::Debug for BurnTraining {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BurnTraining").field("measures", &self.measures).finish_non_exhaustive()
    }
}

impl<F, M> WrapsFunction<F, M> for BurnTraining
where
    F: Fn(&Run) -> Result<Training<M>> + Send + Sync + 'static,
    M: Trainable,
{
    fn wrapping(function: F) -> Self {
        probe();
        extend(&[&Networks]);
        let measures = <M as InferenceStep>::Output::metrics();
        let train = Arc::new(TrainingFunction { function: Arc::new(function) });
        Self { measures, train }
    }
}

impl BurnTraining {
    /// Returns the measures of every split.
    fn measures(&self) -> Vec<Measure> {
        let all = || std::iter::once(Measure::named(LOSS)).chain(self.measures.iter().cloned());
        Split::ALL
            .into_iter()
            .flat_map(|split| all().map(move |measure| measure.on(split)))
            .collect()
    }
}

impl ProgramBody for BurnTraining {
    type Flags = Flags;
    type Trainer<'a> = Learner<'a>;

    /// Adds the default measures. The first metric of the output, otherwise of the program, decides on the test set;
    /// tuning chooses by the same metric on the validation set.
    fn declare(&self, recipe: &mut ProgramRecipe) {
        recipe.only_declared = true;
        let of_output = self.measures.first().map(|measure| measure.name.clone());
        let mut of_program = recipe.measures.iter().filter(|measure| measure.split.is_none());
        let of_program = of_program.next().map(|measure| measure.name.clone());
        let first = of_output.or(of_program).unwrap_or_else(|| LOSS.to_owned());
        // A metric declared without a split is declared for each split.
        let of_each = |measure: &Measure| match measure.split {
            None => Split::ALL.iter().map(|split| measure.on(*split)).collect(),
            Some(_) => Vec::new(),
        };
        let of_splits: Vec<Measure> = recipe.measures.iter().flat_map(of_each).collect();
        for measure in of_splits.into_iter().chain(self.measures()) {
            if !recipe.measures.iter().any(|known| known.name == measure.name) {
                recipe.measures.push(measure);
            }
        }
        if recipe.primary.is_empty() {
            recipe.primary = format!("test_{first}");
        }
        let tuned = Role::Tuned.of(&recipe.axes).any(|axis| axis.values.len() > 1);
        if recipe.selection.is_none() && tuned {
            let (_, quantity) = Split::of_name(&recipe.primary);
            recipe.selection = Some(format!("valid_{quantity}"));
        }
        let required: Vec<String> = recipe.required().map(str::to_owned).collect();
        for name in required {
            declare_as_error_of_class(recipe, &name);
        }
    }

    fn on(&self, flags: &Flags) -> Result<DeviceNames> {
        let (device, backend) = flags.names();
        Ok(DeviceNames { device, backend })
    }

    fn words(&self, flags: &Flags) -> Vec<OsString> {
        flags.words()
    }

    fn places(&self, flags: &Flags) -> Vec<Vec<OsString>> {
        flags.places()
    }

    fn trainer<'a>(&'a self, work: Work<'_, Flags>) -> Result<Learner<'a>> {
        let Work { program, plan, flags, cores, display } = work;
        let (name, backend) = flags.names();
        if plan.backend != backend {
            return Err(Error::Usage(format!(
                "the comparison is trained on {}, and results of two backends differ; name a device of \
                 {0} with --device, not {name}",
                plan.backend
            )));
        }
        let (program, device) = (program.to_owned(), flags.open()?);
        let captures = flags.captures();
        Ok(Learner { body: self, program, device, device_name: name, cores, display, captures })
    }
}

/// Declares `test_error_cat` in the unit of `test_error`.
fn declare_as_error_of_class(recipe: &mut ProgramRecipe, name: &str) {
    let is_class_of = |measure: &&Measure| {
        let class = name.strip_prefix(&measure.name);
        class.is_some_and(|class| class.len() > 1 && class.starts_with('_'))
    };
    let (Some(split), quantity) = Split::of_name(name) else { return };
    if let Some(all) = recipe.measures.iter().find(is_class_of) {
        let of_class = Measure { unit: all.unit.clone(), ..Measure::named(quantity).on(split) };
        recipe.declare(of_class.towards(all.direction));
    }
}

/// Runs the separate process that tests a device, if the arguments ask for it, and exits.
fn probe() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, flag, name] = arguments.as_slice() else { return };
    if command != "devices" || flag != "--probe" {
        return;
    }
    let probed = name.parse::<crate::device::DeviceName>().map_err(|error| error.to_string());
    if let Err(reason) = probed.and_then(|device| device.probe()) {
        complain(&format!("{reason}\n"));
        std::process::exit(1);
    }
    std::process::exit(0);
}

/// Trains the runs of a program.
#[derive(Debug)]
pub struct Learner<'a> {
    body: &'a BurnTraining,
    program: String,
    device: Device,
    device_name: String,
    cores: Cores,
    /// Whether steps may be recorded and replayed.
    captures: bool,
    /// Set while Burn's display uses the terminal; `None` if Burn's display is not allowed.
    display: Option<Arc<AtomicBool>>,
}

impl Trainer for Learner<'_> {
    type Recipe = ProgramRecipe;

    fn environment(&self, _: &Plan<ProgramRecipe>, left: usize) -> Environment {
        let threads = self.cores.share(left, usize::MAX);
        let mut here = environment::here(&self.device_name, threads);
        here.0.insert("program".to_owned(), self.program.clone().into());
        note_executable(&mut here);
        here
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun<ProgramSpec>>,
        plan: &Plan<ProgramRecipe>,
        environment: &Environment,
        control: &Control,
    ) -> Result<RunStatus> {
        let recipe = &plan.recipe;
        let options = RunOptions {
            epochs: None,
            required: recipe.required().map(str::to_owned).collect(),
            outcomes: recipe.primary == "test_error",
            higher: recipe.higher_columns(),
        };
        let (device, captures) = (&self.device, self.captures);
        let context = RunContext { run, options, device, environment, control, captures };
        self.body.train.train_run(context, self.display.clone())
    }
}

/// A function that trains a run, whatever the type of its network.
trait TrainRun: Send + Sync {
    fn train_run(
        &self,
        context: RunContext<'_, ProgramSpec>,
        display: Option<Arc<AtomicBool>>,
    ) -> Result<RunStatus>;
}

struct TrainingFunction<F> {
    function: Arc<F>,
}

impl<F, M> TrainRun for TrainingFunction<F>
where
    F: Fn(&Run) -> Result<Training<M>> + Send + Sync + 'static,
    M: Trainable,
{
    fn train_run(
        &self,
        context: RunContext<'_, ProgramSpec>,
        display: Option<Arc<AtomicBool>>,
    ) -> Result<RunStatus> {
        let spec = context.run.spec();
        let run = Run::new(spec.setting.clone(), spec.seed, context.device.clone());
        let function = self.function.clone();
        let training = move |_| {
            let training = function(&run)?;
            Ok(match display {
                Some(taken) => {
                    taken.store(training.has_display(), Ordering::SeqCst);
                    training
                }
                None => training.without_display(),
            })
        };
        train_run(context, training, keep)
    }
}

/// Saves the network of the reported epoch, its confusion table, and the outcome of each test example.
fn keep(finished: FinishedRun<'_, ProgramSpec>) -> Result<()> {
    finished.save_model()?;
    finished.save_confusion()?;
    let Some(bytes) = finished.outcomes()? else { return Ok(()) };
    let Some(reported) = finished.run.spec().reported_epoch(&finished.last.metrics) else {
        return Ok(());
    };
    let outcomes = parse_outcomes(&finished.last.path, &bytes)?;
    match check_outcomes(&outcomes, reported, &[]) {
        Ok(()) => set_outcomes(finished.run, &outcomes),
        Err(problem) => {
            log::<ProgramSpec>(&format!(
                "the outcomes of the test examples are not saved: the file {problem}"
            ));
            Ok(())
        }
    }
}
