use super::dry_run::dry_run;
use super::flags::DecisionFlags;
use super::{DeviceNames, ProgramRecipe, executable};
use crate::Result;
use crate::cli::{ComparisonOutcome, DisplayFlags, whole};
use crate::runs::{Comparison, Plan};
use crate::worker::Place;
use clap::Args;
use std::ffi::OsString;
use std::num::NonZero;

/// The variables from which libraries read their number of threads.
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

/// Flags for carrying out a comparison.
#[derive(Debug, Args)]
pub(super) struct Execution {
    #[command(flatten)]
    pub(super) shown: DisplayFlags,
    /// Number of parallel runs [default: one per listed device; otherwise 1 for commands, and one per processor core
    /// for a program's own loop]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=65535))]
    jobs: Option<u16>,
    /// Give each run one of these GPUs, by their numbers in nvidia-smi or rocm-smi, through CUDA_VISIBLE_DEVICES,
    /// HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = gpu)]
    gpus: Vec<String>,
    /// Threads of each run, through OMP_NUM_THREADS, MKL_NUM_THREADS, RAYON_NUM_THREADS and similar variables [default:
    /// for parallel commands, the processor's cores / --jobs, unless these variables are set]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=65535))]
    threads_per_run: Option<u16>,
    /// Print what would run, without running anything
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// The default workers of a comparison, for flags that are not given.
pub(super) struct Workers {
    /// The arguments of the first worker, the second, and so on; then they repeat.
    pub(super) words: Vec<Vec<OsString>>,
    /// The number of workers, unless there are several entries in `words` or several GPUs.
    pub(super) jobs: usize,
}

impl Workers {
    /// Returns one worker for commands.
    pub(super) fn of_commands() -> Self {
        Self { words: vec![Vec::new()], jobs: 1 }
    }
}

impl Execution {
    /// Runs the comparison. Returns `None` for a dry run.
    pub(super) fn carry_out(
        mut self,
        recipe: &ProgramRecipe,
        decided: &DecisionFlags,
        on: &DeviceNames,
        workers: Workers,
    ) -> Result<Option<ComparisonOutcome>> {
        let out = decided.out(recipe)?;
        if self.dry_run {
            dry_run(&decided.plan(recipe, on, &out)?, &out)?;
            return Ok(None);
        }
        let before = Comparison::open(&out).and_then(|folder| folder.plan());
        // Runs may have failed because they never reported a mistyped measure, so they are tried again.
        let is_measured_otherwise =
            |before: Plan<ProgramRecipe>| !before.recipe.required().eq(recipe.required());
        self.shown.retry_failed |= before.is_ok_and(is_measured_otherwise);
        let folder = decided.make_folder(recipe, on)?;
        executable::announce_change(folder.path());
        let places = self.places(workers, recipe.has_commands());
        self.shown.carry_out::<ProgramRecipe>(folder.path(), places.into_iter()).map(Some)
    }

    /// Returns the workers' places, each with its slot, GPU and threads.
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

/// Returns the variables that restrict a program to one GPU. `HIP_VISIBLE_DEVICES` is 0, because AMD's runtime
/// numbers the GPUs that `ROCR_VISIBLE_DEVICES` leaves.
fn only_gpu(gpu: &str) -> [(String, String); 3] {
    [("CUDA_VISIBLE_DEVICES", gpu), ("ROCR_VISIBLE_DEVICES", gpu), ("HIP_VISIBLE_DEVICES", "0")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Parses a GPU's number or name.
fn gpu(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_/:.".contains(c);
    match text.trim() {
        name if !name.is_empty() && name.chars().all(plain) => Ok(name.to_owned()),
        _ => Err("GPUs are listed as in 0,1".to_owned()),
    }
}
