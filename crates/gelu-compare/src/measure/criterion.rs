use crate::comparison::statistics::Schedule;
use crate::setting::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The criterion that decides a comparison, declared before its first run.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// The name of the metric.
    pub primary: String,
    /// δ: a difference of the metric too small to care about, in the metric's unit (errors as fractions); 0 if
    /// nothing is called the same.
    pub negligible: f64,
    /// The metric that must not get worse for a setting to be called better.
    pub no_worse: Option<NoWorse>,
    /// The axis over whose values the verdict is made, with the number of values; `None` if there is a verdict at
    /// each value.
    pub over: Option<(Over, u64)>,
    /// The arm that all others are compared with.
    pub baseline: Setting,
    /// m: the number of planned comparisons, which share α. Every arm is compared with the baseline at each
    /// combination of the values that have a verdict of their own.
    pub comparisons: usize,
    /// α: the maximum probability that any verdict of the table is wrong.
    pub alpha: f64,
    /// The number of planned seeds, and when the test may decide.
    pub schedule: Schedule,
    /// The number of the judgement in a session's budget, from 1; `None` outside sessions.
    pub judgement: Option<u64>,
}

/// A metric that must not get worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoWorse {
    /// The metric's name.
    pub metric: String,
    /// By how much the metric may get worse, in its unit.
    pub margin: f64,
}

/// An axis whose values are the units of a verdict: data sets, tasks, languages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The axis's name.
    pub axis: String,
    /// The scale that the differences at its values are brought to.
    #[serde(default)]
    pub scale: Scale,
}

/// A scale that differences of tasks are brought to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// The differences as they are, because all tasks have one unit.
    #[default]
    Raw,
    /// Differences relative to the baseline's mean.
    Ratio,
    /// Signed ranks of the differences.
    Ranks,
}

/// The limit of a comparison that continues until it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilDecided {
    /// The maximum number of seeds.
    pub max_seeds: u64,
}

impl UntilDecided {
    /// The largest value that `max_seeds` may have.
    pub const MOST: u64 = 1000;

    /// Returns the schedule of the test.
    pub fn schedule(self) -> Schedule {
        Schedule::until_decided(self.max_seeds)
    }
}

impl Default for UntilDecided {
    /// Returns a limit of 20 seeds.
    fn default() -> Self {
        Self { max_seeds: 20 }
    }
}
