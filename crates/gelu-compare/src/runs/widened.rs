//! Extending a comparison with more values, seeds or other measures.

use super::provenance::now;
use super::{Design, LaterMeasure, Plan, Recipe, RunKey, Stage};
use serde::Serialize;
use serde_json::Value;

/// Facts about a comparison's existing runs. They are closures because answers require reading the runs.
pub(super) struct History<L, U> {
    /// Returns whether a pair of runs is complete.
    pub(super) has_begun: L,
    /// Returns how many runs are complete, and which of the given measures one of them has not reported.
    pub(super) unreported: U,
}

impl<R: Recipe> Plan<R> {
    /// Returns this comparison extended as `asked`. You can add values of its axes and seeds. Other changes are
    /// errors, because the existing runs would no longer belong to the comparison.
    ///
    /// More seeds are a new plan as long as no pair of runs is complete; afterwards they are added to the planned
    /// ones. Likewise, another measure is a new plan as long as no run is complete. Afterwards it is recorded as an
    /// unplanned choice, and every complete run must have reported it.
    ///
    /// # Errors
    ///
    /// Returns a description of the difference, with the values here and there.
    pub(super) fn widened(
        &self,
        asked: &Self,
        history: History<impl FnOnce() -> bool, impl FnOnce(&[&str]) -> (usize, Option<String>)>,
    ) -> std::result::Result<Self, String> {
        let (made_by, program) = (self.recipe.program(), asked.recipe.program());
        if made_by != program {
            return Err(format!("it is one of {made_by}, not of {program}"));
        }
        let asked = &Self { recipe: asked.recipe.written_as(&self.recipe), ..asked.clone() };
        let mut same_grid = asked.clone();
        // The set of comparisons may change, but not the criterion, nor the number of planned seeds once there are
        // results.
        same_grid.recipe = asked.recipe.with_grid_of(&self.recipe);
        let (here, there) = (self.recipe.design(), asked.recipe.design());
        same_grid.planned = self.planned;
        same_grid.added_seeds = self.added_seeds.clone();
        same_grid.chosen_on = self.chosen_on;
        same_grid.device = self.device.clone();
        same_grid.lease_seconds = self.lease_seconds;
        same_grid.data.location = self.data.location.clone();
        same_grid.later_measures = self.later_measures.clone();
        let measured_otherwise = same_grid.clone();
        same_grid.recipe = same_grid.recipe.with_measures_of(&self.recipe);
        if let Some(difference) = difference("", &to_value(self), &to_value(&same_grid)) {
            return Err(difference);
        }
        let later = match same_grid == measured_otherwise {
            true => None,
            false => self.later_measure(&measured_otherwise, &here, &there, history.unreported)?,
        };
        if !asked.planned {
            return Ok(self.clone());
        }
        let mut widened = self.clone();
        (widened.recipe, widened.planned) = (asked.recipe.clone(), true);
        if self.planned {
            let missing = |what: &str, value: String| {
                Err(format!("{what} has {value} there, which is not asked for now"))
            };
            for axis in &here.axes {
                let asked = there.axes.iter().find(|other| other.name == axis.name);
                let asked = asked.map_or(&[][..], |other| &other.values);
                if let Some(value) = axis.values.iter().find(|value| !asked.contains(value)) {
                    return missing(axis.name.as_str(), value.to_string());
                }
            }
            if asked.recipe.begins_anew(&self.recipe) {
                widened.added_seeds.clear();
                widened.later_measures.clear();
                return Ok(widened);
            }
            let further = self.further_seeds(&here, &there, history.has_begun)?;
            if further != Further::NewPlan {
                widened.recipe = asked.recipe.with_seeds_of(&self.recipe);
            }
            widened.later_measures.extend(later);
            if let Further::Added { seeds } = further {
                widened.add_seeds(seeds, &now());
            }
        }
        Ok(widened)
    }

