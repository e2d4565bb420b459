use super::{Contents, DeviceNames, Pattern, ProgramRecipe, contents};
use crate::cli::{OverFlags, Seeds, no_worse, number, restored, whole};
use crate::comparison::SnapshotReader;
use crate::measure::{NoWorse, Reported, Unit};
use crate::names::check_line;
use crate::runs::{Comparison, Plan, Recipe};
use crate::setting::{Axis, Role, Value};
use crate::{Error, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// An axis with values, as typed: `lr=1e-3,1e-4`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, values) =
            text.split_once('=').ok_or("an axis and its values are written as in lr=1e-3,1e-4")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("`{name}` cannot name an axis; use letters, digits, - and _"));
        }
        let value = |text: &str| text.parse().unwrap_or_else(|never| match never {});
        Ok(Self { name: name.to_owned(), values: apart(values).map(value).collect() })
    }
}

/// The unit of a measure, as typed: `loss=nats`.
#[derive(Clone, Debug, PartialEq)]
struct UnitOf {
    measure: String,
    unit: String,
}

impl FromStr for UnitOf {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once('=').map(|(measure, unit)| (measure.trim(), unit.trim())) {
            Some((measure, unit)) if !measure.is_empty() && !unit.is_empty() => {
                check_line("a unit", unit).map_err(|error| error.to_string())?;
                Ok(Self { measure: measure.to_owned(), unit: unit.to_owned() })
            }
            _ => Err("a metric and its unit are written as in loss=nats".to_owned()),
        }
    }
}

/// Splits a list into values. Commas in round brackets belong to a value: `mine=max(x,0)`.
fn apart(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    list.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Flags for the axes, and for how the comparison is decided.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct AxisFlags {
    /// Compare these values of an axis, as in lr=1e-3,1e-4; for several axes, all combinations; the first is the
    /// baseline
    #[arg(long, value_name = "AXIS=LIST")]
    compare: Vec<Values>,
    /// Choose the best of these values for each compared setting
    #[arg(long, value_name = "AXIS=LIST")]
    tune: Vec<Values>,
    /// Make a separate verdict at each of these values; a single value applies to all runs
    #[arg(long, visible_alias = "set", value_name = "AXIS=LIST")]
    each: Vec<Values>,
    /// The value to compare the others with [default: the first]
    #[arg(long, value_name = "VALUE")]
    baseline: Option<String>,
    #[command(flatten)]
    pub(super) decided: DecisionFlags,
}

/// Flags for how the comparison is decided.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct DecisionFlags {
    /// The metric that decides
    #[arg(long = "metric", aliases = ["primary", "measure"], value_name = "METRIC")]
    primary: Option<String>,
    /// Metrics for which higher values are better; for others, lower values are better
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    higher: Vec<String>,
    /// Show a metric in a unit, as in loss=nats; % and points are for fractions; may be given several times
    #[arg(long, value_name = "METRIC=UNIT")]
    unit: Vec<UnitOf>,
    /// Report each run's best epoch by --select instead of the last
    #[arg(long)]
    best_epoch: bool,
    /// Choose tuned values, and the best epoch, by this metric
    #[arg(long, value_name = "METRIC")]
    select: Option<String>,
    /// The largest difference that is too small to care about, in the metric's printed unit (for a fraction, 0.001 is
    /// 0.1 points); without it, no settings are called the same
    #[arg(long, value_name = "DIFFERENCE", value_parser = number)]
    negligible: Option<f64>,
    /// Call no setting better that may be worse in another metric by more than this, as in loss=0.002
    #[arg(long, value_name = "METRIC=DIFFERENCE", value_parser = no_worse)]
    no_worse: Option<NoWorse>,
    #[command(flatten)]
    over: OverFlags,
    /// The maximum probability of a wrong verdict in the table [default: 0.05]
    #[arg(long, value_name = "PROBABILITY", value_parser = number)]
    level: Option<f64>,
    #[command(flatten)]
    seeds: Seeds,
    /// Folder for results [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The maximum for `--grace`: one hour.
const LONGEST_GRACE: u64 = 3600;

/// Parses a number of bytes: `64MB`, `1GB`, `500000`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        _ => 0,
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "a size is written as in 200MB or 1GB".to_owned())
}

