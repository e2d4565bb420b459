use super::design::FigureSpec;
use super::{AddedSeeds, LaterMeasure, Progress, Provenance, RunKey, RunStatus, columns};
use crate::extension::Extras;
use crate::measure::{Criterion, Epochs, Measure, Reported, Split};
use crate::setting::{Axis, Role, Setting, Value};
use serde_json::{Map, Value as Json};

/// Everything a comparison's folder says at one moment: what the dashboard, the tables, the
/// figures and the JSON document are made from.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonSnapshot {
    /// Name of the experiment: `mnist-classifier`.
    pub experiment: String,
    /// One line for headings.
    pub title: String,
    /// Name of the data set: `mnist`, `digits`; empty where the experiment names none.
    pub data: String,
    /// Where it was read from; `None` for built-in data.
    pub data_location: Option<String>,
    /// Whether the data was generated rather than collected. Whatever shows results says so.
    pub synthetic: bool,
    /// Name of the device the runs were planned for; empty where none was named.
    pub device: String,
    /// What runs differ by beside their seeds.
    pub axes: Vec<Axis>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// Name of the measure that what is tuned is chosen by.
    pub selection: String,
    /// Which epoch of a run its results are those of.
    pub reported: Reported,
    /// What the comparison is decided by.
    pub criterion: Criterion,
    /// How many first seeds choose what is tuned.
    pub choosing_seeds: u64,
    /// Seeds that were added to the planned ones, in order.
    pub added_seeds: Vec<AddedSeeds>,
    /// The measures that were chosen once runs were complete, in order.
    pub later_measures: Vec<LaterMeasure>,
    /// How many examples the test set has; 0 where nobody said.
    pub test_examples: usize,
    /// What they are called: `pictures`.
    pub examples: String,
    /// How many epochs every run has, where the experiment says so.
    pub epochs: Option<usize>,
    /// Arms whose networks are built differently from the others', and like each other.
    pub built_differently: Vec<Setting>,
    /// Arms with the place of their colour, where that is the same in every comparison.
    pub colours: Vec<(Setting, usize)>,
    /// What makes it smaller than it is meant to be, or leaves out a part of the data set, in words.
    /// Whatever shows results says so.
    pub cut_down: Vec<String>,
    /// How its figure is laid out.
    pub figure: FigureSpec,
    /// What else its documents say.
    pub extra: Map<String, Json>,
    /// Every planned run, in plan order (arms in the order asked for), then those that are
    /// there beside the plan.
    pub runs: Vec<RunSnapshot>,
    /// What could not be read and belongs to no run.
    pub warnings: Vec<String>,
}

/// What is measured of one thing on every part of the data: `loss`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name.
    pub name: String,
    /// Its measures: of training, validation and test; one on no part of the data stands for test.
    pub on: [Option<Measure>; 3],
}

impl ComparisonSnapshot {
    /// A measure by its name or its column; one that nobody declared is what its name says.
    pub fn measure(&self, name: &str) -> Measure {
        let mut all = self.measures.iter();
        let found = all.find(|measure| measure.name == name || measure.column == name);
        found.cloned().unwrap_or_else(|| Measure::named(name))
    }

    /// The last seed that runs have, those that were added among them.
    pub fn last_seed(&self) -> u64 {
        let added = self.added_seeds.last().map_or(0, |added| added.seeds);
        self.criterion.plan.seeds.max(added)
    }

    /// The measure that decides.
    pub fn primary(&self) -> Measure {
        self.measure(&self.criterion.primary)
    }

    /// What every epoch measures of the primary measure; of one that belongs to a whole run, the measure of the same
    /// quantity on the same part of the data.
    pub fn primary_by_epoch(&self) -> Measure {
        let primary = self.primary();
        let same = |m: &&Measure| {
            (&m.quantity, m.split) == (&primary.quantity, primary.split)
                && !m.of_run
                && self.has(&m.column)
        };
        match primary.of_run {
            true => self.measures.iter().find(same).cloned().unwrap_or(primary),
            false => primary,
        }
    }

    /// The measure that settings are chosen by.
    pub fn selection(&self) -> Measure {
        self.measure(&self.selection)
    }

    /// Declares every column that no measure has.
    pub(crate) fn open_measures(&mut self) {
        let declared = |name: &&str| self.measures.iter().all(|measure| measure.column != **name);
        let further: Vec<Measure> =
            self.columns().into_iter().filter(declared).map(Measure::named).collect();
        self.measures.extend(further);
    }

    /// Everything that any epoch has a column for, in the order of the files.
    pub fn columns(&self) -> Vec<&str> {
        columns(self.runs.iter().flat_map(|run| &run.epochs))
    }

    /// How many epochs a run has, where that is known: from the experiment, or from a run that is complete.
    pub fn epochs_of(&self, run: &RunSnapshot) -> Option<usize> {
        let finished = || self.runs.iter().any(|run| run.status == RunStatus::Finished);
        (self.epochs.is_some() || finished()).then_some(run.epochs_planned)
    }

    /// The measures by what is measured, as far as any epoch has it.
    pub fn quantities(&self) -> Vec<Quantity> {
        let mut all: Vec<Quantity> = Vec::new();
        for measure in self.measures.iter().filter(|measure| self.has(&measure.column)) {
            let measure = measure.clone();
            let place = match measure.split {
                Some(Split::Train) => 0,
                Some(Split::Valid) => 1,
                Some(Split::Test) | None => 2,
            };
            match all.iter_mut().find(|quantity| quantity.name == measure.quantity) {
                Some(quantity) => quantity.on[place] = Some(measure),
                None => {
                    let name = measure.quantity.clone();
                    let mut on = [None, None, None];
                    on[place] = Some(measure);
                    all.push(Quantity { name, on });
                }
            }
        }
        all
    }

