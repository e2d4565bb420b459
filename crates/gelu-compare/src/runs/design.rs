use crate::comparison::statistics::{Plan, session};
use crate::comparison::{ALPHA, Rule, Wording};
use crate::measure::{Criterion, Measure, NoWorse, Over, Reported, UntilDecided};
use crate::setting::{Axis, Role, Setting};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// What an experiment compares, and how it is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// The name it is called by.
    pub name: String,
    /// One line for headings.
    pub title: String,
    /// What runs differ by beside their seeds.
    pub axes: Vec<Axis>,
    /// Runs of each setting, with the seeds 1, 2, ….
    pub seeds: u64,
    /// Where given, seeds are added until every comparison is decided.
    pub until_decided: Option<UntilDecided>,
    /// Where given, what is tuned is chosen by so many runs of each setting that do nothing else, and what
    /// is reported is trained anew.
    pub tuning_seeds: Option<u64>,
    /// The arm that every other one is compared with.
    pub baseline: Setting,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// Whether what is reported beside these measures is shown as measures, too; it is kept in any case.
    pub open: bool,
    /// Name of the measure that decides.
    pub primary: String,
    /// Name of the measure that settings, and best epochs, are chosen by.
    pub selection: String,
    /// Which epoch of a run its results are those of.
    pub reported: Reported,
    /// A difference of the primary measure too small to care about; 0 where none was declared.
    pub negligible: f64,
    /// The measure that must not get worse for an arm to be called better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis that verdicts are made over, rather than at each of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// α: with what probability a verdict of the whole table may be wrong.
    #[serde(default = "alpha", skip_serializing_if = "is_alpha")]
    pub alpha: f64,
    /// Which judgement of a session's budget it is, from 1; absent outside sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<u64>,
    /// How many epochs a run has, where that is known beforehand.
    pub epochs: Option<usize>,
    /// Arms whose networks are built differently from the others', and like each other: between the two
    /// kinds seeds pair batches and draws alone, and whatever shows pairs says so.
    pub built_differently: Vec<Setting>,
    /// Arms with the place of their colour, where that is to be the same in every comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<(Setting, usize)>,
    /// What makes it smaller than it is meant to be, in words.
    pub cut_down: Vec<String>,
    /// How many seeds it is meant to have, where fewer are a cut, too.
    pub whole_seeds: Option<u64>,
    /// How its figure is laid out.
    pub figure: FigureSpec,
    /// What test examples are called: `pictures`.
    pub examples: String,
    /// What else its documents say.
    pub extra: Map<String, Json>,
}

impl Design {
    /// What is decided by one measure at one setting of each axis, once after 8 seeds.
    pub fn new(name: &str, axes: Vec<Axis>, primary: Measure) -> Self {
        let first = |axis: &Axis| Some((axis.name.clone(), axis.values.first()?.clone()));
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            baseline: Setting::new(Role::Compared.of(&axes).filter_map(first)),
            axes,
            seeds: 8,
            until_decided: None,
            tuning_seeds: None,
            primary: primary.name.clone(),
            selection: primary.name.clone(),
            measures: vec![primary],
            open: true,
            reported: Reported::LastEpoch,
            negligible: 0.0,
            no_worse: None,
            over: None,
            alpha: ALPHA,
            judgement: None,
            epochs: None,
            built_differently: Vec::new(),
            colours: Vec::new(),
            cut_down: Vec::new(),
            whole_seeds: None,
            figure: FigureSpec::default(),
            examples: "examples".to_owned(),
            extra: Map::new(),
        }
    }

    /// How many seeds are planned, and when the test may decide.
    pub fn plan(&self) -> Plan {
        self.until_decided.map_or_else(|| Plan::fixed(self.seeds), UntilDecided::plan)
    }

    /// What its comparisons are judged by.
    pub fn rule(&self) -> Rule {
        self.criterion().rule()
    }

    /// What the plan can show and which differences are too small to count, in a sentence that is printed before the first
    /// run.
    pub fn prospect(&self) -> String {
        let said = self.criterion().prospect();
        let measure = self.measures.iter().find(|measure| measure.name == self.primary);
        match measure.filter(|_| self.negligible > 0.0 && self.judgement.is_none()) {
            Some(measure) => format!(
                "{said}; differences of up to {} of {} count as none",
                Wording::of(measure).short(self.negligible),
                measure.words
            ),
            None => said,
        }
    }

    /// How many seeds every setting has before any further one depends on what was found.
    pub fn first_seeds(&self) -> u64 {
        match self.over {
            Some(_) => self.plan().seeds,
            None => self.rule().first(),
        }
    }

    /// What it is decided by.
    pub fn criterion(&self) -> Criterion {
        let count = |role| combinations(&self.axes, role).len();
        let axis = |over: &Over| self.axes.iter().find(|axis| axis.name == over.axis);
        let tasks = |over: &Over| axis(over).map_or(1, |axis| axis.values.len().max(1));
        let over = self.over.clone().map(|over| (tasks(&over) as u64, over));
        let each = count(Role::Each) / over.as_ref().map_or(1, |(tasks, _)| *tasks as usize);
        Criterion {
            primary: self.primary.clone(),
            negligible: self.negligible,
            baseline: self.baseline.clone(),
            comparisons: count(Role::Compared).saturating_sub(1) * each,
            no_worse: self.no_worse.clone(),
            over: over.map(|(tasks, over)| (over, tasks)),
            alpha: self.alpha,
            plan: self.plan(),
            judgement: self.judgement.filter(|j| session::is_judgement(*j)),
        }
    }

    /// Every setting: seed by seed, arms follow each other.
    pub fn settings(&self) -> Vec<Setting> {
        let [each, tuned, arms] =
            [Role::Each, Role::Tuned, Role::Compared].map(|role| combinations(&self.axes, role));
        let mut settings = Vec::with_capacity(each.len() * tuned.len() * arms.len());
        for each in &each {
            for tuned in &tuned {
                for arm in &arms {
                    let value = |axis: &Axis| {
                        let parts = [arm, tuned, each].into_iter();
                        parts.filter_map(|part| part.get(&axis.name)).next().cloned()
                    };
                    let pair = |axis: &Axis| Some((axis.name.clone(), value(axis)?));
                    settings.push(Setting::new(self.axes.iter().filter_map(pair)));
                }
            }
        }
        settings
    }

    /// Whether a setting gives every axis one of its values.
    pub fn includes(&self, setting: &Setting) -> bool {
        setting.iter().count() == self.axes.len()
            && self.axes.iter().all(|axis| {
                setting.get(&axis.name).is_some_and(|value| axis.values.contains(value))
            })
    }
}

