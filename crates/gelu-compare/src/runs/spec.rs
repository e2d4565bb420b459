use super::RunKey;
use super::canonical::digest;
use crate::Result;
use crate::measure::EpochMetrics;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The specification of one run: everything that its result depends on, and nothing else. It is saved with the run as
/// `run.toml`. Its digest is part of the folder's name, so a run with a changed setting is another run.
pub trait Spec:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The latest version of the layout and of the training. It is raised when a change of the program changes
    /// results. Written as `version`.
    const VERSION: u32;

    /// The name of the program that trains the run, as in its messages.
    const TOOL: &'static str;

    /// The name of a file that every finished run has, and no unfinished one, if there is such a file. It shows
    /// whether a run is finished if `status.json` is damaged.
    const RESULT: Option<&'static str> = None;

    /// Returns the version of this specification.
    fn version(&self) -> u32;

    /// Returns the version at which this program trains such a run. It may be an earlier one than
    /// [`VERSION`](Self::VERSION), if changes of the program do not affect the run.
    fn current_version(&self) -> u32 {
        Self::VERSION
    }

    /// Returns the specification as another version of the program would have made it.
    #[must_use]
    fn at_version(&self, version: u32) -> Self;

    /// Checks the values that computations use. The file may come from an untrusted source.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`](crate::Error::Usage), which names the value and its requirements.
    fn validate(&self) -> Result<()>;

    /// Returns the run's identity within its comparison.
    fn key(&self) -> RunKey;

    /// Returns the run's name for messages.
    fn name(&self) -> String {
        self.key().to_string()
    }

    /// Returns the beginning of the folder's name: letters, digits, `-`, `_` and `.`.
    fn folder_prefix(&self) -> String;

    /// Returns the planned number of epochs, or `None` if only the finished run shows the number.
    fn epochs(&self) -> Option<usize>;

    /// Returns the finished epoch that provides the results, or `None` if no epoch is finished.
    fn reported_epoch<'a>(&self, epochs: &'a [EpochMetrics]) -> Option<&'a EpochMetrics>;

    /// Returns whether results come from the best epoch rather than the last.
    fn reports_best_epoch(&self) -> bool;

    /// Returns whether a column can have the value in a finished epoch.
    fn is_possible(&self, _column: &str, value: f64) -> bool {
        value.is_finite()
    }

    /// Returns the name of the run's folder. It is readable, short, and unique through the first 8 hex digits of the
    /// SHA-256 of the specification's canonical form: `gelu-lr0.001-dropout0.5-seed1-1f0c9a2e`.
    fn folder_name(&self) -> String {
        format!("{}-{}", self.folder_prefix(), &digest(self)[..8])
    }

    /// Returns the specification as the text of `run.toml`.
    fn to_toml(&self) -> String {
        toml::to_string(self).expect("a specification holds plain values alone")
    }
}