    /// The arms, each once, in the order asked for.
    pub fn arms(&self) -> Vec<Setting> {
        self.parts(Role::Compared)
    }

    /// The place of an arm's colour and symbol: its own, where it has the same in every comparison, or the next
    /// that is free.
    pub fn position(&self, arm: &Setting) -> usize {
        let own = |arm: &Setting| self.colours.iter().find(|(of, _)| of == arm).map(|of| of.1);
        if let Some(place) = own(arm) {
            return place;
        }
        let arms = self.arms();
        let taken: Vec<usize> = arms.iter().filter_map(own).collect();
        let others = arms.iter().filter(|other| own(other).is_none());
        let before = others.take_while(|other| *other != arm).count();
        (0..).filter(|place| !taken.contains(place)).nth(before).unwrap_or(before)
    }

    /// How sentences call an arm.
    pub fn label(&self, arm: &Setting) -> String {
        arm.arm_label(&self.axes)
    }

    /// The settings that have a verdict of their own, each once, ascending.
    pub fn contexts(&self) -> Vec<Setting> {
        self.ascending(self.parts(Role::Each))
    }

    /// The tuned settings, each once, ascending.
    pub fn tuned(&self) -> Vec<Setting> {
        self.ascending(self.parts(Role::Tuned))
    }

    /// The tuned settings that are chosen from, each once, ascending: those of the plan; of runs that
    /// nobody planned, theirs.
    pub fn tried(&self) -> Vec<Setting> {
        let any = self.runs.iter().any(|run| run.planned);
        let tried = self.runs.iter().filter(|run| run.planned == any);
        self.ascending(distinct(tried.map(|run| run.key.setting.of_role(&self.axes, Role::Tuned))))
    }

    fn parts(&self, role: Role) -> Vec<Setting> {
        distinct(self.runs.iter().map(|run| run.key.setting.of_role(&self.axes, role)))
    }

    /// Axis by axis, the first one the slowest: numbers ascending, other values as they came.
    fn ascending(&self, mut settings: Vec<Setting>) -> Vec<Setting> {
        let ranks: Vec<(&str, Vec<Value>)> = self
            .axes
            .iter()
            .map(|axis| (axis.name.as_str(), in_order(&settings, &axis.name)))
            .collect();
        settings.sort_by_key(|setting| {
            let rank = |(name, values): &(&str, Vec<Value>)| {
                values.iter().position(|value| setting.get(name) == Some(value))
            };
            ranks.iter().map(rank).collect::<Vec<_>>()
        });
        settings
    }

    /// Whether any epoch of any run has a value in that column.
    pub fn has(&self, column: &str) -> bool {
        let mut epochs = self.runs.iter().flat_map(|run| &run.epochs);
        epochs.any(|epoch| epoch.get(column).is_some())
    }
}

/// The values of an axis, each once.
fn in_order(settings: &[Setting], axis: &str) -> Vec<Value> {
    let mut values = distinct(settings.iter().filter_map(|setting| setting.get(axis).cloned()));
    if values.iter().all(|value| value.as_number().is_some()) {
        let number = |value: &Value| value.as_number().unwrap_or(f64::NAN);
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    values
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// One run as its folder shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSnapshot {
    /// Which run.
    pub key: RunKey,
    /// How messages call it.
    pub name: String,
    /// Whether the comparison's plan has it. One that was trained beside it is listed and drawn, and
    /// changes no verdict and no choice.
    pub planned: bool,
    /// Name of its folder.
    pub folder: String,
    /// Where it stands.
    pub status: RunStatus,
    /// The finished epochs, in order, without gaps; shared by the snapshots that follow each other.
    pub epochs: Epochs,
    /// How many epochs it is to have, as far as that is known.
    pub epochs_planned: usize,
    /// What extensions have read of it.
    pub extras: Extras,
    /// The epoch under way, while it runs.
    pub progress: Option<Progress>,
    /// Seconds spent training it so far, over all its sessions.
    pub seconds: f64,
    /// What its sessions ran on, the first one first.
    pub provenance: Vec<Provenance>,
    /// Files of it that could not be read; what the others say is in here all the same.
    pub warnings: Vec<String>,
}

impl RunSnapshot {
    /// What its epochs were computed with, each once, in order; two different ones are not a run that can
    /// be repeated bit for bit.
    pub fn arithmetics(&self) -> Vec<String> {
        let trained = |session: &&Provenance| {
            session.epochs_after.is_none_or(|after| after > session.epochs_before)
        };
        let sessions = self.provenance.iter().filter(trained);
        let mut all: Vec<String> = sessions.filter_map(|s| s.environment.arithmetic()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// How many sessions have died on it, one after the other, without finishing an epoch.
    pub fn deaths(&self) -> usize {
        let died = |session: &&Provenance| {
            let unsaid = session.outcome.is_none() && self.status != RunStatus::Running;
            (session.has_died() || unsaid) && session.epochs_before >= self.epochs.len()
        };
        self.provenance.iter().rev().take_while(died).count()
    }

    /// A planned run that nobody has begun.
    pub fn waiting(key: RunKey, name: String, folder: String, epochs_planned: usize) -> Self {
        Self {
            key,
            name,
            planned: true,
            folder,
            status: RunStatus::Waiting,
            epochs: Epochs::default(),
            epochs_planned,
            extras: Extras::default(),
            progress: None,
            seconds: 0.0,
            provenance: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
