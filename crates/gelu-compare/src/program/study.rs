use super::study_run::{BestBy, StudyRun};
use super::{Pattern, Template};
use crate::measure::{Measure, Reported, UntilDecided};
use crate::names::{check_file_name, check_line};
use crate::runs::{Design, Experiment, RunKey, Spec, With};
use crate::setting::{Axis, Role, Setting, Value};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Runs of a comparison that nobody can mean to exceed.
const MOST_RUNS: u128 = 1_000_000;

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
    /// Seconds after which a run that has not ended has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
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
    /// A difference of the primary measure that nobody would care about; 0 where none was declared.
    #[serde(default)]
    pub negligible: f64,
    /// Where given, seeds are added until every comparison is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_decided: Option<UntilDecided>,
    /// The arm that every other one is compared with, by its value or `axis=value,axis=value`; the first
    /// where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// What runs differ by beside their seeds.
    pub axes: Vec<Axis>,
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
            timeout: None,
            environment: false,
            seeds: 8,
            primary: primary.to_owned(),
            selection: None,
            higher: Vec::new(),
            measures: Vec::new(),
            only_declared: false,
            reported: Reported::LastEpoch,
            negligible: 0.0,
            until_decided: None,
            baseline: None,
            axes: Vec::new(),
        }
    }

    /// Gives an axis its role and its values; one that was there gets others.
    pub fn axis(&mut self, axis: Axis) {
        match self.axes.iter_mut().find(|known| known.name == axis.name) {
            Some(known) => *known = axis,
            None => self.axes.push(axis),
        }
    }

    /// Refuses an axis that it does not have.
    pub(super) fn knows(&self, axis: &str) -> Result<()> {
        let names: Vec<&str> = self.axes.iter().map(|known| known.name.as_str()).collect();
        let there = match names.as_slice() {
            [] => "this program has none".to_owned(),
            _ if names.contains(&axis) => return Ok(()),
            _ => format!("there are: {}", names.join(", ")),
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
    pub(super) fn measure(&self, name: &str) -> Measure {
        let declared = self.measures.iter().find(|measure| measure.name == name);
        let measure = declared.cloned().unwrap_or_else(|| Measure::named(name));
        match self.higher.iter().any(|known| known == name) {
            true => measure.higher(),
            false => measure,
        }
    }

    /// What a finished run has to have measured.
    pub fn required(&self) -> impl Iterator<Item = &str> + Clone {
        std::iter::once(self.primary.as_str()).chain(self.selection.as_deref())
    }

    fn baseline(&self) -> Result<Option<Setting>> {
        let Some(text) = &self.baseline else { return Ok(None) };
        let compared: Vec<&Axis> = Role::Compared.of(&self.axes).collect();
        let value = |text: &str| text.parse::<Value>().unwrap_or_else(|never| match never {});
        let arm = match compared.as_slice() {
            [axis] => Setting::new([(axis.name.clone(), value(text))]),
            _ => {
                let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
                let of = |axis: &&&Axis| {
                    let found = pairs.clone().find(|(name, _)| *name == axis.name);
                    Some((axis.name.clone(), value(found?.1)))
                };
                Setting::new(compared.iter().filter_map(|axis| of(&axis)))
            }
        };
        let known = |axis: &&Axis| arm.get(&axis.name).is_some_and(|v| axis.values.contains(v));
        match compared.iter().all(known) {
            true => Ok(Some(arm)),
            false => Err(Error::Usage(format!(
                "the baseline {text} is not among what is compared: {}",
                compared
                    .iter()
                    .map(|axis| format!("{} is one of {}", axis.name, listed(&axis.values)))
                    .collect::<Vec<_>>()
                    .join("; ")
            ))),
        }
    }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Experiment for Study {
    type Spec = StudyRun;

    fn validate(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Usage(problem));
        check_file_name("the name", &self.name)?;
        for axis in &self.axes {
            check_line("the name of an axis", &axis.name)?;
            if axis.values.is_empty() {
                return refuse(format!("{} has no value", axis.name));
            }
            if matches!(axis.name.as_str(), "seed" | "stage" | "epoch" | "status" | "folder") {
                return refuse(format!(
                    "an axis cannot be called {}; every run has one",
                    axis.name
                ));
            }
        }
        let Some(compared) = Role::Compared.of(&self.axes).next() else {
            return refuse(
                "nothing is compared; name an axis and its values, as in --compare lr=1e-3,1e-4"
                    .to_owned(),
            );
        };
        if Role::Compared.of(&self.axes).all(|axis| axis.values.len() == 1) {
            return refuse(format!(
                "{} has one value, and nothing to compare it with",
                compared.name
            ));
        }
        if !(self.negligible.is_finite() && self.negligible >= 0.0) {
            return refuse(format!("negligible is {}; it has to be 0 or more", self.negligible));
        }
        if self.primary.is_empty() {
            return refuse("no measure decides; name it with --primary".to_owned());
        }
        if let Some(tuned) = Role::Tuned.of(&self.axes).find(|axis| axis.values.len() > 1)
            && self.selection.as_ref().is_none_or(|by| *by == self.primary)
        {
            return refuse(format!(
                "the best {} would be judged by what it was chosen for; choose by another measure \
                 than {} (--select valid_loss)",
                tuned.name, self.primary
            ));
        }
        let settings: u128 = self.axes.iter().map(|axis| axis.values.len() as u128).product();
        let seeds = self.until_decided.map_or(self.seeds, |until| until.max_seeds);
        if seeds == 0 {
            return refuse("the number of seeds is 0; it has to be at least 1".to_owned());
        }
        if settings * u128::from(seeds) > MOST_RUNS {
            return refuse(format!(
                "these are {} runs; a comparison has at most {MOST_RUNS}",
                settings * u128::from(seeds)
            ));
        }
        self.baseline()?;
        if let Some(command) = &self.command {
            Template::parse(command)?.check(&self.axes, self.environment)?;
        }
        Ok(())
    }

    fn design(&self) -> Design {
        let mut design = Design::new(&self.name, self.axes.clone(), self.measure(&self.primary));
        if let Some(selection) = self.selection.as_ref().filter(|name| **name != self.primary) {
            design.measures.push(self.measure(selection));
            design.selection.clone_from(selection);
        }
        let declared = |name: &&String| design.measures.iter().all(|m| m.name != **name);
        let names = self.measures.iter().map(|measure| &measure.name).chain(&self.higher);
        let others: Vec<Measure> = names.filter(declared).map(|name| self.measure(name)).collect();
        design.measures.extend(others);
        if let Ok(Some(baseline)) = self.baseline() {
            design.baseline = baseline;
        }
        if let Some(command) = &self.command {
            design.title = crate::names::printable(command);
        }
        design.open = !self.only_declared;
        design.seeds = self.seeds;
        design.until_decided = self.until_decided;
        design.reported = self.reported;
        design.negligible = self.negligible;
        design
    }

    fn spec(&self, _: &With<'_>, key: &RunKey) -> Option<StudyRun> {
        let complete = self.axes.iter().all(|axis| key.setting.get(&axis.name).is_some());
        complete.then(|| StudyRun {
            version: StudyRun::VERSION,
            experiment: self.name.clone(),
            command: self.command.clone(),
            read: self.read.clone(),
            seed: key.seed,
            stage: key.stage,
            best_by: (self.reported == Reported::BestEpoch).then(|| {
                let measure = self.measure(self.selection.as_ref().unwrap_or(&self.primary));
                BestBy { direction: measure.direction, measure: measure.name }
            }),
            setting: key.setting.clone(),
        })
    }

    fn with_grid_of(&self, other: &Self) -> Self {
        let mut same = self.with_seeds_of(other);
        same.baseline.clone_from(&other.baseline);
        same.timeout = other.timeout;
        for axis in &mut same.axes {
            if let Some(there) = other.axes.iter().find(|there| there.name == axis.name) {
                axis.values.clone_from(&there.values);
            }
        }
        same
    }

    fn with_seeds_of(&self, other: &Self) -> Self {
        Self { seeds: other.seeds, until_decided: other.until_decided, ..self.clone() }
    }

    fn command(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
pub(crate) fn example() -> Study {
    let mut study = Study::new("train", "test_error");
    study.command = Some("./train --width {width} --seed {seed}".to_owned());
    study.axis(Axis::new("width", Role::Compared, [16, 32]));
    study
}