fn alpha() -> f64 {
    ALPHA
}

/// What older folders do not name.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_alpha(alpha: &f64) -> bool {
    *alpha == ALPHA
}

/// The combinations of the values of the axes of a role, the first axis the slowest; the empty one alone
/// where there are none.
fn combinations(axes: &[Axis], role: Role) -> Vec<Setting> {
    let mut all = vec![Setting::default()];
    for axis in role.of(axes) {
        let with = |setting: &Setting| {
            let setting = setting.clone();
            axis.values.iter().map(move |value| {
                let mut setting = setting.clone();
                setting.set(&axis.name, value.clone());
                setting
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// How the figure of an experiment is laid out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureSpec {
    /// File name without extension: `figure-2`.
    pub name: String,
    /// The quantity that the vertical axis shows; that of the primary measure where empty.
    pub quantity: String,
    /// Text of the vertical axis; the quantity where empty.
    pub axis: String,
    /// Which splits are drawn: the first as full dark lines, the second as `second` says. Where none are
    /// named, training and validation, or test where nothing is validated.
    pub splits: Vec<crate::measure::Split>,
    /// Whether the second split is a dashed line rather than a lighter one.
    pub dashed: bool,
    /// What tells its panels apart.
    pub panels: Panels,
    /// Whether the vertical axis is logarithmic.
    pub logarithmic: bool,
}

impl Default for FigureSpec {
    fn default() -> Self {
        Self {
            name: "curves".to_owned(),
            quantity: String::new(),
            axis: String::new(),
            splits: Vec::new(),
            dashed: false,
            panels: Panels::Each,
            logarithmic: false,
        }
    }
}

/// What tells the panels of a figure apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panels {
    /// One panel; each arm at its best setting.
    Single,
    /// One panel at each combination that has a verdict of its own; each arm at its best setting.
    Each,
    /// One panel per tuned setting.
    Tuned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_included_that_gives_every_axis_a_value_of_its_own_and_no_other_axis_one() {
        let axes =
            vec![Axis::new("width", Role::Compared, [16, 32]), Axis::new("depth", Role::Each, [1])];
        let design = Design::new("train", axes, Measure::named("loss"));
        assert!(design.settings().iter().all(|setting| design.includes(setting)));
        for (setting, included) in [
            (vec![("width", 32), ("depth", 1)], true),
            (vec![("depth", 1), ("width", 32)], true),
            (vec![("width", 64), ("depth", 1)], false),
            (vec![("width", 32)], false),
            (vec![("width", 32), ("height", 1)], false),
            (vec![("width", 32), ("depth", 1), ("height", 1)], false),
        ] {
            assert_eq!(design.includes(&Setting::new(setting.clone())), included, "{setting:?}");
        }
    }
}
