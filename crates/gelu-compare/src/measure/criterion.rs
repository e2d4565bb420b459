use crate::comparison::statistics::Plan;
use crate::setting::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison is decided by, declared before its first run.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Name of the metric.
    pub primary: String,
    /// δ: a difference of the metric too small to care about, in its own unit (errors as fractions); 0 where nothing is
    /// called the same.
    pub negligible: f64,
    /// The metric that must not get worse for a setting to be called better.
    pub no_worse: Option<NoWorse>,
    /// The axis that verdicts are made over, with the number of its values; `None` where they are made at each.
    pub over: Option<(Over, u64)>,
    /// The arm that every other one is compared with.
    pub baseline: Setting,
    /// m: how many comparisons are planned, which share α. Every arm next to the baseline, at each combination of the
    /// values that a verdict is made at each of.
    pub comparisons: usize,
    /// α: with what probability a verdict of the whole table may be wrong.
    pub alpha: f64,
    /// How many seeds are planned, and when the test may decide.
    pub plan: Plan,
    /// Which judgement of a session's budget it is, from 1; `None` outside sessions.
    pub judgement: Option<u64>,
}

/// A metric that must not get worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoWorse {
    /// Its name.
    pub metric: String,
    /// By how much it may get worse, in its own unit.
    pub margin: f64,
}

/// An axis whose values are the units of a verdict: data sets, tasks, languages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// Its name.
    pub axis: String,
    /// How the differences at its values are brought to one scale.
    #[serde(default)]
    pub scale: Scale,
}

/// How differences of tasks are brought to one scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// As they are: all tasks have one unit.
    #[default]
    Raw,
    /// Relative to the baseline's mean.
    Ratio,
    /// Signed ranks of the differences.
    Ranks,
}

/// How long a comparison that goes on until it is decided may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilDecided {
    /// Seeds at most.
    pub max_seeds: u64,
}

impl UntilDecided {
    /// The largest number of seeds that can be asked for.
    pub const MOST: u64 = 1000;

    /// When the test may decide.
    pub fn plan(self) -> Plan {
        Plan::until_decided(self.max_seeds)
    }
}

impl Default for UntilDecided {
    /// 20 seeds.
    fn default() -> Self {
        Self { max_seeds: 20 }
    }
}
