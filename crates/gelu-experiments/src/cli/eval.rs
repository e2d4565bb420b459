use super::print;
use super::written::Writing;
use crate::comparison::{ComparisonReader, label};
use crate::data::DataSet;
use crate::device::DeviceName;
use crate::measure::{Criterion, NoiseMetrics, check_outcomes};
use crate::recipe::limits;
use crate::report::table::number_table;
use crate::runs::{
    ClaimedRun, Comparison, ComparisonFolder, Experiment, RunFolder, RunSnapshot, RunSpec,
    RunStatus, Spec, Stage, Watch,
};
use crate::training::{
    LearnedGelu, Network, Splits, Spread, evaluate_split, examine, learned_gelus, load_model,
    measure_noise,
};
use crate::{Error, Result, data};
use burn::tensor::Device;
use clap::Args;
use serde::Serialize;
use std::f64::consts::LN_2;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct Eval {
    /// A comparison's folder, or that of one run
    folder: PathBuf,
    /// Folder that holds the data set's files
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Device to evaluate on
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Measure under noise from Unif[-a, a] too, for each of these a, and keep the results for
    /// `gelu report`; an a that was measured before keeps its own
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    noise: Vec<f64>,
    /// Keep what each network makes of each test example, for intervals over new examples, where its
    /// run has not kept it
    #[arg(long)]
    outcomes: bool,
    #[command(flatten)]
    writing: Writing,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// What one trained network achieves.
#[derive(Debug, Serialize)]
struct Evaluation {
    run: PathBuf,
    activation: String,
    learning_rate: f64,
    dropout: f64,
    seed: u64,
    stage: Stage,
    train_loss: f64,
    train_error: Option<f64>,
    valid_loss: Option<f64>,
    valid_error: Option<f64>,
    test_loss: f64,
    test_error: Option<f64>,
    /// Of a text: the test loss in bits a byte of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_bits_per_byte: Option<f64>,
    /// What the network of a text wrote, where it was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    noise: Vec<NoiseMetrics>,
    /// Of a network whose GELUs are learned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    learned: Vec<LearnedGelu>,
}

impl Eval {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.noise.iter().try_for_each(|&amplitude| limits::amplitude(amplitude))?;
        let runs = finished_runs(&self.folder)?;
        let criterion = self.outcomes.then(|| criterion(&self.folder)).transpose()?;
        // What is kept with a run has to be of this version, as the run.
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
        let data = data::load(&first.data.asked(), place.as_deref())?;
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
        let mut evaluations = Vec::new();
        for run in &runs {
            let spec = spec_of(run)?;
            let splits = Splits::new(&data, &spec, &device)?;
            let model = load_model(run, &splits, &device)?;
            let measure = |samples| evaluate_split(&model, &spec.network, samples);
            let train = measure(&splits.train)?;
            let valid = splits.valid.as_ref().map(measure).transpose()?;
            let test = measure(&splits.test)?;
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
                seed: spec.seed,
                stage: spec.stage,
                train_loss: train.loss,
                train_error: train.error,
                valid_loss: valid.map(|score| score.loss),
                valid_error: valid.and_then(|score| score.error),
                test_loss: test.loss,
                test_error: test.error,
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

/// Keeps what was measured under noise with the run. An amplitude that was measured before keeps its
/// result: a verdict may go by it, and noise is a function of the amplitude, so that all runs of a
/// comparison saw the same, whichever list it stood in.
fn keep_noise(run: &RunFolder, spec: &RunSpec, noise: &[NoiseMetrics]) -> Result<()> {
    let claimed = claim(run, spec)?;
    // Read while nobody else can add to it.
    let mut all = run.snapshot(spec, silence(run)).noise;
    for point in noise {
        if all.iter().all(|known| known.amplitude != point.amplitude) {
            all.push(*point);
        }
    }
    all.sort_by(|a, b| a.amplitude.total_cmp(&b.amplitude));
    claimed.set_noise(&all)
}

/// Keeps what the network of a run makes of each test example, unless that was kept already.
fn keep_outcomes(
    run: &RunFolder,
    spec: &RunSpec,
    model: &Network,
    splits: &Splits,
    criterion: &Criterion,
    device: &Device,
) -> Result<()> {
    let snapshot = run.snapshot(spec, silence(run));
    let reported = spec.reported_epoch(&snapshot.epochs);
    let Some(reported) = reported.filter(|_| snapshot.outcomes_of(criterion).is_none()) else {
        return Ok(());
    };
    let examined = examine(model, spec, splits, criterion, reported, device)?;
    let Some(outcomes) = examined.outcomes else { return Ok(()) };
    check_outcomes(&outcomes, reported, &snapshot.noise).map_err(|problem| Error::Run {
        run: run.path().to_path_buf(),
        problem: format!(
            "what its network makes of the test examples here is not kept: it {problem}; measure it on \
             the device and the kind of processor that it was trained on"
        ),
    })?;
    claim(run, spec)?.set_outcomes(&outcomes)
}

/// How long a worker on another host may be without a heartbeat.
fn silence(run: &RunFolder) -> Duration {
    Duration::from_secs(Comparison::default_lease(run.path()))
}

fn claim(run: &RunFolder, spec: &RunSpec) -> Result<ClaimedRun> {
    let claimed = ClaimedRun::claim(run, spec, &mut Watch::default(), silence(run))?;
    claimed.map_err(|_| Error::Run {
        run: run.path().to_path_buf(),
        problem: "another process is working on it, so what was measured cannot be kept".to_owned(),
    })
}

/// The comparison's folder: this one, or that in which the folder of a run lies.
fn comparison_of(folder: &Path) -> PathBuf {
    match folder.join("run.toml").exists() {
        true => folder.join("../.."),
        false => folder.to_path_buf(),
    }
}

/// Where the comparison's data were read from, if they are still there or have no customary place.
fn location(folder: &Path, set: &str) -> Option<PathBuf> {
    let comparison = ComparisonFolder::open(&comparison_of(folder)).ok()?.comparison().ok()?;
    let is_own = data::own::kinds().iter().any(|kind| kind.name == set);
    comparison.data.location.filter(|place| is_own || place.exists())
}

/// What the comparison is decided by.
fn criterion(folder: &Path) -> Result<Criterion> {
    let comparison = comparison_of(folder);
    let criterion = ComparisonFolder::open(&comparison)?.comparison()?.recipe.design().criterion();
    match criterion.primary.as_str() {
        "train-loss" => Err(Error::Usage(format!(
            "{} is decided by the training loss, which is no mean over test examples; there is nothing to keep",
            comparison.display()
        ))),
        _ => Ok(criterion),
    }
}

/// The finished runs of a comparison, or the one run that a folder is.
fn finished_runs(folder: &Path) -> Result<Vec<RunFolder>> {
    let runs = match folder.join("run.toml").exists() {
        true => vec![RunFolder::at(folder)],
        false => {
            let mut reader = ComparisonReader::open_any_version(folder)?;
            let snapshot = reader.snapshot();
            super::complain(&gelu_compare::cli::warnings("gelu", &snapshot));
            let of_run = |run: &RunSnapshot| reader.folder().runs().join(&run.folder);
            snapshot.runs.iter().map(|run| RunFolder::at(&of_run(run))).collect()
        }
    };
    let mut finished = Vec::new();
    for run in runs {
        if run.status().is_ok_and(|file| file.status == RunStatus::Finished) {
            finished.push(run);
        }
    }
    match finished.is_empty() {
        true => Err(Error::Run {
            run: folder.to_path_buf(),
            problem: "no finished run here; the same `gelu compare` finishes what is missing"
                .to_owned(),
        }),
        false => Ok(finished),
    }
}

fn table(evaluations: &[Evaluation], synthetic: bool) -> String {
    let is_text = evaluations.iter().any(|e| e.test_bits_per_byte.is_some());
    let mut header = vec![
        "activation",
        "dropout",
        "lr",
        "seed",
        "train loss",
        "valid loss",
        "test loss",
        "test error",
    ];
    header.extend(is_text.then_some("bits a byte"));
    let loss = |loss: f64| format!("{loss:.4}");
    let rows = evaluations.iter().map(|e| {
        let mut row = vec![
            label(&e.activation),
            e.dropout.to_string(),
            format!("{:e}", e.learning_rate),
            e.seed.to_string(),
            loss(e.train_loss),
            e.valid_loss.map_or_else(|| "–".to_owned(), loss),
            loss(e.test_loss),
            e.test_error.map_or_else(|| "–".to_owned(), |error| format!("{:.2} %", error * 100.0)),
        ];
        row.extend(e.test_bits_per_byte.map(loss));
        row
    });
    let mark = if synthetic { "SYNTHETIC DATA\n" } else { "" };
    let mut text = format!("{mark}{}\n", number_table(&header, rows));
    for e in evaluations {
        let Some(written) = &e.written else { continue };
        let of = format!("{}, lr {:e}, seed {}", label(&e.activation), e.learning_rate, e.seed);
        text += &format!("\n{of} writes:\n{}\n", written);
    }
    if let Some(learned) = learned_table(evaluations) {
        text += &format!("\nμ and σ of x·Φ((x − μ)/σ), median [lowest, highest]\n{learned}\n");
    }
    text
}

/// What learnable GELUs have learned, a row a layer; `None` where there are none.
fn learned_table(evaluations: &[Evaluation]) -> Option<String> {
    let spread = |spread: Spread| {
        format!("{:.3} [{:.3}, {:.3}]", spread.median, spread.lowest, spread.highest)
    };
    let of = |evaluation: &Evaluation| {
        let run = [
            evaluation.dropout.to_string(),
            format!("{:e}", evaluation.learning_rate),
            evaluation.seed.to_string(),
        ];
        let row = |gelu: &LearnedGelu| {
            let learned = [gelu.layer.clone(), spread(gelu.mean), spread(gelu.standard_deviation)];
            [run.as_slice(), learned.as_slice()].concat()
        };
        evaluation.learned.iter().map(row).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = evaluations.iter().flat_map(of).collect();
    let header = ["dropout", "lr", "seed", "layer", "μ", "σ"];
    (!rows.is_empty()).then(|| number_table(&header, rows.into_iter()))
}