    /// Returns the record of a later choice of another measure, or `None` if no run is complete.
    fn later_measure(
        &self,
        asked: &Self,
        here: &Design,
        there: &Design,
        unreported: impl FnOnce(&[&str]) -> (usize, Option<String>),
    ) -> std::result::Result<Option<LaterMeasure>, String> {
        let first = here.settings().into_iter().next().unwrap_or_default();
        let key = RunKey { setting: first, seed: 1, stage: Stage::Only };
        if self.spec(&key) != asked.spec(&key) {
            // The measure also determines which epoch a run reports.
            return Err(difference("", &to_value(self), &to_value(asked)).unwrap_or_default());
        }
        match unreported(&[&there.primary, &there.selection]) {
            (0, _) => Ok(None),
            (complete, Some(measure)) => Err(format!(
                "{complete} of its runs are complete, and not all of them reported {measure}"
            )),
            (_, None) => Ok(Some(LaterMeasure {
                measure: there.primary.clone(),
                instead_of: here.primary.clone(),
                at: now(),
            })),
        }
    }

    /// Returns how the requested seeds relate to the existing ones.
    fn further_seeds(
        &self,
        here: &Design,
        asked: &Design,
        has_begun: impl FnOnce() -> bool,
    ) -> std::result::Result<Further, String> {
        let (planned, seeds) = (here.schedule(), asked.schedule().seeds);
        let last = self.last_seed(here);
        let added = |seeds: &u64| self.added_seeds.iter().any(|added| added.seeds == *seeds);
        let tasks = |design: &Design| design.criterion().over.map(|(_, tasks)| tasks);
        match seeds {
            _ if tasks(asked) != tasks(here) => match has_begun() {
                false => Ok(Further::NewPlan),
                true => Err(format!(
                    "its verdicts are made once, over {} tasks, and there are results already; name another folder with \
                     --out",
                    tasks(here).unwrap_or_default()
                )),
            },
            _ if !planned.until_decided && asked.schedule().until_decided => match has_begun() {
                false => Ok(Further::NewPlan),
                true => Err(format!(
                    "its {} seeds were planned to be judged once, and there are results already: --until-decided has to \
                     be planned before the first",
                    planned.seeds
                )),
            },
            seeds if seeds > last => match has_begun() {
                false => Ok(Further::NewPlan),
                true if here.over.is_some() => Err(format!(
                    "its verdicts are made once, of {} seeds at each task, and there are results already; name another \
                     folder with --out",
                    planned.seeds
                )),
                true => Ok(Further::Added { seeds }),
            },
            seeds if planned.until_decided || seeds == planned.seeds || added(&seeds) => {
                Ok(Further::Nothing)
            }
            _ => Err(format!("comparison.seeds has {last} there, and {seeds} are asked for now")),
        }
    }
}

/// The relation of requested seeds to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Further {
    /// The comparison already has them.
    Nothing,
    /// There are no results yet, so the seeds replace the planned ones.
    NewPlan,
    /// The seeds are added to the planned ones.
    Added { seeds: u64 },
}

fn to_value<R: Serialize>(plan: &Plan<R>) -> Value {
    serde_json::to_value(plan).expect("a comparison holds plain values alone")
}

/// Returns the first difference between two values: `training.epochs is 20 there and 2 here`.
fn difference(place: &str, there: &Value, here: &Value) -> Option<String> {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let place = match place {
                    "" | "recipe" => key.clone(),
                    place => format!("{place}.{key}"),
                };
                let of = |object: &serde_json::Map<String, Value>| {
                    object.get(key).cloned().unwrap_or(Value::Null)
                };
                difference(&place, &of(a), &of(b))
            })
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{place} is {} there and {} here", shown(a), shown(b))),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::History;
    use crate::runs::examples::plan;
    use std::path::PathBuf;

    #[test]
    fn data_may_have_moved_and_may_not_be_others() {
        let mut there = plan();
        there.data.fingerprint = "its content".to_owned();
        let mut asked = there.clone();
        asked.data.location = Some(PathBuf::from("elsewhere"));
        let new = || History { has_begun: || false, unreported: |_: &[&str]| (0, None) };
        assert_eq!(there.widened(&asked, new()), Ok(there.clone()));
        asked.data.fingerprint = "other".to_owned();
        let refused = there.widened(&asked, new()).unwrap_err();
        assert!(refused.contains("data.fingerprint"), "{refused}");
    }
}
