use super::dry_run::dry_run;
use super::flags::Decided;
use super::{On, Study, executable};
use crate::Result;
use crate::cli::{CarriedOut, Shown, whole};
use crate::runs::{Comparison, ComparisonFolder};
use crate::worker::Place;
use clap::Args;
use std::ffi::OsString;
use std::num::NonZero;

/// What the libraries that share work among threads read their number from.
const THREADS: [&str; 10] = [
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "JULIA_NUM_THREADS",
    "GOMAXPROCS",
];

/// How a comparison is carried out, as flags.
#[derive(Debug, Args)]
pub(super) struct Execution {
    #[command(flatten)]
    pub(super) shown: Shown,
    /// Runs at the same time [default: one for each device that is listed; else 1 of a command, and of a loop of the
    /// program's own one a processor core]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=65535))]
    jobs: Option<u16>,
    /// Give each run one of these GPUs, as nvidia-smi or rocm-smi numbers them, by CUDA_VISIBLE_DEVICES,
    /// HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = gpu)]
    gpus: Vec<String>,
    /// Threads of each run, by OMP_NUM_THREADS, MKL_NUM_THREADS, RAYON_NUM_THREADS and their like [default: of several
    /// commands at a time, the processor's cores / --jobs, where these variables are not set]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=65535))]
    threads_per_run: Option<u16>,
    /// Say what would be run, and run nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// How the workers of a comparison are started where its flags say nothing else.
pub(super) struct Workers {
    /// The arguments of the first worker, of the second, and so on, and again from the first.
    pub(super) words: Vec<Vec<OsString>>,
    /// How many there are, unless there are several of these, or several GPUs.
    pub(super) jobs: usize,
}

impl Workers {
    /// One of a command at a time.
    pub(super) fn of_commands() -> Self {
        Self { words: vec![Vec::new()], jobs: 1 }
    }
}

impl Execution {
    /// Runs what is wanted; `None` where it is only said what that would be.
    pub(super) fn carry_out(
        mut self,
        study: &Study,
        decided: &Decided,
        on: &On,
        workers: Workers,
    ) -> Result<Option<CarriedOut>> {
        let out = decided.out(study)?;
        if self.dry_run {
            dry_run(&decided.comparison(study, on, &out)?, &out)?;
            return Ok(None);
        }
        let before = ComparisonFolder::open(&out).and_then(|folder| folder.comparison());
        // Runs may have failed because they never reported a mistyped measure.
        let is_measured_otherwise =
            |before: Comparison<Study>| !before.recipe.required().eq(study.required());
        self.shown.retry_failed |= before.is_ok_and(is_measured_otherwise);
        let folder = decided.make_folder(study, on)?;
        executable::announce_change(folder.path());
        let places = self.places(workers, study.has_commands());
        self.shown.carry_out::<Study>(folder.path(), places.into_iter()).map(Some)
    }

    /// Where workers are: each has its slot, its GPU and its threads.
    fn places(&self, workers: Workers, of_commands: bool) -> Vec<Place> {
        let devices = self.gpus.len().max(workers.words.len());
        let jobs = match (self.jobs, devices) {
            (Some(jobs), _) => usize::from(jobs),
            (None, 2..) => devices,
            (None, _) if self.gpus.len() == 1 => 1,
            (None, _) => workers.jobs,
        };
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let share = (of_commands && jobs > 1).then(|| (cores / jobs).max(1));
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let place = |slot: usize| {
            let mut variables = vec![("GELU_SLOT".to_owned(), slot.to_string())];
            if let Some(gpu) = self.gpus.get(slot % self.gpus.len().max(1)) {
                variables.extend(only_gpu(gpu));
            }
            let threads = THREADS.into_iter().filter_map(|name| {
                let chosen = self.threads_per_run.map(usize::from);
                let threads = chosen.or_else(|| share.filter(|_| !is_set(name)))?;
                Some((name.to_owned(), threads.to_string()))
            });
            variables.extend(threads);
            Place { words: workers.words[slot % workers.words.len()].clone(), variables }
        };
        (0..jobs).map(place).collect()
    }
}

/// The variables that let a program see one GPU. AMD's runtime counts by `HIP_VISIBLE_DEVICES` what
/// `ROCR_VISIBLE_DEVICES` has left.
fn only_gpu(gpu: &str) -> [(String, String); 3] {
    [("CUDA_VISIBLE_DEVICES", gpu), ("ROCR_VISIBLE_DEVICES", gpu), ("HIP_VISIBLE_DEVICES", "0")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// A GPU's number or name.
fn gpu(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_/:.".contains(c);
    match text.trim() {
        name if !name.is_empty() && name.chars().all(plain) => Ok(name.to_owned()),
        _ => Err("GPUs are listed as in 0,1".to_owned()),
    }
}
