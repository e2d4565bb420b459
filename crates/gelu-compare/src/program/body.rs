use super::Study;
use crate::Result;
use crate::runs::Comparison;
use crate::worker::{Cores, Trainer};
use clap::Args;
use std::ffi::OsString;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What trains the runs of a program of one's own. gelu-compare has that of loops ([`Loop`](super::Loop)),
/// and whoever trains in another way implements it and calls the rest [`ProgramOf`](super::ProgramOf) it.
pub trait Body: 'static {
    /// Flags of `compare`, `submit`, `train` and `work` beside those that all programs have.
    type Flags: Args + Clone + Debug;

    /// What trains.
    type Trainer<'a>: Trainer<Experiment = Study>;

    /// Says of a study what the body knows of it: measures, and which of them decide where nobody has said.
    fn declare(&self, _study: &mut Study) {}

    /// What runs are trained on.
    ///
    /// # Errors
    ///
    /// When flags name what is not there.
    fn on(&self, _flags: &Self::Flags) -> Result<On> {
        Ok(On::default())
    }

    /// What a worker is told, so that it has the same flags.
    fn words(&self, flags: &Self::Flags) -> Vec<OsString>;

    /// Returns the arguments of each worker on this machine, where flags name several devices.
    fn places(&self, flags: &Self::Flags) -> Vec<Vec<OsString>> {
        vec![self.words(flags)]
    }

    /// What trains the runs of a comparison.
    ///
    /// # Errors
    ///
    /// When they cannot be trained here.
    fn trainer<'a>(&'a self, work: Work<'_, Self::Flags>) -> Result<Self::Trainer<'a>>;
}

/// What runs are trained on, by name; empty where there is nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct On {
    /// The device.
    pub device: String,
    /// Its backend: results of two differ in their last digits.
    pub backend: String,
}

/// What a trainer is made for.
#[derive(Debug)]
pub struct Work<'a, F> {
    /// The program's name.
    pub program: &'a str,
    /// Whose runs it trains.
    pub comparison: &'a Comparison<Study>,
    /// What was asked for.
    pub flags: &'a F,
    /// The processor's cores, and how many share them.
    pub cores: Cores,
    /// Where given, a display of the trainer's own may fill the terminal, and says so here.
    pub display: Option<Arc<AtomicBool>>,
}

/// A body that something can be put into: a function of a program's.
pub trait Holds<F, Marker>: Body {
    /// The body that does so.
    fn holding(function: F) -> Self;
}
