//! What is measured of a run, kept with it.

use crate::measure::{Criterion, NoiseMetrics, check_outcomes};
use crate::runs::{ClaimedRun, Comparison, RunFolder, RunSpec, Spec, Watch};
use crate::training::{Network, Splits, examine};
use crate::{Error, Result};
use burn::tensor::Device;
use std::time::Duration;

/// Keeps what was measured under noise with the run. An amplitude that was measured before keeps its
/// result: a verdict may go by it, and noise is a function of the amplitude, so that all runs of a
/// comparison saw the same, whichever list it stood in.
pub(super) fn keep_noise(run: &RunFolder, spec: &RunSpec, noise: &[NoiseMetrics]) -> Result<()> {
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
pub(super) fn keep_outcomes(
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
