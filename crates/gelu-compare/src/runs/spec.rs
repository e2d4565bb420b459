use super::RunKey;
use super::canonical::digest;
use crate::Result;
use crate::measure::EpochMetrics;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// One run, resolved: everything its result depends on, and nothing else. Saved with the run as
/// `run.toml`; its digest names the run's folder, so a changed setting is another run.
pub trait Spec:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The latest version of the layout and of the training that it stands for; raised when a change of
    /// the program changes results. Written as `version`.
    const VERSION: u32;

    /// The program that trains it, as its messages begin.
    const TOOL: &'static str;

    /// A file that every finished run has, and none before, where there is one: tells where a run stands
    /// whose `status.json` is damaged.
    const RESULT: Option<&'static str> = None;

    /// The version that this one is of.
    fn version(&self) -> u32;

    /// The version at which this program trains such a run; what a change of the program leaves as it was may stay at
    /// an earlier one.
    fn current_version(&self) -> u32 {
        Self::VERSION
    }

    /// The same as another version of the program would have made it.
    #[must_use]
    fn at_version(&self, version: u32) -> Self;

    /// Checks what is computed from: whoever wrote a specification may be anybody.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the value, and what it has to be.
    fn validate(&self) -> Result<()>;

    /// What tells it from the other runs of its comparison.
    fn key(&self) -> RunKey;

    /// How messages call it.
    fn name(&self) -> String {
        self.key().to_string()
    }

    /// What its folder's name begins with: letters, digits, `-`, `_` and `.`.
    fn folder_prefix(&self) -> String;

    /// How many epochs it is to have; `None` where it says so itself when it has ended.
    fn epochs(&self) -> Option<usize>;

    /// Of its finished epochs, that which its results are those of. `None` before there is any.
    fn reported_epoch<'a>(&self, epochs: &'a [EpochMetrics]) -> Option<&'a EpochMetrics>;

    /// Whether that is the best of its epochs, and not the last.
    fn reports_best_epoch(&self) -> bool;

    /// Whether a column can have that value in an epoch that has ended.
    fn is_possible(&self, _column: &str, value: f64) -> bool {
        value.is_finite()
    }

    /// Name of its folder: readable, short, and unique through the first 8 hex digits of the SHA-256
    /// of the specification in a form that depends on no library:
    /// `gelu-lr0.001-dropout0.5-seed1-1f0c9a2e`.
    fn folder_name(&self) -> String {
        format!("{}-{}", self.folder_prefix(), &digest(self)[..8])
    }

    /// The specification as the text of `run.toml`.
    fn to_toml(&self) -> String {
        toml::to_string(self).expect("a specification holds plain values alone")
    }
}