/// Flags for a command: how to read its output, and how long it may run.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ReadingFlags {
    /// Read metrics from the output: 'val {valid_loss}' reads the number after `val`, {epoch} is the epoch; may be
    /// given several times
    #[arg(long, value_name = "PATTERN")]
    read: Vec<Pattern>,
    /// Also read metrics from standard error
    #[arg(long)]
    stderr: bool,
    /// Seconds after which an unfinished run has failed
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(1..=u64::MAX))]
    timeout: Option<u64>,
    /// Seconds between SIGTERM and SIGKILL, for a run that is stopped, exceeds --timeout, or reaches Slurm's time
    /// limit [default: 2]
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(0..=LONGEST_GRACE))]
    grace: Option<u64>,
    /// Maximum size of each run's saved output, as in 200MB; if it is larger, the middle is cut out [default: 64MB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    keep_output: Option<u64>,
    /// Further files that runs depend on, as in 'conf/*.toml', in addition to those in the command; if a file changes,
    /// its runs are new runs; may be given several times
    #[arg(long, value_name = "GLOB")]
    depends: Vec<String>,
}

impl ReadingFlags {
    pub(super) fn change(&self, recipe: &mut ProgramRecipe) {
        recipe.read.clone_from(&self.read);
        recipe.stderr = self.stderr;
        recipe.timeout = self.timeout;
        recipe.grace = self.grace;
        recipe.keep_output = self.keep_output;
    }

    /// Records the contents of the files that the commands name. Call it when the commands are known.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Contents::read`], and an error if `--grace` is given on Windows.
    pub(super) fn read_contents(&self, recipe: &mut ProgramRecipe) -> Result<()> {
        if cfg!(windows) && self.grace.is_some() {
            return Err(Error::Usage(
                "--grace is the time between SIGTERM and SIGKILL; Windows has no such signals, and ends a program at once"
                    .to_owned(),
            ));
        }
        recipe.contents = Some(Contents::read(recipe, &self.depends)?);
        Ok(())
    }
}

impl AxisFlags {
    /// Returns the flags with values typed as in the program's own recipe.
    ///
    /// Returns an error for an axis that the recipe does not have, because its runs would not differ by it.
    pub(super) fn of(mut self, recipe: &ProgramRecipe) -> Result<Self> {
        for all in [&mut self.compare, &mut self.tune, &mut self.each] {
            for Values { name, values } in all {
                let axis = recipe.knows(name)?;
                *values =
                    std::mem::take(values).into_iter().map(|value| axis.typed(value)).collect();
            }
        }
        Ok(self)
    }

    pub(super) fn change(self, recipe: &mut ProgramRecipe) {
        for (role, all) in
            [(Role::Compared, self.compare), (Role::Tuned, self.tune), (Role::Each, self.each)]
        {
            let mut axes: Vec<Axis> = Vec::new();
            for Values { name, values } in all {
                match axes.iter_mut().find(|axis| axis.name == name) {
                    Some(axis) => axis.values.extend(values),
                    None => axes.push(Axis::new(name, role, values)),
                }
            }
            for mut axis in axes {
                let mut kept: Vec<Value> = Vec::new();
                axis.values.retain(|value| {
                    let new = !kept.contains(value);
                    kept.push(value.clone());
                    new
                });
                recipe.axis(axis);
            }
        }
        recipe.baseline = self.baseline.or(recipe.baseline.take());
    }
}

impl DecisionFlags {
    pub(super) fn change(&self, recipe: &mut ProgramRecipe) -> Result<()> {
        recipe.primary = self.primary.clone().unwrap_or_else(|| recipe.primary.clone());
        recipe.higher.extend(self.higher.iter().cloned());
        if self.best_epoch {
            recipe.reported = Reported::BestEpoch;
        }
        recipe.selection = self.select.clone().or(recipe.selection.take());
        recipe.negligible = self.negligible.unwrap_or(recipe.negligible);
        recipe.no_worse = self.no_worse.clone().or(recipe.no_worse.take());
        self.over.change(&mut recipe.over);
        recipe.level = self.level.or(recipe.level);
        self.seeds.change(&mut recipe.seeds, &mut recipe.until_decided);
        // Over tasks, the number of tasks decides, so the seeds need not be raised.
        if recipe.over.is_none() {
            let (rule, out) = (recipe.design().rule(), self.out(recipe)?);
            self.seeds.raise::<ProgramRecipe>(&rule, &mut recipe.seeds, &out);
        }
        Ok(())
    }

