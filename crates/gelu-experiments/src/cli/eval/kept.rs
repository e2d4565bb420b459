//! Saves measurements with a run.

use crate::recipe::NoiseRecipe;
use crate::runs::{ClaimedRun, Plan, RunSpec};
use crate::training::{Network, Splits, examine};
use crate::{Error, Result};
use burn::tensor::Device;
use gelu_compare::measure::Criterion;
use gelu_compare::runs::{RunFolder, Spec, Watch};
use gelu_learner::networks::{
    NoiseMetrics, Outcomes, check_outcomes, noise_of, outcomes_of, set_noise, set_outcomes,
};
use std::time::Duration;

/// Saves the metrics under noise with the run. An amplitude that was measured before keeps its earlier result,
/// because a verdict may use it. The noise depends only on the amplitude, so all runs of a comparison get the same
/// noise, whatever list of amplitudes it was measured in.
pub(super) fn keep_noise(run: &RunFolder, spec: &RunSpec, noise: &[NoiseMetrics]) -> Result<()> {
    let claimed = claim(run, spec)?;
    // Read after the claim, so that no other process can add results in between.
    let mut all = noise_of(run)?;
    for point in noise {
        if all.iter().all(|known| known.amplitude != point.amplitude) {
            all.push(*point);
        }
    }
    all.sort_by(|a, b| a.amplitude.total_cmp(&b.amplitude));
    set_noise(&claimed, &all)
}

/// Saves the outcome of each test example of a run, unless the run has them already.
pub(super) fn keep_outcomes(
    run: &RunFolder,
    spec: &RunSpec,
    model: &Network,
    splits: &Splits,
    criterion: &Criterion,
    device: &Device,
) -> Result<()> {
    let snapshot = run.snapshot(spec, silence(run));
    let Some(reported) = spec.reported_epoch(&snapshot.epochs) else { return Ok(()) };
    let noise = noise_of(run)?;
    let amplitudes = spec.noise.as_ref().map_or_else(Vec::new, NoiseRecipe::disturbing);
    let is_good = |saved: &Outcomes| {
        saved.are_of(&criterion.primary, &amplitudes)
            && check_outcomes(saved, reported, &noise).is_ok()
    };
    if outcomes_of(run).is_ok_and(|saved| saved.is_some_and(|saved| is_good(&saved))) {
        return Ok(());
    }
    let examined = examine(model, spec, splits, criterion, reported, device)?;
    let Some(outcomes) = examined.outcomes else { return Ok(()) };
    check_outcomes(&outcomes, reported, &noise).map_err(|problem| Error::Run {
        run: run.path().to_path_buf(),
        problem: format!(
            "here its network {problem}, so its outcomes on the test examples were not saved; measure it on \
             the device and the kind of processor that trained it"
        ),
    })?;
    set_outcomes(&claim(run, spec)?, &outcomes)
}

/// Returns how long a worker on another host may go without a heartbeat.
fn silence(run: &RunFolder) -> Duration {
    Duration::from_secs(Plan::default_lease(run.path()))
}

fn claim(run: &RunFolder, spec: &RunSpec) -> Result<ClaimedRun> {
    let claimed = ClaimedRun::claim(run, spec, &mut Watch::default(), silence(run))?;
    claimed.map_err(|_| Error::Run {
        run: run.path().to_path_buf(),
        problem: "another process is working on it, so what was measured cannot be kept".to_owned(),
    })
}
