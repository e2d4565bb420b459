use super::contents::Files;
use super::{Pattern, Template};
use crate::Result;
use crate::measure::{Direction, EpochMetrics, Measure, Reported};
use crate::runs::{RunKey, Spec, Stage};
use crate::setting::{Setting, Value};
use serde::{Deserialize, Serialize};

/// The specification of a run of a [`ProgramRecipe`](super::ProgramRecipe).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    pub(super) version: u32,
    /// The name of the recipe.
    pub experiment: String,
    /// The command. Absent if commands are compared with each other, and if the program contains the loop itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Patterns for reading measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Pattern>,
    /// Whether measures are also read from standard error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stderr: bool,
    /// The seed.
    pub seed: u64,
    #[serde(default, skip_serializing_if = "Stage::is_only")]
    pub(super) stage: Stage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) best_by: Option<BestBy>,
    /// A value for each axis.
    pub setting: Setting,
    /// The files that the command names, and those that these import, each with its digest. Empty if the program
    /// contains the loop itself, and in folders that earlier versions made.
    #[serde(default, skip_serializing_if = "Files::is_empty")]
    pub files: Files,
}

impl ProgramSpec {
    /// Returns the words of the run's command.
    ///
    /// # Errors
    ///
    /// Returns an error if the command cannot be split into words.
    pub(super) fn words(&self) -> Result<Vec<String>> {
        let template = Template::of(self.command.as_deref(), &self.setting)?;
        Ok(template.words(&self.setting, self.seed))
    }
}

/// The measure that selects the best epoch, if results come from the best epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BestBy {
    pub(super) measure: String,
    pub(super) direction: Direction,
}

impl Spec for ProgramSpec {
    const VERSION: u32 = 1;
    const TOOL: &'static str = "gelu-compare";

    fn version(&self) -> u32 {
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
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let mut prefix = String::new();
        for (name, value) in self.setting.iter() {
            let value = value.to_string();
            let is_word = value
                .parse()
                .is_ok_and(|value: Value| value.is_word() || value.content().is_empty());
            let name = if is_word { "" } else { name };
            let part: String = name.chars().chain(value.chars()).take(40).map(plain).collect();
            prefix.push_str(part.trim_matches(['-', '.']));
            prefix.push('-');
        }
        let prefix: String = prefix.chars().take(120).collect();
        let prefix = prefix.trim_start_matches(['.', '-']).trim_end_matches('-');
        let dash = if prefix.is_empty() { "" } else { "-" };
        format!("{prefix}{dash}seed{}", self.seed)
    }

    fn epochs(&self) -> Option<usize> {
        None
    }

    fn reported_epoch<'a>(&self, epochs: &'a [EpochMetrics]) -> Option<&'a EpochMetrics> {
        let measure = |by: &BestBy| Measure::named(&by.measure).towards(by.direction);
        match &self.best_by {
            Some(by) => Reported::BestEpoch.epoch_of(&measure(by), epochs),
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
    fn the_best_epoch_is_the_highest_where_higher_is_better() {
        let epoch = |(index, value): (usize, f64)| EpochMetrics::new(index + 1).with("x", value);
        let epochs: Vec<_> = [0.5, 0.9, 0.7].into_iter().enumerate().map(epoch).collect();
        let reported = |direction| {
            let best_by = BestBy { measure: "x".to_owned(), direction };
            let spec = crate::runs::examples::specs().swap_remove(0);
            let spec = ProgramSpec { best_by: Some(best_by), ..spec };
            spec.reported_epoch(&epochs).map(|epoch| epoch.epoch)
        };
        assert_eq!(reported(Direction::Higher), Some(2));
        assert_eq!(reported(Direction::Lower), Some(1));
    }
}
