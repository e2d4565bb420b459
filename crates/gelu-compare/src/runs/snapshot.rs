use super::{AddedSeeds, Design, LaterMeasure, Progress, Provenance, RunKey, RunStatus, columns};
use crate::extension::Extras;
use crate::measure::{Criterion, Epochs, Measure, Split};
use crate::setting::{Role, Setting, Value};

/// What a comparison's folder says at one moment. The dashboard, the tables, the figures and the JSON document
/// are made from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What is compared, and how it is decided. Its measures include those of columns that were never declared, and
    /// `cut_down` names fewer seeds than intended.
    pub design: Design,
    /// The name of the data set: `mnist`, `digits`; may be empty.
    pub data: String,
    /// The folder from which the data was read; `None` for built-in data.
    pub data_location: Option<String>,
    /// Whether the data was generated rather than collected. All views of results mention this.
    pub synthetic: bool,
    /// The name of the device for which the runs were planned; may be empty.
    pub device: String,
    /// The criterion that decides the comparison.
    pub criterion: Criterion,
    /// The number of first seeds that choose the tuned values.
    pub choosing_seeds: u64,
    /// Seeds that were added to the planned ones, in order.
    pub added_seeds: Vec<AddedSeeds>,
    /// The measures that were chosen after runs were complete, in order.
    pub later_measures: Vec<LaterMeasure>,
    /// The number of test examples; 0 if unknown.
    pub test_examples: usize,
    /// Every planned run, in plan order (arms in the requested order), then the runs outside the plan.
    pub runs: Vec<RunSnapshot>,
    /// Problems with reading that belong to no run.
    pub warnings: Vec<String>,
}

/// A quantity, such as `loss`, with its measures on the splits of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The quantity's name.
    pub name: String,
    /// The measures on training, validation and test data. A measure without a split counts as test.
    pub on: [Option<Measure>; 3],
}

impl Snapshot {
    /// Returns a measure by its name or its column. An undeclared measure gets its properties from its name.
    pub fn measure(&self, name: &str) -> Measure {
        let mut all = self.design.measures.iter();
        let found = all.find(|measure| measure.name == name || measure.column == name);
        found.cloned().unwrap_or_else(|| Measure::named(name))
    }

    /// Returns the last seed of the runs, added seeds included.
    pub fn last_seed(&self) -> u64 {
        let added = self.added_seeds.last().map_or(0, |added| added.seeds);
        self.criterion.schedule.seeds.max(added)
    }

    /// Returns the measure that decides.
    pub fn primary(&self) -> Measure {
        self.measure(&self.criterion.primary)
    }

    /// Returns the primary measure by epoch. If the primary measure belongs to a whole run, returns the measure of
    /// the same quantity on the same split.
    pub fn primary_by_epoch(&self) -> Measure {
        let primary = self.primary();
        let same = |m: &&Measure| {
            (&m.quantity, m.split) == (&primary.quantity, primary.split)
                && !m.of_run
                && self.has(&m.column)
        };
        match primary.of_run {
            true => self.design.measures.iter().find(same).cloned().unwrap_or(primary),
            false => primary,
        }
    }

    /// Returns the measure that selects settings.
    pub fn selection(&self) -> Measure {
        self.measure(&self.design.selection)
    }

    /// Declares a measure for every column that has none.
    pub(crate) fn open_measures(&mut self) {
        let declared =
            |name: &&str| self.design.measures.iter().all(|measure| measure.column != **name);
        let further: Vec<Measure> =
            self.columns().into_iter().filter(declared).map(Measure::named).collect();
        self.design.measures.extend(further);
    }

    /// Returns all columns of all epochs, in the order of the files.
    pub fn columns(&self) -> Vec<&str> {
        columns(self.runs.iter().flat_map(|run| &run.epochs))
    }

    /// Returns the number of epochs of a run, if it is known from the recipe or from a finished run.
    pub fn epochs_of(&self, run: &RunSnapshot) -> Option<usize> {
        let finished = || self.runs.iter().any(|run| run.status == RunStatus::Finished);
        (self.design.epochs.is_some() || finished()).then_some(run.epochs_planned)
    }

