use super::lease;
use super::{DataAndBackend, DataSource, Description, Design, Recipe, RunKey, Spec};
use crate::measure::Criterion;
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// Which runs are wanted: a recipe, with its data, its backend and its seeds. The content of `comparison.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan<R> {
    /// The version of this file's layout.
    pub version: u32,
    /// Whether every combination of the recipe is planned. In a folder that `gelu train` has made, only the trained
    /// runs exist, and no others are planned.
    pub planned: bool,
    /// The device for which the comparison was made, as `--device` names it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// The name of the backend. Results of two backends differ in their last digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub backend: String,
    /// The seconds without a heartbeat after which a worker on another host loses its run.
    pub lease_seconds: u64,
    /// The data for training.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: DataSource,
    /// The number of test examples that the recipe uses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub test_examples: usize,
    /// The number of first seeds that choose the tuned values; all seeds if fewer are planned. Folders of earlier
    /// versions lack it. There, ten seeds chose if seeds were added until the comparison was decided, and all planned
    /// ones otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_on: Option<u64>,
    /// Extensions of the number of seeds after runs were complete, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "added_looks")]
    pub added_seeds: Vec<AddedSeeds>,
    /// The measures that were chosen after runs were complete, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_measures: Vec<LaterMeasure>,
    /// The experiment: what to train and what to vary.
    pub recipe: R,
    /// A description for programs that cannot read the recipe. It is derived from the recipe at every write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An extension of the seeds beyond the planned ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddedSeeds {
    /// The total number of seeds from then on.
    pub seeds: u64,
    /// When the seeds were added, as RFC 3339.
    pub at: String,
}

/// A measure that was chosen when its values could be known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaterMeasure {
    /// The name of the measure that decides from then on.
    pub measure: String,
    /// The name of the measure that decided before.
    pub instead_of: String,
    /// When the measure was chosen, as RFC 3339.
    pub at: String,
}

/// The maximum for the seconds of a lease: one day.
pub(crate) const LONGEST_LEASE: u64 = 86_400;

impl<R> Plan<R> {
    /// The current version of the layout.
    pub const VERSION: u32 = 3;

    /// Returns the default for the seconds of a lease: 60, or 120 if the folder is on a network file system.
    pub fn default_lease(folder: &Path) -> u64 {
        lease::default_seconds(folder)
    }
}

impl<R: Recipe> Plan<R> {
    /// Creates a comparison with all combinations of `recipe`, for this data and device, in a folder of this machine.
    pub fn new(recipe: R, data: DataSource, device: &str, backend: &str) -> Self {
        Self {
            version: Self::VERSION,
            planned: true,
            device: device.to_owned(),
            backend: backend.to_owned(),
            lease_seconds: 60,
            data,
            test_examples: 0,
            chosen_on: Some(8),
            added_seeds: Vec::new(),
            later_measures: Vec::new(),
            recipe,
            description: None,
        }
    }

    /// Returns the last seed of the runs, added seeds included.
    pub(crate) fn last_seed(&self, design: &Design) -> u64 {
        let added = self.added_seeds.last().map_or(0, |added| added.seeds);
        design.schedule().seeds.max(added)
    }

    /// Returns the number of first seeds that choose the tuned values.
    pub(crate) fn choosing_seeds(&self, design: &Design) -> u64 {
        let schedule = design.schedule();
        let earlier = if schedule.until_decided { 10 } else { schedule.seeds };
        self.chosen_on.unwrap_or(earlier).min(schedule.seeds)
    }

    /// Returns the ways in which the comparison is smaller than intended, including the number of seeds.
    pub fn cut_down(&self, design: &Design) -> Vec<String> {
        let seeds = self.last_seed(design);
        let whole = design.whole_seeds.filter(|whole| seeds < *whole);
        let fewer = whole.map(|whole| match seeds {
            1 => format!("1 seed instead of {whole}"),
            _ => format!("{seeds} seeds instead of {whole}"),
        });
        design.cut_down.iter().cloned().chain(fewer).collect()
    }

    /// Returns the criterion that decides the comparison.
    pub fn criterion(&self) -> Criterion {
        self.recipe.design().criterion()
    }

    /// Adds seeds that were not planned.
    pub fn add_seeds(&mut self, seeds: u64, at: &str) {
        self.added_seeds.push(AddedSeeds { seeds, at: at.to_owned() });
    }

    /// Checks every value that its type does not restrict enough.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`], which names the value and its requirements.
    pub(super) fn validate(&self) -> Result<()> {
        self.recipe.validate()?;
        match self.lease_seconds > LONGEST_LEASE {
            true => Err(Error::Usage(format!(
                "lease_seconds is {}; it has to be at most {}",
                self.lease_seconds, LONGEST_LEASE
            ))),
            false => Ok(()),
        }
    }

    /// Returns how long a worker on another host may be without a heartbeat.
    pub fn silence(&self) -> Duration {
        Duration::from_secs(self.lease_seconds.max(1))
    }

    /// Returns the specification of a run, or `None` if this program cannot have such a run.
    pub fn spec(&self, key: &RunKey) -> Option<R::Spec> {
        self.recipe.spec(&self.with(), key)
    }

    /// Returns the same run as this comparison writes it; the run's folder is named by that form. Files and flags may
    /// list a setting in another order.
    pub(crate) fn in_order(&self, spec: R::Spec) -> R::Spec {
        let own = self.spec(&spec.key()).map(|own| own.at_version(spec.version()));
        own.filter(|own| *own == spec).unwrap_or(spec)
    }

    /// Returns whether a run belongs to this comparison: it has the comparison's recipe, data and backend.
    pub fn includes(&self, spec: &R::Spec) -> bool {
        self.recipe.includes(&self.with(), spec)
    }

    fn with(&self) -> DataAndBackend<'_> {
        DataAndBackend { backend: &self.backend, data_fingerprint: &self.data.fingerprint }
    }
}
