use super::ProgramRecipe;
use crate::Result;
use crate::runs::Plan;
use crate::worker::{Cores, Trainer};
use clap::Args;
use std::ffi::OsString;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Trains the runs of your own program. [`Loop`](super::Loop) does this for training loops. To train in another way,
/// implement this trait and use [`ProgramOf`](super::ProgramOf) with it.
pub trait ProgramBody: 'static {
    /// The flags of `compare`, `submit`, `train` and `work`, in addition to those that all programs have.
    type Flags: Args + Clone + Debug;

    /// The trainer of the runs.
    type Trainer<'a>: Trainer<Recipe = ProgramRecipe>;

    /// Declares in a recipe what the body knows: measures, and which of them decide by default.
    fn declare(&self, _recipe: &mut ProgramRecipe) {}

    /// Returns the device and backend for training.
    ///
    /// # Errors
    ///
    /// Returns an error if flags name a device that does not exist.
    fn on(&self, _flags: &Self::Flags) -> Result<DeviceNames> {
        Ok(DeviceNames::default())
    }

    /// Returns the arguments that give a worker the same flags.
    fn words(&self, flags: &Self::Flags) -> Vec<OsString>;

    /// Returns the arguments of each worker on this machine. There are several workers if flags name several devices.
    fn places(&self, flags: &Self::Flags) -> Vec<Vec<OsString>> {
        vec![self.words(flags)]
    }

    /// Creates the trainer for the runs of a comparison.
    ///
    /// # Errors
    ///
    /// Returns an error if the runs cannot be trained here.
    fn trainer<'a>(&'a self, work: Work<'_, Self::Flags>) -> Result<Self::Trainer<'a>>;
}

/// The device and backend for training; empty if there is nothing to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceNames {
    /// The device's name.
    pub device: String,
    /// The backend's name. Results of two backends differ in their last digits.
    pub backend: String,
}

/// The input for creating a trainer.
#[derive(Debug)]
pub struct Work<'a, F> {
    /// The program's name.
    pub program: &'a str,
    /// The comparison whose runs are to be trained.
    pub plan: &'a Plan<ProgramRecipe>,
    /// The values of the body's flags.
    pub flags: &'a F,
    /// The processor's cores, and the number of runs that share them.
    pub cores: Cores,
    /// If given, the trainer's own display may fill the terminal; the trainer sets the flag while it does.
    pub display: Option<Arc<AtomicBool>>,
}

/// A body that wraps a function of the program.
pub trait WrapsFunction<F, Marker>: ProgramBody {
    /// Creates the body that wraps `function`.
    fn wrapping(function: F) -> Self;
}
