use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::files::{problem, read_bytes};
use gelu_compare::names::number;
use gelu_compare::runs::{ClaimedRun, RunFolder, Spec};
use serde::{Deserialize, Serialize};

/// The name of the file in a run's folder.
pub(super) const NOISE: &str = "noise.csv";

/// The metrics of a trained network on the test set under noise from Unif[−a, a].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseMetrics {
    /// The amplitude a.
    pub amplitude: f64,
    /// The mean loss.
    pub test_loss: f64,
    /// The share of wrongly classified examples; `None` if the network does not classify.
    pub test_error: Option<f64>,
}

impl NoiseMetrics {
    /// Describes the first invalid value, if there is one. A loss may be infinite, but not NaN.
    fn impossible(&self) -> Option<String> {
        let Self { amplitude, test_loss, test_error } = *self;
        let said = |name: &str, value: f64| Some(format!("{name} cannot be {}", number(value)));
        match test_error {
            _ if !(amplitude.is_finite() && amplitude >= 0.0) => said("amplitude", amplitude),
            _ if test_loss.is_nan() => said("test_loss", test_loss),
            Some(error) if !(0.0..=1.0).contains(&error) => said("test_error", error),
            _ => None,
        }
    }
}
/// Returns the metrics of a run under noise; empty if they were not measured.
///
/// # Errors
///
/// If `noise.csv` exists but is damaged.
pub fn noise_of(run: &RunFolder) -> Result<Vec<NoiseMetrics>> {
    let path = &run.file(NOISE);
    let Some(bytes) = read_bytes(path)? else { return Ok(Vec::new()) };
    let refuse =
        |index: usize, problem: String| Error::data(path, Place::Line(index + 2), problem, "");
    let records = csv::Reader::from_reader(bytes.as_slice()).into_deserialize().enumerate();
    let mut noise = Vec::new();
    for (index, record) in records {
        let point: NoiseMetrics = record.map_err(|error| refuse(index, problem(&error)))?;
        if let Some(problem) = point.impossible() {
            return Err(refuse(index, problem));
        }
        noise.push(point);
    }
    Ok(noise)
}

/// Saves the metrics of a trained network under noise.
///
/// # Errors
///
/// If the file cannot be written.
pub fn set_noise<S: Spec>(run: &ClaimedRun<S>, noise: &[NoiseMetrics]) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for point in noise {
        writer.serialize(point).expect("writing to memory cannot fail");
    }
    run.set_file(NOISE, &writer.into_inner().expect("writing to memory cannot fail"))
}
