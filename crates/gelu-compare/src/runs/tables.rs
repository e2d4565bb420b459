use super::Spec;
use crate::error::Place;
use crate::files::{problem, read_bytes};
use crate::measure::EpochMetrics;
use crate::names::number;
use crate::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

/// Returns epochs as CSV. It has all columns of all epochs, in the order of appearance.
pub(super) fn epochs_to_csv(epochs: &[EpochMetrics]) -> Vec<u8> {
    let columns = columns(epochs.iter());
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    if !epochs.is_empty() {
        let header = std::iter::once("epoch").chain(columns.iter().copied());
        writer.write_record(header).expect("writing to memory cannot fail");
    }
    for epoch in epochs {
        let values: Vec<Option<f64>> = columns.iter().map(|name| epoch.get(name)).collect();
        writer.serialize((epoch.epoch, values)).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

/// Returns the columns of epochs, each once, in the order of appearance.
pub(crate) fn columns<'a>(epochs: impl Iterator<Item = &'a EpochMetrics>) -> Vec<&'a str> {
    let mut columns: Vec<&str> = Vec::new();
    for epoch in epochs {
        let is_known = epoch.values.len() == columns.len()
            && epoch.values.iter().zip(&columns).all(|((name, _), known)| name == known);
        if !is_known {
            for (name, _) in &epoch.values {
                if !columns.contains(&name.as_ref()) {
                    columns.push(name);
                }
            }
        }
    }
    columns
}

/// Reads the finished epochs of a run. Checks that they are in order, without gaps, and have numbers. Returns no
/// epochs if the file does not exist.
pub(super) fn read_metrics(path: &Path) -> Result<Vec<EpochMetrics>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(Vec::new()) };
    let refuse = |line: usize, problem: String| Error::data(path, Place::Line(line), problem, "");
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let header = reader.headers().map_err(|error| refuse(1, problem(&error)))?.clone();
    let names: Vec<Cow<'static, str>> =
        header.iter().skip(1).map(|name| Cow::Owned(crate::names::printable(name))).collect();
    if header.get(0) != Some("epoch") && !header.is_empty() {
        return Err(refuse(1, "has no column `epoch` in the first place".to_owned()));
    }
    let mut epochs = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let line = index + 2;
        let record = record.map_err(|error| refuse(line, problem(&error)))?;
        let epoch = record.get(0).unwrap_or_default();
        match epoch.parse::<usize>() {
            Ok(epoch) if epoch == index + 1 => {}
            Ok(epoch) => {
                let problem = format!("expected epoch {}, found epoch {epoch}", index + 1);
                return Err(refuse(line, problem));
            }
            Err(_) => {
                let epoch = crate::names::printable(epoch);
                return Err(refuse(line, format!("`{epoch}` is not an epoch")));
            }
        }
        let mut values = Vec::with_capacity(names.len());
        for (name, text) in names.iter().zip(record.iter().skip(1)) {
            let value = match text {
                "" => None,
                text => Some(text.parse::<f64>().map_err(|_| {
                    let text = crate::names::printable(text);
                    refuse(line, format!("{name} is `{text}`, which is not a number"))
                })?),
            };
            if let Some(value) = value.filter(|value| !value.is_finite()) {
                return Err(impossible(path, index + 1, name, value));
            }
            values.push((name.clone(), value));
        }
        epochs.push(EpochMetrics { epoch: index + 1, values });
    }
    Ok(epochs)
}

/// Returns an error if an epoch has a value that the specification does not allow.
pub(super) fn check_metrics(path: &Path, spec: &impl Spec, epochs: &[EpochMetrics]) -> Result<()> {
    for epoch in epochs {
        let mut measured = epoch.measured();
        if let Some((name, value)) = measured.find(|(name, value)| !spec.is_possible(name, *value))
        {
            return Err(impossible(path, epoch.epoch, name, value));
        }
    }
    Ok(())
}

fn impossible(path: &Path, epoch: usize, name: &str, value: f64) -> Error {
    let problem = format!("{name} cannot be {}", number(value));
    Error::data(path, Place::Line(epoch + 1), problem, "")
}
