//! Checks of recipes of programs.

use super::ProgramRecipe;
use crate::comparison::statistics::session;
use crate::measure::NoWorse;
use crate::names::{check_file_name, check_line};
use crate::program::Template;
use crate::setting::Role;
use crate::{Error, Result};

/// The limit for the number of runs in a comparison.
const MOST_RUNS: u128 = 1_000_000;

impl ProgramRecipe {
    /// Checks that a recipe can be carried out and judged.
    pub(super) fn check(&self) -> Result<()> {
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
        if let Some(level) = self.level.filter(|level| !(*level > 0.0 && *level < 1.0)) {
            return refuse(format!(
                "the level is {level}; it has to lie between 0 and 1, as 0.05 does"
            ));
        }
        if let Some(j) = self.judgement.filter(|j| !session::is_judgement(*j)) {
            return refuse(format!(
                "it is judgement {j} of a budget; that has the judgements 1 to {}",
                session::LAST
            ));
        }
        if let Some(NoWorse { metric, margin }) = &self.no_worse {
            if !(margin.is_finite() && *margin > 0.0) {
                return refuse(format!(
                    "{metric} may get worse by {margin}; that has to be more than 0, as in --no-worse {metric}=0.01"
                ));
            }
            if *metric == self.primary {
                return refuse(format!(
                    "--no-worse names {metric}, which decides; name another metric, or leave it out"
                ));
            }
        }
        if let Some(over) = &self.over {
            over.check(&self.axes, self.until_decided.is_some(), self.no_worse.is_some())?;
        }
        if self.primary.is_empty() {
            return refuse("no metric decides; name it with --metric".to_owned());
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
}
