use super::lease;
use super::{DataSource, Description, Design, Experiment, RunKey, Spec, With};
use crate::measure::Criterion;
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// What `comparison.toml` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison<E> {
    /// Version of this file's layout.
    pub version: u32,
    /// Whether every combination of the recipe is wanted. A folder that `gelu train` has made holds
    /// the runs that were trained, and nothing else is planned.
    pub planned: bool,
    /// The device it was made for, as `--device` names it; empty where none was named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Name of the backend: results of two backends differ in their last digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub backend: String,
    /// Seconds without a heartbeat after which a worker on another host has lost its run.
    pub lease_seconds: u64,
    /// What it is trained on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: DataSource,
    /// How many examples the test set has, as far as the recipe uses it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub test_examples: usize,
    /// How many first seeds choose what is tuned, or all where fewer are planned. Folders of earlier versions do not say:
    /// there ten chose where seeds were added until it was decided, and all planned ones elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_on: Option<u64>,
    /// Numbers of seeds in all that were asked for once runs were complete, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "added_looks")]
    pub added_seeds: Vec<AddedSeeds>,
    /// The measures that were chosen once runs were complete, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_measures: Vec<LaterMeasure>,
    /// What is trained, and what is varied.
    pub recipe: E,
    /// What the file says of itself, for programs that cannot read the recipe; it is written anew from that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Seeds beyond those that were planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddedSeeds {
    /// How many there are in all from then on.
    pub seeds: u64,
    /// When it was asked for, as RFC 3339.
    pub at: String,
}

/// A measure that was chosen when its values could be known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaterMeasure {
    /// Name of the measure that decides from then on.
    pub measure: String,
    /// Name of the one that decided before.
    pub instead_of: String,
    /// When it was chosen, as RFC 3339.
    pub at: String,
}

/// The most that the seconds of a lease can be: a day.
pub const LONGEST_LEASE: u64 = 86_400;

impl<E> Comparison<E> {
    /// The current version of the layout.
    pub const VERSION: u32 = 3;

    /// The seconds of a lease where nothing else is asked for: 60, and 120 where the folder is on a
    /// network file system.
    pub fn default_lease(folder: &Path) -> u64 {
        lease::default_seconds(folder)
    }
}

impl<E: Experiment> Comparison<E> {
    /// All combinations of `recipe` on this data and device, in a folder of this machine.
    pub fn new(recipe: E, data: DataSource, device: &str, backend: &str) -> Self {
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

    /// The last seed that runs have, those that were added among them.
    pub(crate) fn last_seed(&self, design: &Design) -> u64 {
        let added = self.added_seeds.last().map_or(0, |added| added.seeds);
        design.plan().seeds.max(added)
    }

    /// How many first seeds choose what is tuned.
    pub(crate) fn choosing_seeds(&self, design: &Design) -> u64 {
        let plan = design.plan();
        let earlier = if plan.until_decided { 10 } else { plan.seeds };
        self.chosen_on.unwrap_or(earlier).min(plan.seeds)
    }

    /// What makes it smaller than it is meant to be, seeds among it.
    pub fn cut_down(&self, design: &Design) -> Vec<String> {
        let seeds = self.last_seed(design);
        let whole = design.whole_seeds.filter(|whole| seeds < *whole);
        let fewer = whole.map(|whole| match seeds {
            1 => format!("1 seed instead of {whole}"),
            _ => format!("{seeds} seeds instead of {whole}"),
        });
        design.cut_down.iter().cloned().chain(fewer).collect()
    }

    /// What it is decided by.
    pub fn criterion(&self) -> Criterion {
        self.recipe.design().criterion()
    }

    /// Adds seeds that were not planned.
    pub fn add_seeds(&mut self, seeds: u64, at: &str) {
        self.added_seeds.push(AddedSeeds { seeds, at: at.to_owned() });
    }

    /// Checks every value that a type cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value, and what it has to be.
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

    /// How long a worker on another host may be without a heartbeat.
    pub fn silence(&self) -> Duration {
        Duration::from_secs(self.lease_seconds.max(1))
    }

    /// The specification of a run; `None` where this program can have no such run.
    pub fn spec(&self, key: &RunKey) -> Option<E::Spec> {
        self.recipe.spec(&self.with(), key)
    }

    /// The same run as this comparison writes it, after which its folder is called: a file gives a setting
    /// back in an order of its own, and so do flags.
    pub(crate) fn in_order(&self, spec: E::Spec) -> E::Spec {
        let own = self.spec(&spec.key()).map(|own| own.at_version(spec.version()));
        own.filter(|own| *own == spec).unwrap_or(spec)
    }

    /// Whether a run is one of this comparison: trained by its recipe, on its data and backend.
    pub fn includes(&self, spec: &E::Spec) -> bool {
        self.recipe.includes(&self.with(), spec)
    }

    fn with(&self) -> With<'_> {
        With { backend: &self.backend, data_fingerprint: &self.data.fingerprint }
    }
}
