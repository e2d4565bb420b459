mod evaluation;
mod found;
mod kept;

use super::print;
use super::written::Writing;
use crate::data::DataSet;
use crate::recipe::limits;
use crate::runs::RunSpec;
use crate::training::{PreparedSplits, evaluate_split, learned_gelus, load_model, measure_noise};
use crate::{Error, Result, data};
use clap::Args;
use evaluation::{Evaluation, table};
use found::{criterion, finished_runs, location};
pub(super) use found::{data_of, run_of};
use gelu_compare::cli::number;
use gelu_compare::runs::RunFolder;
use gelu_learner::device::DeviceName;
use kept::{keep_noise, keep_outcomes};
use std::f64::consts::LN_2;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Eval {
    /// Folder of a comparison or of one run
    folder: PathBuf,
    /// Folder with the data set's files
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Device to evaluate on
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Also measure under noise from Unif[-a, a] for each of these a, and save the results for `gelu report`; an a
    /// that was measured before keeps its result
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number)]
    noise: Vec<f64>,
    /// Save the outcome of each test example, for intervals over new examples, for runs that have not saved it
    #[arg(long)]
    outcomes: bool,
    #[command(flatten)]
    writing: Writing,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.noise.iter().try_for_each(|&amplitude| limits::amplitude(amplitude))?;
        let runs = finished_runs(&self.folder)?;
        let criterion = self.outcomes.then(|| criterion(&self.folder)).transpose()?;
        // Saving with a run requires a run of this version.
        let spec_of = |run: &RunFolder| -> Result<RunSpec> {
            match self.noise.is_empty() && criterion.is_none() {
                true => run.spec_of_any_version(),
                false => run.spec(),
            }
        };
        let device = self.device.map_or_else(DeviceName::default_device, Ok)?;
        device.check()?;
        let device = device.open();
        let first = runs.first().expect("at least one run is finished");
        let first = spec_of(first)?;
        let place = self.data.clone().or_else(|| location(&self.folder, &first.data.set));
        let data = data::load(&first.asked(), place.as_deref())?;
        let text = match &data {
            DataSet::Text(text) => Some(text),
            _ => None,
        };
        if text.is_some() && !self.noise.is_empty() {
            return Err(Error::Usage(
                "noise is added to numbers, and a text has none; leave --noise out".to_owned(),
            ));
        }
        self.writing.check(text)?;
        let mut prepared = PreparedSplits::default();
        let mut evaluations = Vec::new();
        for run in &runs {
            let spec = spec_of(run)?;
            let splits = prepared.of(&spec, &device, || Ok(&data))?;
            let model = load_model(run, &splits.shape(), &device)?;
            let measure = |samples| evaluate_split(&model, &spec.network, samples);
            let train = measure(&splits.train)?;
            let valid = splits.valid.as_ref().map(measure).transpose()?;
            let test = measure(&splits.test)?;
            let outside = splits.outside.as_ref().map(measure).transpose()?;
            let noise = measure_noise(&model, &spec, &splits, &self.noise, &device)?;
            let noise: Vec<_> = noise.into_iter().map(|noisy| noisy.metrics).collect();
            if !noise.is_empty() {
                keep_noise(run, &spec, &noise)?;
            }
            if let Some(criterion) = &criterion {
                keep_outcomes(run, &spec, &model, &splits, criterion, &device)?;
            }
            evaluations.push(Evaluation {
                run: run.path().to_path_buf(),
                activation: spec.activation.to_string(),
                learning_rate: spec.learning_rate,
                dropout: spec.dropout,
                formula: spec.formula.as_ref().map(ToString::to_string),
                seed: spec.seed,
                stage: spec.stage,
                train_loss: train.loss,
                train_error: train.error,
                valid_loss: valid.map(|score| score.loss),
                valid_error: valid.and_then(|score| score.error),
                test_loss: test.loss,
                test_error: test.error,
                test_rmse: test.rmse,
                test_unexplained: test.unexplained,
                test_outside: outside.and_then(|score| score.rmse),
                test_bits_per_byte: text.map(|text| test.loss / (LN_2 * text.bytes_a_character())),
                written: text.and_then(|text| self.writing.write(&model, text, spec.seed)),
                noise,
                learned: learned_gelus(&model),
            });
        }
        print(&match self.json {
            true => {
                let list = serde_json::to_string_pretty(&evaluations);
                format!("{}\n", list.expect("evaluations hold plain values"))
            }
            false => table(&evaluations, data.source().synthetic),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
