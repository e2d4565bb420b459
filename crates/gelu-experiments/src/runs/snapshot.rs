use super::{AddedLook, Progress, Provenance, RunKey, RunStatus};
use crate::measure::{
    Criterion, EpochMetrics, LossKind, Metric, NoiseMetrics, Outcomes, Reported, Selection, Split,
    are_of,
};
use crate::recipe::FigureSpec;
use std::sync::Arc;

/// Everything a comparison's folder says at one moment: what the dashboard, the tables, the
/// figures and the JSON document are made from.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonSnapshot {
    /// Name of the recipe: `mnist-classifier`.
    pub experiment: String,
    /// One line for headings.
    pub title: String,
    /// Name of the data set: `mnist`, `digits`.
    pub data: String,
    /// Where it was read from; `None` for built-in data.
    pub data_location: Option<String>,
    /// Whether the data was generated rather than collected. Whatever shows results says so.
    pub synthetic: bool,
    /// Name of the device the runs were planned for.
    pub device: String,
    /// What the best learning rate of an activation is chosen by.
    pub selection: Selection,
    /// Which epoch of a run its results are those of.
    pub reported: Reported,
    /// What the loss is.
    pub loss: LossKind,
    /// What the comparison is decided by.
    pub criterion: Criterion,
    /// Looks that were added after one had been taken, in order.
    pub added_looks: Vec<AddedLook>,
    /// How many examples the test set has.
    pub test_examples: usize,
    /// What makes it smaller than the built-in recipe of its name, or leaves out a part of the data
    /// set, in words. Whatever shows results says so.
    pub cut_down: Vec<String>,
    /// The figure of the paper, where the recipe has one.
    pub figure: Option<FigureSpec>,
    /// Every planned run, in plan order (activations in the order asked for), then those that are
    /// there beside the plan.
    pub runs: Vec<RunSnapshot>,
    /// What could not be read and belongs to no run.
    pub warnings: Vec<String>,
}

impl ComparisonSnapshot {
    /// The activations, each once, in the order asked for.
    pub fn activations(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.key.activation.as_str()) {
                names.push(run.key.activation.as_str());
            }
        }
        names
    }

    /// The dropout rates, each once, ascending.
    pub fn dropouts(&self) -> Vec<f64> {
        distinct(self.runs.iter().map(|run| run.key.dropout))
    }

    /// The learning rates, each once, ascending.
    pub fn learning_rates(&self) -> Vec<f64> {
        distinct(self.runs.iter().map(|run| run.key.learning_rate))
    }

    /// The learning rates that are chosen from, each once, ascending: those of the plan; of runs that
    /// nobody planned, theirs.
    pub fn rates_tried(&self) -> Vec<f64> {
        let any = self.runs.iter().any(|run| run.planned);
        let tried = self.runs.iter().filter(|run| run.planned == any);
        distinct(tried.map(|run| run.key.learning_rate))
    }

    /// Whether `metric` was measured on `split` in any epoch of any run.
    pub fn has(&self, metric: Metric, split: Split) -> bool {
        let mut epochs = self.runs.iter().flat_map(|run| &run.epochs);
        epochs.any(|epoch| epoch.get(metric, split).is_some())
    }
}

fn distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// One run as its folder shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSnapshot {
    /// Which run.
    pub key: RunKey,
    /// Whether the comparison's plan has it. One that was trained beside it is listed and drawn, and
    /// changes no verdict and no choice.
    pub planned: bool,
    /// Name of its folder.
    pub folder: String,
    /// Where it stands.
    pub status: RunStatus,
    /// The finished epochs, in order, without gaps.
    pub epochs: Vec<EpochMetrics>,
    /// How many epochs it is to have.
    pub epochs_planned: usize,
    /// What it achieves under noise, by amplitude; empty where that is not measured (yet).
    pub noise: Vec<NoiseMetrics>,
    /// What it makes of each test example, once it is finished; `None` where that was not kept.
    pub outcomes: Option<Arc<Outcomes>>,
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
        let mut all: Vec<String> = sessions.map(|s| s.environment.arithmetic()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// What it makes of each test example as the measure counts it that a comparison is decided by;
    /// `None` where that was not kept.
    pub fn outcomes_of(&self, criterion: &Criterion) -> Option<&Outcomes> {
        self.outcomes.as_deref().filter(|outcomes| are_of(outcomes, criterion))
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
    pub fn waiting(key: RunKey, folder: String, epochs_planned: usize) -> Self {
        Self {
            key,
            planned: true,
            folder,
            status: RunStatus::Waiting,
            epochs: Vec::new(),
            epochs_planned,
            noise: Vec::new(),
            outcomes: None,
            progress: None,
            seconds: 0.0,
            provenance: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