    /// Returns the measures grouped by quantity. Leaves out measures without a value.
    pub fn quantities(&self) -> Vec<Quantity> {
        let mut all: Vec<Quantity> = Vec::new();
        for measure in self.design.measures.iter().filter(|measure| self.has(&measure.column)) {
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

    /// Returns the arms, each once, in the requested order.
    pub fn arms(&self) -> Vec<Setting> {
        self.parts(Role::Compared)
    }

    /// Returns the index of an arm's colour and symbol: its fixed one, or the next that is free.
    pub fn position(&self, arm: &Setting) -> usize {
        let own =
            |arm: &Setting| self.design.colours.iter().find(|(of, _)| of == arm).map(|of| of.1);
        if let Some(place) = own(arm) {
            return place;
        }
        let arms = self.arms();
        let taken: Vec<usize> = arms.iter().filter_map(own).collect();
        let others = arms.iter().filter(|other| own(other).is_none());
        let before = others.take_while(|other| *other != arm).count();
        (0..).filter(|place| !taken.contains(place)).nth(before).unwrap_or(before)
    }

    /// Returns an arm's name for sentences.
    pub fn label(&self, arm: &Setting) -> String {
        arm.arm_label(&self.design.axes)
    }

    /// Returns the settings with their own verdict, each once, ascending.
    pub fn contexts(&self) -> Vec<Setting> {
        self.ascending(self.parts(Role::Each))
    }

    /// Returns the tuned settings, each once, ascending.
    pub fn tuned(&self) -> Vec<Setting> {
        self.ascending(self.parts(Role::Tuned))
    }

    /// Returns the tuned settings to choose from, each once, ascending: the planned ones, or, if no run is planned,
    /// those of all runs.
    pub fn tried(&self) -> Vec<Setting> {
        let any = self.runs.iter().any(|run| run.planned);
        let tried = self.runs.iter().filter(|run| run.planned == any);
        self.ascending(distinct(
            tried.map(|run| run.key.setting.of_role(&self.design.axes, Role::Tuned)),
        ))
    }

    fn parts(&self, role: Role) -> Vec<Setting> {
        distinct(self.runs.iter().map(|run| run.key.setting.of_role(&self.design.axes, role)))
    }

    /// Sorts settings axis by axis; the first axis changes slowest. Numbers ascend, other values stay in order of
    /// appearance.
    fn ascending(&self, mut settings: Vec<Setting>) -> Vec<Setting> {
        let ranks: Vec<(&str, Vec<Value>)> = self
            .design
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

    /// Returns whether any epoch of any run has a value in the column.
    pub fn has(&self, column: &str) -> bool {
        let mut epochs = self.runs.iter().flat_map(|run| &run.epochs);
        epochs.any(|epoch| epoch.get(column).is_some())
    }
}

/// Returns the values of an axis, each once; ascending if all are numbers.
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

/// The content of a run's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSnapshot {
    /// The run's identity.
    pub key: RunKey,
    /// The run's name for messages.
    pub name: String,
    /// Whether the run is in the comparison's plan. Other runs are listed and drawn, but change no verdict and no
    /// choice.
    pub planned: bool,
    /// The name of the run's folder.
    pub folder: String,
    /// The run's status.
    pub status: RunStatus,
    /// The finished epochs, in order, without gaps. Consecutive snapshots share them.
    pub epochs: Epochs,
    /// The number of epochs that the run will have, as far as known.
    pub epochs_planned: usize,
    /// Data from extensions.
    pub extras: Extras,
    /// The progress of the current epoch, while the run is running.
    pub progress: Option<Progress>,
    /// The seconds spent training the run so far, over all sessions.
    pub seconds: f64,
    /// The records of the run's sessions, the first one first.
    pub provenance: Vec<Provenance>,
    /// Problems with the run's files. The snapshot still contains the content of the other files.
    pub warnings: Vec<String>,
}

impl RunSnapshot {
    /// Returns the different backends and instructions of the run's epochs, in order. A run with more than one cannot
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

    /// Returns the number of latest sessions that died one after the other without finishing an epoch.
    pub fn deaths(&self) -> usize {
        let died = |session: &&Provenance| {
            let unsaid = session.outcome.is_none() && self.status != RunStatus::Running;
            (session.has_died() || unsaid) && session.epochs_before >= self.epochs.len()
        };
        self.provenance.iter().rev().take_while(died).count()
    }

    /// Creates the snapshot of a planned run that no process has begun.
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
