//! Reading each file of a run's folder.

use super::RunFolder;
use crate::error::Place;
use crate::files::{from_json, from_toml, problem, read_bytes, read_text};
use crate::measure::EpochMetrics;
use crate::runs::checkpoint::{self, Checkpoint};
use crate::runs::provenance::{Provenance, record_name, records};
use crate::runs::tables::read_metrics;
use crate::runs::{Holder, Spec, StatusFile, lease};
use crate::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::time::Duration;

impl RunFolder {
    /// Reads the run's specification.
    ///
    /// # Errors
    ///
    /// Returns an error if `run.toml` is missing, unreadable, not a specification, or of another version.
    pub fn spec<S: Spec>(&self) -> Result<S> {
        let spec: S = self.spec_of_any_version()?;
        let (version, current) = (spec.version(), spec.current_version());
        if version != current {
            return Err(self.of_another_version(version, current));
        }
        Ok(spec)
    }

    /// Reads the run's specification if this version of the program or an earlier one made it. The results of a run
    /// of an earlier version can be read, but further training would not be bit-identical.
    ///
    /// # Errors
    ///
    /// Returns an error if `run.toml` is missing, unreadable, not a specification, or of a later version.
    pub fn spec_of_any_version<S: Spec>(&self) -> Result<S> {
        let path = self.file("run.toml");
        let refuse = |problem: String, advice: &str| {
            Err(Error::data(&path, Place::File, problem, advice.to_owned()))
        };
        let Some(text) = read_text(&path)? else { return refuse("is missing".to_owned(), "") };
        let version: Versioned = toml::from_str(&text).unwrap_or_default();
        if let Some(version) = version.version.filter(|version| *version > S::VERSION) {
            return Err(self.of_another_version(version, S::VERSION));
        }
        let spec: S = match from_toml(&text) {
            Ok(spec) => spec,
            Err(problem) => return refuse(problem, ""),
        };
        match spec.validate() {
            Ok(()) => Ok(spec),
            Err(error) => refuse(error.to_string(), ""),
        }
    }

    fn of_another_version(&self, version: u32, current: u32) -> Error {
        let problem = format!("has version {version}, not {current}");
        let advice = "use the version of the program that made it";
        Error::data(self.file("run.toml"), Place::File, problem, advice)
    }

    /// Reads `status.json`. Returns [`RunStatus::Waiting`](crate::runs::RunStatus::Waiting) if the file does not
    /// exist yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists but cannot be read.
    pub fn status(&self) -> Result<StatusFile> {
        let path = self.file("status.json");
        let status: StatusFile = read_json(&path)?.unwrap_or(StatusFile::NEW);
        match status.impossible() {
            Some(problem) => Err(Error::data(path, Place::File, problem, "")),
            None => Ok(status),
        }
    }

    /// Reads the finished epochs.
    ///
    /// # Errors
    ///
    /// Returns an error if `metrics.csv` exists but is damaged.
    pub fn metrics(&self) -> Result<Vec<EpochMetrics>> {
        read_metrics(&self.file("metrics.csv"))
    }

    /// Returns the newest complete checkpoint, and the errors of newer ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be listed.
    pub fn checkpoint(&self) -> Result<(Option<Checkpoint>, Vec<Error>)> {
        let mut damaged = Vec::new();
        for epoch in checkpoint::epochs(&self.path)? {
            match Checkpoint::read(&self.path, epoch) {
                Ok(checkpoint) => return Ok((Some(checkpoint), damaged)),
                Err(error) => damaged.push(error),
            }
        }
        Ok((None, damaged))
    }

    /// Returns the process that works on the run, as far as this process can know. `silence` is how long a worker on
    /// another host may be without a heartbeat.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read.
    pub fn holder(&self, silence: Duration) -> Result<Option<Holder>> {
        lease::holder(&self.path, silence)
    }

    /// Returns the records of the run's sessions, the first one first. Leaves out records that cannot be read.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be listed.
    pub fn provenance(&self) -> Result<Vec<Provenance>> {
        let read = |generation| read_json(&self.file(&record_name(generation))).ok().flatten();
        Ok(records(&self.path)?.into_iter().filter_map(read).collect())
    }
}

/// The version field alone. It is read first, because the rest may depend on the version.
#[derive(Default, Deserialize)]
struct Versioned {
    version: Option<u32>,
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    let damaged = |error: serde_json::Error| {
        Error::data(path, Place::Line(error.line()), problem(&error), "")
    };
    from_json(&bytes).map(Some).map_err(damaged)
}