    /// Sets the units of measures. Call it after all other declarations of measures.
    pub(super) fn say_units(&self, recipe: &mut ProgramRecipe) {
        for UnitOf { measure, unit } in &self.unit {
            recipe.declare(recipe.measure(measure).in_unit(Unit::named(unit)));
        }
    }

    /// Checks the recipe: it must have a primary measure, and everything must be possible.
    pub(super) fn check(&self, recipe: &ProgramRecipe) -> Result<()> {
        if recipe.primary.is_empty() {
            return Err(Error::Usage(
                "which metric decides? Name it as the program prints it, as in --metric test_error"
                    .to_owned(),
            ));
        }
        let by_itself = recipe.selection.as_ref().is_none_or(|by| *by == recipe.primary);
        if recipe.reported == Reported::BestEpoch && by_itself {
            return Err(Error::Usage(format!(
                "--best-epoch chooses an epoch, and would choose it by {}, which decides: choose by another \
                 measure, as in --select valid_loss",
                recipe.primary
            )));
        }
        if !recipe.read.is_empty()
            && recipe.read.iter().all(|pattern| pattern.measures().next().is_none())
        {
            return Err(Error::Usage(
                "the patterns of --read name an epoch and no measure; write the place of its number as \
                 {loss}"
                    .to_owned(),
            ));
        }
        self.seeds.check(recipe.until_decided)?;
        recipe.validate()
    }

    /// Creates the comparison's folder, or joins the existing one.
    pub(super) fn make_folder(
        &self,
        recipe: &ProgramRecipe,
        on: &DeviceNames,
    ) -> Result<Comparison<ProgramRecipe>> {
        let out = self.out(recipe)?;
        let before = Comparison::open(&out).and_then(|folder| folder.plan()).ok();
        let asked = self.plan(recipe, on, &out)?;
        let (folder, now) = Comparison::create(&out, &asked, SnapshotReader::has_begun)?;
        if let Some(before) = before {
            contents::announce_change(&folder, &before, &now);
        }
        crate::cli::warn_of_open_folder(&folder);
        Ok(folder)
    }

    /// Rejects flags for what a session decides itself: the number of seeds, the level, and the folder of results.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`], which names the first such flag.
    pub(super) fn leave_to_session(&self) -> Result<()> {
        let given = [
            ("--out", self.out.is_some()),
            ("--level", self.level.is_some()),
            ("--negligible", self.negligible.is_some()),
            ("--no-worse", self.no_worse.is_some()),
            ("--over", self.over.is_given()),
        ];
        let given = given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
        match given.or_else(|| self.seeds.given()) {
            None => Ok(()),
            Some(flag) => Err(Error::Usage(format!(
                "{flag} does not go with --session, which asks one question, whether B is better, and plans its seeds, levels \
                 and folders itself; leave it out"
            ))),
        }
    }

    /// Sets the folder of the results.
    pub(super) fn write_into(&mut self, out: &Path) {
        self.out = Some(out.to_path_buf());
    }

    /// Returns the folder of the results. Restores it if a packed comparison is named.
    pub(super) fn out(&self, recipe: &ProgramRecipe) -> Result<PathBuf> {
        let out = self.out.clone();
        restored(out.unwrap_or_else(|| PathBuf::from("results").join(&recipe.name)))
    }

    pub(super) fn plan(
        &self,
        recipe: &ProgramRecipe,
        on: &DeviceNames,
        out: &Path,
    ) -> Result<Plan<ProgramRecipe>> {
        let (mut recipe, data) = (recipe.clone(), crate::runs::DataSource::default());
        contents::settle(&mut recipe, out);
        let mut plan = Plan::new(recipe, data, &on.device, &on.backend);
        plan.lease_seconds = self.seeds.lease::<ProgramRecipe>(out)?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = ["500", "64MB", "1 GB", "2k", "0MB", "MB", "3 PB", "99999999999GB"].map(size);
        let expected =
            [Some(500), Some(64_000_000), Some(1_000_000_000), Some(2_000), None, None, None, None];
        assert_eq!(sizes.map(Result::ok), expected);
    }

    #[test]
    fn commas_in_brackets_belong_to_a_value() {
        let values: Values = "f=gelu,mine=max(x,0)*min(1,(x)),0.5".parse().unwrap();
        assert_eq!(values.name, "f");
        let texts: Vec<String> = values.values.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["gelu", "mine=max(x,0)*min(1,(x))", "0.5"]);
    }
}
