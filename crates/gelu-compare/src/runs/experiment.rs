use super::{Description, Design, RunKey, Spec};
use crate::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;

/// What a comparison's folder keeps of what is compared: enough to repeat it.
pub trait Experiment: Clone + Debug + PartialEq + Serialize + DeserializeOwned + 'static {
    /// What one of its runs is made from.
    type Spec: Spec;

    /// Checks every value that a type cannot: whoever wrote it may be anybody.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the value, and what it has to be.
    fn validate(&self) -> Result<()>;

    /// What it compares, and how it is decided.
    fn design(&self) -> Design;

    /// The specification of a run; `None` where this program cannot have such a run.
    fn spec(&self, with: &With<'_>, key: &RunKey) -> Option<Self::Spec>;

    /// Whether a run on disk is one of this experiment, were it of this version.
    fn includes(&self, with: &With<'_>, spec: &Self::Spec) -> bool {
        self.spec(with, &spec.key()).as_ref() == Some(spec)
    }

    /// The same with what may be widened taken from another: the values of axes, seeds, and the
    /// baseline.
    #[must_use]
    fn with_grid_of(&self, other: &Self) -> Self;

    /// The same as another writes it: what it lists, axes above all, in the other's order, since the order of flags makes
    /// no other comparison; numbers in the other's spelling, since `lr=1e-3` was kept as 0.001 by earlier versions.
    #[must_use]
    fn written_as(&self, _other: &Self) -> Self {
        self.clone()
    }

    /// The same with the planned seeds of another.
    #[must_use]
    fn with_seeds_of(&self, other: &Self) -> Self;

    /// The same decided by another's measures, where those differ; what else is different stays so.
    #[must_use]
    fn with_measures_of(&self, _: &Self) -> Self {
        self.clone()
    }

    /// How long a run may take to end that is to end at once.
    fn grace(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// Whether no comparison in it is one of those there, since programs have changed that both have: what was planned, and
    /// what was looked at, says nothing of it.
    fn begins_anew(&self, _there: &Self) -> bool {
        false
    }

    /// The command that carries it out; `None` where one line cannot say it.
    fn command(&self) -> Option<String>;

    /// Whether its program carries it out from a file.
    fn takes_file(&self) -> bool {
        true
    }

    /// The program that goes on with its comparison.
    fn program(&self) -> String {
        Self::Spec::TOOL.to_owned()
    }

    /// The same with what the comparison's folder says of itself, where that is all that is known of it.
    #[must_use]
    fn described(self, _: Option<Description>) -> Self {
        self
    }

    /// A run that was read from disk, with what only its comparison knows of it.
    fn complete(&self, spec: Self::Spec) -> Self::Spec {
        spec
    }
}

/// What runs depend on beside their experiment.
#[derive(Clone, Copy, Debug)]
pub struct With<'a> {
    /// Name of the backend: results of two backends differ in their last digits.
    pub backend: &'a str,
    /// SHA-256 of the data set's content.
    pub data_fingerprint: &'a str,
}
