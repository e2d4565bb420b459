//! Implements [`Recipe`] for recipes of programs.

use super::ProgramRecipe;
use crate::Result;
use crate::measure::{Measure, Reported};
use crate::program::Files;
use crate::program::spec::{BestBy, ProgramSpec};
use crate::runs::{DataAndBackend, Design, Recipe, RunKey, Spec};
use crate::setting::{Role, Setting, Value};
use std::time::Duration;

impl Recipe for ProgramRecipe {
    type Spec = ProgramSpec;

    fn validate(&self) -> Result<()> {
        self.check()
    }

    fn design(&self) -> Design {
        let mut design = Design::new(&self.name, self.axes.clone(), self.measure(&self.primary));
        if let Some(selection) = self.selection.as_ref().filter(|name| **name != self.primary) {
            design.measures.push(self.measure(selection));
            design.selection.clone_from(selection);
        }
        let declared = |name: &&String| design.measures.iter().all(|m| m.name != **name);
        let guard = self.no_worse.iter().map(|no_worse| &no_worse.metric);
        let names = self.measures.iter().map(|measure| &measure.name);
        let names = names.chain(&self.higher).chain(guard);
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
        design.no_worse.clone_from(&self.no_worse);
        design.over.clone_from(&self.over);
        design.alpha = self.level.unwrap_or(design.alpha);
        design.judgement = self.judgement;
        design
    }

    fn spec(&self, _: &DataAndBackend<'_>, key: &RunKey) -> Option<ProgramSpec> {
        let complete = self.axes.iter().all(|axis| key.setting.get(&axis.name).is_some());
        complete.then(|| ProgramSpec {
            version: ProgramSpec::VERSION,
            experiment: self.name.clone(),
            command: self.command.clone(),
            read: self.read.clone(),
            stderr: self.stderr,
            seed: key.seed,
            stage: key.stage,
            best_by: (self.reported == Reported::BestEpoch).then(|| {
                let measure = self.measure(self.selection.as_ref().unwrap_or(&self.primary));
                BestBy { direction: measure.direction, measure: measure.name }
            }),
            files: self.files(&key.setting, key.seed),
            // The run's name depends on this order, and a file may have another order.
            setting: key.setting.in_order_of(&self.axes),
        })
    }

    fn with_grid_of(&self, other: &Self) -> Self {
        let mut same = self.with_seeds_of(other);
        same.baseline.clone_from(&other.baseline);
        same.timeout = other.timeout;
        same.grace = other.grace;
        same.keep_output = other.keep_output;
        same.contents.clone_from(&other.contents);
        for axis in &mut same.axes {
            if let Some(there) = other.axes.iter().find(|there| there.name == axis.name) {
                axis.values.clone_from(&there.values);
            }
        }
        same
    }

    fn written_as(&self, other: &Self) -> Self {
        let mut same = self.clone();
        for axis in &mut same.axes {
            let there = other.axes.iter().filter(|there| there.name == axis.name);
            for known in there.flat_map(|there| &there.values) {
                let known_so = |value: &Value| value.as_number() == known.as_number();
                if matches!(known, Value::Number(_))
                    && !axis.values.contains(known)
                    && let Some(value) = axis.values.iter_mut().find(|value| known_so(value))
                {
                    *value = known.clone();
                }
            }
        }
        arrange(&mut same.axes, &other.axes, |a, b| a.name == b.name);
        arrange(&mut same.measures, &other.measures, |a, b| a.name == b.name);
        arrange(&mut same.higher, &other.higher, |a, b| a == b);
        same
    }

    fn with_seeds_of(&self, other: &Self) -> Self {
        Self { seeds: other.seeds, until_decided: other.until_decided, ..self.clone() }
    }

    fn with_measures_of(&self, other: &Self) -> Self {
        if (&self.primary, &self.selection) == (&other.primary, &other.selection) {
            return self.clone();
        }
        Self {
            primary: other.primary.clone(),
            selection: other.selection.clone(),
            higher: other.higher.clone(),
            measures: other.measures.clone(),
            negligible: other.negligible,
            ..self.clone()
        }
    }

    fn grace(&self) -> Duration {
        self.grace.map_or(Duration::from_secs(2), Duration::from_secs)
    }

    /// A comparison whose one side has changed is another comparison.
    fn begins_anew(&self, there: &Self) -> bool {
        let design = self.design();
        let changed = |setting: &Setting| self.files(setting, 1) != there.files(setting, 1);
        let is_baseline =
            |setting: &&Setting| setting.of_role(&self.axes, Role::Compared) == design.baseline;
        let settings = design.settings();
        let (baseline, others): (Vec<&Setting>, Vec<&Setting>) =
            settings.iter().partition(is_baseline);
        let all_changed = |settings: &[&Setting]| {
            !settings.is_empty() && settings.iter().all(|setting| changed(setting))
        };
        all_changed(&baseline) || all_changed(&others)
    }

    fn command(&self) -> Option<String> {
        None
    }

    fn takes_file(&self) -> bool {
        false
    }

    fn program(&self) -> String {
        match self.has_commands() {
            true => ProgramSpec::TOOL.to_owned(),
            false => self.name.clone(),
        }
    }
}

impl ProgramRecipe {
    /// Returns the files on which a run depends.
    pub(in crate::program) fn files(&self, setting: &Setting, seed: u64) -> Files {
        let Some(contents) = &self.contents else { return Files::new() };
        let words = self.words(setting, seed).ok().flatten().unwrap_or_default();
        contents.of_run(&words)
    }
}

/// Sorts items into the order of similar ones in another list; new items come last.
fn arrange<T>(items: &mut [T], as_in: &[T], alike: impl Fn(&T, &T) -> bool) {
    items.sort_by_key(|item| {
        as_in.iter().position(|other| alike(item, other)).unwrap_or(as_in.len())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::example;
    use crate::setting::Axis;

    #[test]
    fn numbers_of_a_folder_are_what_was_typed_in_another_way() {
        let of = |values: &[&str]| {
            let typed = values.iter().map(|text| text.parse::<Value>().unwrap());
            let mut recipe = example();
            recipe.axis(Axis::new("width", Role::Compared, typed));
            recipe
        };
        let there = of(&["1000", "0.001", "x"]);
        assert_eq!(of(&["1e3", "1e-3", "x"]).written_as(&there), there);
        // A value that exists in the folder stays, and so does a new value.
        for typed in [&["1000", "1e3", "0.001", "x", "1e5"][..], &["1e4", "0.001", "1000", "y"]] {
            assert_eq!(of(typed).written_as(&there), of(typed));
        }
    }
}
