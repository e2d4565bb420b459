//! Recipes of programs: what a program is asked to compare.

mod as_recipe;
mod baseline;
mod validate;

use super::{Contents, Pattern};
use crate::measure::{Measure, NoWorse, Over, Reported, UntilDecided};
use crate::setting::Axis;
use crate::suggestion::did_you_mean;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The recipe of a program at several settings. The program is a command, or a loop in your own program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramRecipe {
    /// The recipe's name.
    pub name: String,
    /// The command with `{axis}` and `{seed}` in its words. Absent if the program contains the loop itself, and if
    /// commands are compared with each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Patterns for reading measures. Without patterns, lines that are JSON objects contain the measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Pattern>,
    /// Whether measures are also read from standard error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stderr: bool,
    /// Seconds after which an unfinished run has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Seconds that a run gets between the request to end and the kill; 2 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<u64>,
    /// The maximum number of saved bytes of a run's output; 64,000,000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_output: Option<u64>,
    /// Whether the program reads its setting from `$GELU_SETTING`, so that the command needs no placeholders.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub environment: bool,
    /// The number of runs of each setting, with the seeds 1, 2, ….
    pub seeds: u64,
    /// The name of the measure that decides.
    pub primary: String,
    /// The name of the measure that selects the tuned values; the primary one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Measures for which higher values are better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub higher: Vec<String>,
    /// Declared measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// Whether other reported values, such as a learning rate, are not measures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_declared: bool,
    /// The epoch that provides a run's results.
    #[serde(default)]
    pub reported: Reported,
    /// The largest difference of the primary measure that is too small to care about; 0 if none was declared.
    #[serde(default)]
    pub negligible: f64,
    /// A measure that must not get worse if an arm is to be called better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis whose values are combined into one verdict, instead of a verdict at each value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// The maximum probability that the whole table contains a wrong verdict; 0.05 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// If given, seeds are added until every comparison is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_decided: Option<UntilDecided>,
    /// The number of this judgement in a session's budget, from 1; absent outside sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<u64>,
    /// The arm with which every other arm is compared, as its value or as `axis=value,axis=value`; the first arm if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The axes along which runs differ, in addition to their seeds.
    pub axes: Vec<Axis>,
    /// The contents of the files that the commands name. Absent if the program contains the loop itself, and in
    /// folders that earlier versions made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Contents>,
}

impl ProgramRecipe {
    /// The name of the axis whose values are the compared commands.
    pub const COMMAND: &'static str = "command";

    /// Creates a recipe with 8 seeds and no axes.
    pub fn new(name: &str, primary: &str) -> Self {
        Self {
            name: name.to_owned(),
            command: None,
            read: Vec::new(),
            stderr: false,
            timeout: None,
            grace: None,
            keep_output: None,
            environment: false,
            seeds: 8,
            primary: primary.to_owned(),
            selection: None,
            higher: Vec::new(),
            measures: Vec::new(),
            only_declared: false,
            reported: Reported::LastEpoch,
            negligible: 0.0,
            no_worse: None,
            over: None,
            level: None,
            until_decided: None,
            judgement: None,
            baseline: None,
            axes: Vec::new(),
            contents: None,
        }
    }

    /// Adds an axis, or replaces the axis of the same name.
    pub fn axis(&mut self, axis: Axis) {
        match self.axes.iter_mut().find(|known| known.name == axis.name) {
            Some(known) => *known = axis,
            None => self.axes.push(axis),
        }
    }

    /// Returns the axis of the given name, or an error if there is none.
    pub(super) fn knows(&self, axis: &str) -> Result<&Axis> {
        if let Some(known) = self.axes.iter().find(|known| known.name == axis) {
            return Ok(known);
        }
        let names: Vec<&str> = self.axes.iter().map(|known| known.name.as_str()).collect();
        let there = match names.as_slice() {
            [] => "this program has none".to_owned(),
            _ => format!("there are: {}", names.join(", ")),
        };
        let there = match did_you_mean(axis, &names) {
            Some(question) => format!("{question} {}", there.replacen('t', "T", 1)),
            None => there,
        };
        Err(Error::Usage(format!(
            "there is no axis {axis}; {there}. What else the program reads it has to declare, as in \
             .set(\"{axis}\", 1)"
        )))
    }

    /// Returns whether runs are those of commands, rather than of a loop in the program itself.
    pub fn has_commands(&self) -> bool {
        self.command.is_some() || self.axes.iter().any(|axis| axis.name == Self::COMMAND)
    }

    /// Declares a measure, or replaces the measure of the same name.
    pub fn declare(&mut self, measure: Measure) {
        match self.measures.iter_mut().find(|known| known.name == measure.name) {
            Some(known) => *known = measure,
            None => self.measures.push(measure),
        }
    }

    /// Returns a measure by its name.
    pub(in crate::program) fn measure(&self, name: &str) -> Measure {
        let declared = self.measures.iter().find(|measure| measure.name == name);
        let measure = declared.cloned().unwrap_or_else(|| Measure::named(name));
        match self.higher.iter().any(|known| known == name) {
            true => measure.higher(),
            false => measure,
        }
    }

    /// Returns the columns of the measures for which higher values are better.
    pub fn higher_columns(&self) -> Vec<String> {
        let is_higher = |of: &&Measure| of.direction == crate::measure::Direction::Higher;
        let declared = self.measures.iter().filter(is_higher);
        declared.map(|measure| &measure.column).chain(&self.higher).cloned().collect()
    }

    /// Returns the measures that a finished run must have reported.
    pub fn required(&self) -> impl Iterator<Item = &str> + Clone {
        let others = self.no_worse.iter().map(|no_worse| no_worse.metric.as_str());
        std::iter::once(self.primary.as_str()).chain(self.selection.as_deref()).chain(others)
    }
}

#[cfg(test)]
pub(crate) fn example() -> ProgramRecipe {
    let mut recipe = ProgramRecipe::new("train", "test_error");
    recipe.command = Some("./train --width {width} --seed {seed}".to_owned());
    recipe.axis(Axis::new("width", crate::setting::Role::Compared, [16, 32]));
    recipe
}
