use crate::comparison::statistics::{Schedule, session};
use crate::comparison::{ALPHA, Rule, Wording};
use crate::measure::{Criterion, Measure, NoWorse, Over, Reported, UntilDecided};
use crate::setting::{Axis, Role, Setting};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The design of a recipe: what it compares, and how it is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// The recipe's name.
    pub name: String,
    /// A heading of one line.
    pub title: String,
    /// The axes along which runs differ, in addition to their seeds.
    pub axes: Vec<Axis>,
    /// The number of runs of each setting, with the seeds 1, 2, ….
    pub seeds: u64,
    /// If given, seeds are added until every comparison is decided.
    pub until_decided: Option<UntilDecided>,
    /// If given, this number of runs of each setting only choose the tuned values. The reported runs are then trained
    /// anew.
    pub tuning_seeds: Option<u64>,
    /// The arm with which every other arm is compared.
    pub baseline: Setting,
    /// The measures of the recipe.
    pub measures: Vec<Measure>,
    /// Whether columns that are not declared as measures are shown as measures too. They are stored in any case.
    pub open: bool,
    /// The name of the measure that decides.
    pub primary: String,
    /// The name of the measure that selects settings and best epochs.
    pub selection: String,
    /// The epoch that provides a run's results.
    pub reported: Reported,
    /// The largest difference of the primary measure that is too small to care about; 0 if none was declared.
    pub negligible: f64,
    /// A measure that must not get worse if an arm is to be called better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis whose values are combined into one verdict, instead of a verdict at each value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// α: the maximum probability that the whole table contains a wrong verdict.
    #[serde(default = "alpha", skip_serializing_if = "is_alpha")]
    pub alpha: f64,
    /// The number of this judgement in a session's budget, from 1; absent outside sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<u64>,
    /// The number of epochs of a run, if known in advance.
    pub epochs: Option<usize>,
    /// Arms whose networks are built differently from the others', and like each other. Between the two kinds, the
    /// same seed only means the same batches and random draws; all views of pairs mention this.
    pub built_differently: Vec<Setting>,
    /// Fixed colours of arms, as indexes into the palette, for arms with the same colour in every comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<(Setting, usize)>,
    /// The ways in which the recipe is smaller than intended, in words.
    pub cut_down: Vec<String>,
    /// The intended number of seeds, if a smaller number counts as a cut.
    pub whole_seeds: Option<u64>,
    /// The layout of the recipe's figure.
    pub figure: FigureSpec,
    /// The word for test examples: `pictures`.
    pub examples: String,
    /// Further fields for JSON documents.
    pub extra: Map<String, Json>,
}

impl Design {
    /// Creates a design with one primary measure, decided once after 8 seeds. The baseline has the first value of
    /// each compared axis.
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

    /// Returns the number of planned seeds, and when the test may decide.
    pub fn schedule(&self) -> Schedule {
        self.until_decided.map_or_else(|| Schedule::fixed(self.seeds), UntilDecided::schedule)
    }

    /// Returns the rule for judging the comparisons.
    pub fn rule(&self) -> Rule {
        self.criterion().rule()
    }

    /// Returns a sentence to print before the first run: what the plan can show, and which differences are too small
    /// to count.
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

    /// Returns the number of seeds that every setting gets before results influence how many more it gets.
    pub fn first_seeds(&self) -> u64 {
        match self.over {
            Some(_) => self.schedule().seeds,
            None => self.rule().first(),
        }
    }

    /// Returns the criterion that decides the comparison.
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
            schedule: self.schedule(),
            judgement: self.judgement.filter(|j| session::is_judgement(*j)),
        }
    }

    /// Returns every setting; the arms are next to each other.
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

    /// Returns whether `setting` has exactly the design's axes, each with one of its values.
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

/// Older folders do not contain α, so the default is not written.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_alpha(alpha: &f64) -> bool {
    *alpha == ALPHA
}

/// Returns the combinations of the values of a role's axes; the first axis changes slowest. Without such axes,
/// returns one empty setting.
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

/// The layout of a recipe's figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureSpec {
    /// The file name without extension: `figure-2`.
    pub name: String,
    /// The quantity on the vertical axis; if empty, that of the primary measure.
    pub quantity: String,
    /// The label of the vertical axis; if empty, the quantity.
    pub axis: String,
    /// The splits to draw: the first as full dark lines, the second as `dashed` says. If empty, training and
    /// validation, or training and test if there is no validation.
    pub splits: Vec<crate::measure::Split>,
    /// Whether the second split has dashed lines rather than lighter ones.
    pub dashed: bool,
    /// The property that distinguishes the panels.
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

/// The property that distinguishes the panels of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panels {
    /// One panel, with each arm at its best setting.
    Single,
    /// One panel per combination with its own verdict, with each arm at its best setting.
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
