use super::{Description, Design, RunKey, Spec};
use crate::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;

/// What is trained and what varies, as the plan stores it: enough to repeat the comparison.
pub trait Recipe: Clone + Debug + PartialEq + Serialize + DeserializeOwned + 'static {
    /// The specification of one of the runs.
    type Spec: Spec;

    /// Checks every value that its type does not restrict enough. The file may come from an untrusted source.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`](crate::Error::Usage), which names the value and its requirements.
    fn validate(&self) -> Result<()>;

    /// Returns what the recipe compares, and how it is decided.
    fn design(&self) -> Design;

    /// Returns the specification of a run, or `None` if this program cannot have such a run.
    fn spec(&self, with: &DataAndBackend<'_>, key: &RunKey) -> Option<Self::Spec>;

    /// Returns whether a run on disk belongs to this recipe, assuming that the run is of this version.
    fn includes(&self, with: &DataAndBackend<'_>, spec: &Self::Spec) -> bool {
        self.spec(with, &spec.key()).as_ref() == Some(spec)
    }

    /// Returns this recipe with the parts that may be extended taken from `other`: the values of axes, the seeds,
    /// and the baseline.
    #[must_use]
    fn with_grid_of(&self, other: &Self) -> Self;

    /// Returns this recipe as `other` writes it. Lists, above all of axes, get the order of `other`, because the
    /// order of flags makes no other comparison. Numbers get the spelling of `other`, because earlier versions stored
    /// `lr=1e-3` as 0.001.
    #[must_use]
    fn written_as(&self, _other: &Self) -> Self {
        self.clone()
    }

    /// Returns this recipe with the planned seeds of `other`.
    #[must_use]
    fn with_seeds_of(&self, other: &Self) -> Self;

    /// Returns this recipe with the deciding measures of another. Other differences remain.
    #[must_use]
    fn with_measures_of(&self, _: &Self) -> Self {
        self.clone()
    }

    /// Returns how long a run may take to end when it has to end at once.
    fn grace(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// Returns whether the recipe shares no comparison with `_there`, because programs have changed that both
    /// contain. Then neither the earlier plan nor earlier checks of results count for it.
    fn begins_anew(&self, _there: &Self) -> bool {
        false
    }

    /// Returns the command that carries out the recipe, or `None` if no single line can.
    fn command(&self) -> Option<String>;

    /// Returns whether the recipe's program can carry it out from a file.
    fn takes_file(&self) -> bool {
        true
    }

    /// Returns the program that can continue the comparison.
    fn program(&self) -> String {
        Self::Spec::TOOL.to_owned()
    }

    /// Returns this recipe with the description from the comparison's folder, for experiments that are only known
    /// by it.
    #[must_use]
    fn described(self, _: Option<Description>) -> Self {
        self
    }

    /// Returns a run that was read from disk, with the values that only its comparison knows.
    fn complete(&self, spec: Self::Spec) -> Self::Spec {
        spec
    }
}

/// The backend and the data on which the runs of a recipe depend.
#[derive(Clone, Copy, Debug)]
pub struct DataAndBackend<'a> {
    /// The name of the backend. Results of two backends differ in their last digits.
    pub backend: &'a str,
    /// The SHA-256 of the data set's content.
    pub data_fingerprint: &'a str,
}
