//! Comparisons that a program can only show, because another program made them.

use super::{DataAndBackend, Description, Design, Recipe, RunKey, Spec, Stage};
use crate::measure::{EpochMetrics, Measure, Reported};
use crate::setting::{Axis, Setting, Value};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// A comparison of another kind of program. It stores the recipe unchanged and shows the comparison by its
/// [`Description`]. It has no runs of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Foreign {
    recipe: Map<String, Json>,
    #[serde(skip)]
    description: Option<Description>,
}

/// A run of such a comparison, with what is needed to show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignRun {
    version: u32,
    experiment: String,
    seed: u64,
    #[serde(default)]
    stage: Stage,
    #[serde(flatten)]
    rest: Map<String, Json>,
    #[serde(skip)]
    setting: Setting,
    #[serde(skip)]
    epochs: Option<usize>,
    /// The measure that selects the best epoch, if results come from the best epoch.
    #[serde(skip)]
    best_by: Option<Measure>,
}

impl Recipe for Foreign {
    type Spec = ForeignRun;

    /// Without a description, the comparison cannot be shown.
    fn validate(&self) -> Result<()> {
        let problem = "it does not say how to show it; show it with the program that made it";
        match &self.description {
            Some(_) => Ok(()),
            None => Err(Error::Usage(problem.to_owned())),
        }
    }

    fn design(&self) -> Design {
        let of = |description: &Description| description.design.clone();
        let unknown = || Design::new("unknown", Vec::new(), Measure::named("unknown"));
        self.description.as_ref().map_or_else(unknown, of)
    }

    fn spec(&self, _: &DataAndBackend<'_>, _: &RunKey) -> Option<ForeignRun> {
        None
    }

    fn includes(&self, _: &DataAndBackend<'_>, run: &ForeignRun) -> bool {
        let design = self.design();
        run.experiment == design.name && run.setting.iter().count() == design.axes.len()
    }

    fn with_grid_of(&self, _: &Self) -> Self {
        self.clone()
    }

    fn with_seeds_of(&self, _: &Self) -> Self {
        self.clone()
    }

    fn command(&self) -> Option<String> {
        self.description.as_ref()?.command.clone()
    }

    fn takes_file(&self) -> bool {
        false
    }

    fn program(&self) -> String {
        let program = self.description.as_ref().map(|description| description.program.clone());
        program.unwrap_or_else(|| "another program".to_owned())
    }

    fn described(self, description: Option<Description>) -> Self {
        Self { description, ..self }
    }

    fn complete(&self, run: ForeignRun) -> ForeignRun {
        let design = self.design();
        let value = |axis: &Axis| Some((axis.name.clone(), run.value(axis)?));
        ForeignRun {
            setting: Setting::new(design.axes.iter().filter_map(value)),
            epochs: design.epochs,
            best_by: (design.reported == Reported::BestEpoch).then(|| {
                let chosen = design.measures.iter().find(|m| m.name == design.selection);
                chosen.cloned().unwrap_or_else(|| Measure::named(&design.selection))
            }),
            ..run
        }
    }
}

impl ForeignRun {
    /// Returns the value of an axis. A program's own runs have it in `setting`; other runs have a field with the
    /// axis's column name.
    fn value(&self, axis: &Axis) -> Option<Value> {
        let of_setting = self.rest.get("setting").and_then(|setting| setting.get(&axis.name));
        let value = of_setting.or_else(|| self.rest.get(axis.column()))?;
        serde_json::from_value(value.clone()).ok()
    }
}

impl Spec for ForeignRun {
    /// All versions are accepted.
    const VERSION: u32 = u32::MAX;
    const TOOL: &'static str = "another program";

    fn version(&self) -> u32 {
        self.version
    }

    /// The current version of the run's program is unknown here.
    fn current_version(&self) -> u32 {
        self.version
    }

    fn at_version(&self, version: u32) -> Self {
        Self { version, ..self.clone() }
    }

    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn key(&self) -> RunKey {
        RunKey { setting: self.setting.clone(), seed: self.seed, stage: self.stage }
    }

    fn folder_prefix(&self) -> String {
        format!("seed{}", self.seed)
    }

    fn epochs(&self) -> Option<usize> {
        self.epochs
    }

    fn reported_epoch<'a>(&self, epochs: &'a [EpochMetrics]) -> Option<&'a EpochMetrics> {
        match &self.best_by {
            Some(measure) => Reported::BestEpoch.epoch_of(measure, epochs),
            None => Reported::LastEpoch.epoch_of(&Measure::named(""), epochs),
        }
    }

    fn reports_best_epoch(&self) -> bool {
        self.best_by.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_of_another_program_is_repeated_by_the_command_that_it_names() {
        let of = |command: Option<&str>| {
            let design = Design::new("mine", Vec::new(), Measure::named("loss"));
            let (tool, program) = ("mine".to_owned(), "mine".to_owned());
            let command = command.map(str::to_owned);
            let description = Some(Description { tool, program, command, design });
            Foreign { recipe: Map::new(), description }.command()
        };
        assert_eq!(of(Some("mine compare")).as_deref(), Some("mine compare"));
        assert_eq!(of(None), None);
        assert_eq!(Foreign { recipe: Map::new(), description: None }.command(), None);
    }
}
