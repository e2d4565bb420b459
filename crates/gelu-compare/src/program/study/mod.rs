//! What a program is asked to compare.

mod baseline;
mod experiment;
mod validate;

use super::{Contents, Pattern};
use crate::measure::{Measure, NoWorse, Over, Reported, UntilDecided};
use crate::setting::Axis;
use crate::suggestion::did_you_mean;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A comparison of what a program does at some settings: a command, or a loop in a program of one's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The name it is called by.
    pub name: String,
    /// The command with `{axis}` and `{seed}` in its words; absent where the program itself has the loop,
    /// and where commands are what is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Patterns that measures are read by; without one, lines that are JSON objects tell them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Pattern>,
    /// Whether measures are read from standard error, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stderr: bool,
    /// Seconds after which a run that has not ended has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Seconds between the request to end and the end of a run that is given up; 2 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<u64>,
    /// Bytes of a run's output that are kept; 64,000,000 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_output: Option<u64>,
    /// Whether the program reads its setting from `$GELU_SETTING`, so that the command needs no
    /// placeholders.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub environment: bool,
    /// Runs of each setting, with the seeds 1, 2, ….
    pub seeds: u64,
    /// Name of the measure that decides.
    pub primary: String,
    /// Name of the measure that what is tuned is chosen by; the primary one where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Measures of which higher values are better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub higher: Vec<String>,
    /// Measures of which more is known than their name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// Whether what is told beside these is no measure: a learning rate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_declared: bool,
    /// Which epoch of a run its results are those of.
    #[serde(default)]
    pub reported: Reported,
    /// A difference of the primary measure too small to care about; 0 where none was declared.
    #[serde(default)]
    pub negligible: f64,
    /// The measure that must not get worse for an arm to be called better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis that verdicts are made over, rather than at each of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// With what probability a verdict of the whole table may be wrong; 0.05 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Where given, seeds are added until every comparison is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_decided: Option<UntilDecided>,
    /// Which judgement of a session's budget it is, from 1; absent outside sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<u64>,
    /// The arm that every other one is compared with, by its value or `axis=value,axis=value`; the first
    /// where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// What runs differ by beside their seeds.
    pub axes: Vec<Axis>,
    /// What the files hold that its commands name; absent where the program itself has the loop, and in folders that
    /// earlier versions made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Contents>,
}

impl Study {
    /// The axis of commands that are compared themselves.
    pub const COMMAND: &'static str = "command";

    /// With 8 seeds and no axis yet.
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

    /// Gives an axis its role and its values; one that was there gets others.
    pub fn axis(&mut self, axis: Axis) {
        match self.axes.iter_mut().find(|known| known.name == axis.name) {
            Some(known) => *known = axis,
            None => self.axes.push(axis),
        }
    }

    /// Its axis of that name; one that it does not have is refused.
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

    /// Whether its runs are those of commands, rather than of a loop of the program itself.
    pub fn has_commands(&self) -> bool {
        self.command.is_some() || self.axes.iter().any(|axis| axis.name == Self::COMMAND)
    }

    /// Declares a measure; one of that name that was declared before is another now.
    pub fn declare(&mut self, measure: Measure) {
        match self.measures.iter_mut().find(|known| known.name == measure.name) {
            Some(known) => *known = measure,
            None => self.measures.push(measure),
        }
    }

    /// A measure by its name.
    pub(in crate::program) fn measure(&self, name: &str) -> Measure {
        let declared = self.measures.iter().find(|measure| measure.name == name);
        let measure = declared.cloned().unwrap_or_else(|| Measure::named(name));
        match self.higher.iter().any(|known| known == name) {
            true => measure.higher(),
            false => measure,
        }
    }

    /// Returns the names of those declared measures of which higher values are better.
    pub fn higher_columns(&self) -> Vec<String> {
        let is_higher = |of: &&Measure| of.direction == crate::measure::Direction::Higher;
        let declared = self.measures.iter().filter(is_higher);
        declared.map(|measure| &measure.column).chain(&self.higher).cloned().collect()
    }

    /// What a finished run has to have measured.
    pub fn required(&self) -> impl Iterator<Item = &str> + Clone {
        let others = self.no_worse.iter().map(|no_worse| no_worse.metric.as_str());
        std::iter::once(self.primary.as_str()).chain(self.selection.as_deref()).chain(others)
    }
}

#[cfg(test)]
pub(crate) fn example() -> Study {
    let mut study = Study::new("train", "test_error");
    study.command = Some("./train --width {width} --seed {seed}".to_owned());
    study.axis(Axis::new("width", crate::setting::Role::Compared, [16, 32]));
    study
}
