use crate::error::Place;
use crate::files::read_bytes;
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
pub(super) fn from_csv<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(Vec::new()) };
    let records = csv::Reader::from_reader(bytes.as_slice()).into_deserialize().enumerate();
    let advice = "";
    let place = |index| Place::Line(index + 2);
    records
        .map(|(i, r)| r.map_err(|error| Error::data(path, place(i), error.to_string(), advice)))
        .collect()
}
