use crate::Result;
use crate::activation::NamedActivation;
use burn::tensor::Device;
use gelu_compare::program::StudyRun;
use gelu_core::Activation;
use std::fmt::Display;
use std::str::FromStr;

/// A run that is to be trained: its setting, its seed, and what it is trained on.
#[derive(Clone, Debug)]
pub struct Run {
    spec: StudyRun,
    device: Device,
}

impl Run {
    pub(crate) fn new(spec: StudyRun, device: Device) -> Self {
        Self { spec, device }
    }

    /// The seed. The device's generator is seeded by it before the network is built and before every epoch,
    /// and the order of an epoch follows from it; a program needs it for what it draws itself.
    pub fn seed(&self) -> u64 {
        self.spec.seed
    }

    /// The value of an axis, as whatever it can be read as.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) where there is no such axis, or its value is no such thing.
    pub fn get<T: FromStr<Err: Display>>(&self, axis: &str) -> Result<T> {
        self.spec.setting.read(axis)
    }

    /// The activation that an axis names: a built-in one (`gelu`), one that the program has registered
    /// ([`register`](crate::activation::register)), or a formula with a name (`mine=x*tanh(x)`).
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) where there is no such axis, or no such activation: which ones
    /// there are.
    pub fn activation(&self, axis: &str) -> Result<Activation> {
        let text: String = self.get(axis)?;
        text.parse::<NamedActivation>()?.activation().cloned()
    }

    /// What it is trained on: where the network is to be built.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
