use super::compare::prepare;
use super::print;
use super::selection::{Selected, Selection, activation};
use crate::runs::{RunFolder, RunSpec, RunStatus};
use crate::training::{Control, Display, train};
use crate::{Error, Result, comparison};
use clap::Args;
use gelu_core::Activation;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct Train {
    #[command(flatten)]
    selection: Selection,
    /// The activation
    #[arg(long, value_name = "NAME", default_value = "gelu", value_parser = activation)]
    activation: Activation,
    /// Seed of the weights, the order of the batches and the dropout masks
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Initial learning rate [default: the experiment's first]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// Dropout rate [default: the experiment's first]
    #[arg(long, value_name = "RATE")]
    dropout: Option<f64>,
}

impl Train {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { activation, learning_rate, dropout, seed, selection } = self;
        let selected = selection.resolve(|recipe| {
            let varied = &mut recipe.comparison;
            varied.activations = vec![activation];
            varied.learning_rates = one(learning_rate, &varied.learning_rates);
            varied.dropout = one(dropout, &varied.dropout);
        })?;
        let Selected { recipe, device, data, .. } = &selected;
        let varied = &recipe.comparison;
        let spec = RunSpec::new(
            recipe,
            &varied.activations[0],
            varied.learning_rates[0],
            varied.dropout[0],
            seed,
            device.backend(),
            &data.source().fingerprint,
        );
        let specs = [spec];
        let (folder, runs) = prepare(&selected, &specs)?;
        if folder.plan().is_err() {
            // So that `watch` and `report` find the run; a comparison's plan stays as it is.
            folder.set_plan(&comparison::plan(
                recipe,
                &device.to_string(),
                data.source(),
                &specs,
            ))?;
        }
        let control = Control::default();
        let interrupted = super::signals::interrupted()?;
        stop_when(interrupted.clone(), control.clone());
        let status = train(&runs[0], data, &device.open(), &control, Display::Burn)?;
        conclude(&runs[0], &status)
    }
}

/// The value of a flag, or the first of the recipe's.
fn one(flag: Option<f64>, recipe: &[f64]) -> Vec<f64> {
    flag.or(recipe.first().copied()).into_iter().collect()
}

fn stop_when(interrupted: Arc<AtomicBool>, control: Control) {
    std::thread::spawn(move || {
        while !interrupted.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(50));
        }
        control.stop_now();
    });
}

fn conclude(run: &RunFolder, status: &RunStatus) -> Result<ExitCode> {
    let snapshot = run.snapshot()?;
    let mut lines = format!("{}: {status}\n", snapshot.key);
    if let Some(last) = snapshot.epochs.last() {
        lines.push_str(&crate::dashboard::epoch_line(last, snapshot.epochs_planned));
        lines.push('\n');
    }
    lines.push_str(&format!("Saved in {}\n", run.path().display()));
    print(&lines)?;
    match status {
        RunStatus::Interrupted => Err(Error::Interrupted { out: run.path().to_path_buf() }),
        _ => Ok(ExitCode::SUCCESS),
    }
}
