use super::Shown;
use crate::{Clock, Measuring, Trainable};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::train::TrainLoader;

/// All that an untrained network needs to be trained.
pub struct Lesson<M: Trainable> {
    /// The network, on its device.
    pub model: M,
    /// What steps its parameters.
    pub optimizer: ModuleOptimizer,
    /// The learning rate, batch by batch.
    pub rates: ModuleLrScheduler,
    /// How many epochs it is trained for.
    pub epochs: usize,
    /// The batches to train on: those of the epochs that are left, one pass after the other.
    pub train: TrainLoader<M>,
    /// What is measured after every epoch.
    pub measuring: Measuring<M>,
    /// Hears which epoch begins, from 1.
    pub clock: Clock,
    /// Where given, Burn's display shows the training: its terminal dashboard, or lines where there is no
    /// terminal, with the metrics that this registers.
    pub shown: Option<Shown<M>>,
}

impl<M: Trainable> std::fmt::Debug for Lesson<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lesson").finish_non_exhaustive()
    }
}
