//! Damages every file of a comparison's folder randomly. The problem must become a warning or an error that names the
//! file, and everything else must be shown. Commands as in [`super::fuzz`], with `fuzz_runs::metrics`.

use super::fuzz::{Damage, damaged};
use bolero::{TypeGenerator, check};
use gelu_compare::comparison::plan;
use gelu_compare::dashboard::{PlainReporter, picture};
use gelu_compare::measure::EpochMetrics;
use gelu_compare::report::{Document, csv, figures, html, runs_csv, svg, table};
use gelu_compare::runs::{Phase, Progress, Recipe as _, RunStatus, Snapshot, Watch};
use gelu_experiments::comparison::SnapshotReader;
use gelu_experiments::data::DataSource;
use gelu_experiments::environment;
use gelu_experiments::recipe::{NoiseRecipe, Recipe};
use gelu_experiments::runs::{ClaimedRun, Comparison, Plan};
use gelu_learner::activation::NamedActivation;
use gelu_learner::device::DeviceName;
use gelu_learner::networks::{NoiseMetrics, set_noise};
use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

const SILENCE: Duration = Duration::from_secs(600);

/// Values to put in place of others.
const ODD: [&str; 22] = [
    "NaN",
    "inf",
    "-inf",
    "-1",
    "-0.0",
    "0",
    "1",
    "0.5",
    "1e300",
    "1e-300",
    "1e999",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "1000000",
    "null",
    "",
    "\"\"",
    "\\u001b[2J\\u202e",
    "[]",
    "{}",
    "finished",
];

/// A change of a file.
#[derive(Clone, Debug, TypeGenerator)]
enum Change {
    /// Replaces some words: the word's index, and the index in [`ODD`].
    Words(Vec<(u16, u8)>),
    /// Damages bytes.
    Bytes(Vec<Damage>),
}

impl Change {
    fn of(&self, file: &[u8]) -> Vec<u8> {
        match self {
            Self::Bytes(damages) => damaged(file.to_vec(), damages),
            Self::Words(words) => {
                let replaced = |text, &(which, by): &(u16, u8)| {
                    replaced(text, usize::from(which), ODD[usize::from(by) % ODD.len()])
                };
                words.iter().take(4).fold(file.to_vec(), replaced)
            }
        }
    }
}

/// Returns the text with one of its words replaced.
fn replaced(mut text: Vec<u8>, which: usize, by: &str) -> Vec<u8> {
    let part_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte);
    let begins = |&i: &usize| part_of_word(text[i]) && (i == 0 || !part_of_word(text[i - 1]));
    let starts: Vec<usize> = (0..text.len()).filter(begins).collect();
    let Some(&start) = starts.get(which % starts.len().max(1)) else { return text };
    let length = text[start..].iter().take_while(|&&byte| part_of_word(byte)).count();
    text.splice(start..start + length, by.bytes());
    text
}

/// A comparison of two activations with three seeds; its runs are finished, diverged, failed, and in progress in this
/// process.
struct Folder {
    path: PathBuf,
    runs: Vec<PathBuf>,
    /// Digests of the snapshots shown so far.
    shown: Mutex<HashSet<u64>>,
    _running: ClaimedRun,
    _home: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("foreign");
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.training.epochs = 3;
        recipe.comparison.seeds = 3;
        recipe.comparison.dropout = vec![0.5];
        recipe.comparison.activations =
            ["gelu", "mine=x*tanh(x)"].map(NamedActivation::read).to_vec();
        recipe.noise = Some(NoiseRecipe { amplitudes: vec![0.2, 1.0] });
        let data = DataSource::new("digits", Some("somewhere".into()), true, [b"content"]);
        let asked = Plan::new(recipe, data, "flex", "flex");
        let (folder, plan) = Comparison::create(&path, &asked, |_, _| false).unwrap();
        let device: DeviceName = "flex".parse().unwrap();
        let mut runs = Vec::new();
        let statuses = [
            (RunStatus::Finished, 3),
            (RunStatus::Finished, 3),
            (RunStatus::Finished, 3),
            (RunStatus::Diverged { epoch: 3 }, 2),
            (RunStatus::Failed { reason: "the disk is full".to_owned() }, 1),
            (RunStatus::Running, 2),
        ];
        let mut claimed = None;
        for (key, (status, done)) in plan::grid(&plan.recipe.design()).iter().zip(statuses) {
            let spec = plan.spec(key).unwrap();
            let run = folder.run(&spec).unwrap();
            runs.push(run.path().to_path_buf());
            let run = ClaimedRun::claim(&run, &spec, &mut Watch::default(), SILENCE);
            let run = run.unwrap().unwrap();
            run.begin_session(&environment::here(&device, 1), 0).unwrap();
            run.publish_metrics(&epochs(done)).unwrap();
            run.set_status(status.clone(), 12.5).unwrap();
            if status.is_complete() {
                set_noise(&run, &noise()).unwrap();
            }
            if status.is_over() {
                run.end_session(&status, done).unwrap();
            } else {
                run.set_progress(&Progress {
                    epoch: done + 1,
                    phase: Phase::Train,
                    done: 100,
                    total: 600,
                    batch_loss: Some(0.5),
                });
                claimed = Some(run);
            }
        }
        Self { path, runs, shown: Mutex::default(), _running: claimed.unwrap(), _home: home }
    }

    /// Reads everything, shows snapshots that were not shown before, and returns the warnings.
    fn show(&self) -> Vec<String> {
        let mut reader = match SnapshotReader::open_any_version(&self.path) {
            Ok(reader) => reader,
            Err(error) => return vec![error.to_string()],
        };
        let mut snapshot = reader.snapshot();
        let of_runs = snapshot.runs.iter_mut().flat_map(|run| run.warnings.drain(..));
        let warnings = of_runs.chain(snapshot.warnings.drain(..)).collect();
        if self.is_new(&snapshot) {
            show(&snapshot, reader.plan());
        }
        warnings
    }

    /// Returns whether a snapshot is new. Most damage gives the same snapshot, and showing takes a hundred times as
    /// long as reading.
    fn is_new(&self, snapshot: &Snapshot) -> bool {
        let mut hasher = DefaultHasher::new();
        format!("{snapshot:?}").hash(&mut hasher);
        self.shown.lock().unwrap().insert(hasher.finish())
    }

    /// Damages one file repeatedly and reads the folder each time.
    fn fuzz(&self, file: &Path) {
        let valid = fs::read(file).unwrap();
        assert_eq!(self.show(), [""; 0], "{} is sound", file.display());
        let reference = std::panic::AssertUnwindSafe((self, file, &valid));
        check!().with_type::<Change>().for_each(move |change| {
            let (folder, file, valid) = *reference;
            fs::write(file, change.of(valid)).unwrap();
            for warning in folder.show() {
                assert!(warning.contains("foreign"), "{warning}");
                assert!(warning.chars().count() < 1_000, "{warning}");
            }
        });
        fs::write(file, valid).unwrap();
    }

    fn fuzz_run(&self, run: usize, file: &str) {
        self.fuzz(&self.runs[run].join(file));
    }
}

