use crate::error::Place;
use crate::files::{problem, read_bytes};
use crate::measure::{EpochMetrics, NoiseMetrics};
use crate::names::number;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Records as CSV, under their fields' names.
pub(super) fn to_csv<T: Serialize>(records: &[T]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.serialize(record).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

/// The records of a file of a run; none where there is no such file.
fn from_csv<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(Vec::new()) };
    let records = csv::Reader::from_reader(bytes.as_slice()).into_deserialize().enumerate();
    let place = |index| Place::Line(index + 2);
    records
        .map(|(i, r)| r.map_err(|error| Error::data(path, place(i), problem(&error), "")))
        .collect()
}

/// The finished epochs of a run: in order, without gaps, and with values that can be; none where there
/// is no such file.
pub(super) fn read_metrics(path: &Path) -> Result<Vec<EpochMetrics>> {
    let metrics: Vec<EpochMetrics> = from_csv(path)?;
    for (index, record) in metrics.iter().enumerate() {
        if record.epoch != index + 1 {
            let problem = format!("epoch {} stands where {} belongs", record.epoch, index + 1);
            return Err(Error::data(path, Place::Line(index + 2), problem, ""));
        }
    }
    check(path, &metrics, EpochMetrics::impossible)?;
    Ok(metrics)
}

/// What a run achieves under noise; nothing where there is no such file.
pub(super) fn read_noise(path: &Path) -> Result<Vec<NoiseMetrics>> {
    let noise = from_csv(path)?;
    check(path, &noise, NoiseMetrics::impossible)?;
    Ok(noise)
}

/// Refuses a table with a value that nothing measures.
fn check<T>(
    path: &Path,
    records: &[T],
    impossible: fn(&T) -> Option<(&'static str, f64)>,
) -> Result<()> {
    let found = records.iter().enumerate().find_map(|(i, record)| Some((i, impossible(record)?)));
    match found {
        Some((index, (name, value))) => {
            let problem = format!("{name} cannot be {}", number(value));
            Err(Error::data(path, Place::Line(index + 2), problem, ""))
        }
        None => Ok(()),
    }
}