/// Shows everything in a snapshot.
fn show(snapshot: &Snapshot, plan: &Plan) {
    let _ = plan::next(plan, snapshot);
    let document = Document::of(snapshot);
    serde_json::from_str::<serde_json::Value>(&document.to_json()).unwrap();
    let pictures: Vec<(String, String)> =
        figures(snapshot).into_iter().map(|(name, figure)| (name, svg(&figure))).collect();
    for shown in [
        table::text(&document),
        table::markdown(&document),
        html(snapshot, &document, &pictures, &plan.recipe),
        String::from_utf8(csv(snapshot)).unwrap(),
        String::from_utf8(runs_csv(snapshot)).unwrap(),
        PlainReporter::new().lines(snapshot),
        picture(snapshot),
    ] {
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(obeyed), "{shown:?}");
    }
}

fn epochs(count: usize) -> Vec<EpochMetrics> {
    let epoch = |epoch| {
        EpochMetrics::new(epoch)
            .with("learning_rate", 1e-3)
            .with("batch_loss", 1.0 / epoch as f64)
            .with("train_loss", 0.9 / epoch as f64)
            .with("train_error", 0.25)
            .with("valid_loss", 0.5)
            .with("valid_error", 0.125)
            .with("test_loss", 0.75)
            .with("test_error", 0.1)
    };
    (1..=count).map(epoch).collect()
}

fn noise() -> [NoiseMetrics; 2] {
    [0.2, 1.0].map(|amplitude| NoiseMetrics { amplitude, test_loss: 0.5, test_error: Some(0.25) })
}

const FINISHED: usize = 0;
const DIVERGED: usize = 3;
const FAILED: usize = 4;
const RUNNING: usize = 5;

#[test]
fn metrics() {
    Folder::new().fuzz_run(FINISHED, "metrics.csv");
}

#[test]
fn metrics_of_a_run_under_way() {
    Folder::new().fuzz_run(RUNNING, "metrics.csv");
}

#[test]
fn status() {
    Folder::new().fuzz_run(FINISHED, "status.json");
}

#[test]
fn status_of_a_run_that_diverged() {
    Folder::new().fuzz_run(DIVERGED, "status.json");
}

#[test]
fn status_of_a_run_that_failed() {
    Folder::new().fuzz_run(FAILED, "status.json");
}

#[test]
fn progress() {
    Folder::new().fuzz_run(RUNNING, "progress.json");
}

#[test]
fn provenance() {
    Folder::new().fuzz_run(FINISHED, "provenance-0001.json");
}

#[test]
fn measures_under_noise() {
    Folder::new().fuzz_run(FINISHED, "noise.csv");
}

#[test]
fn specification() {
    Folder::new().fuzz_run(FINISHED, "run.toml");
}

#[test]
fn holder() {
    Folder::new().fuzz_run(RUNNING, "lease-0001/holder.json");
}

#[test]
fn plan() {
    let folder = Folder::new();
    folder.fuzz(&folder.path.join("comparison.toml"));
}
