use crate::Result;
use crate::activation::NamedActivation;
use burn::tensor::Device;
use gelu_compare::setting::Setting;
use gelu_core::Activation;
use std::fmt::Display;
use std::str::FromStr;

/// A run to train: its setting, its seed and its device.
#[derive(Clone, Debug)]
pub struct Run {
    setting: Setting,
    seed: u64,
    device: Device,
}

impl Run {
    pub(crate) fn new(setting: Setting, seed: u64, device: Device) -> Self {
        Self { setting, seed, device }
    }

    /// Returns the seed. The device's generator is seeded with it before the network is built and before every epoch,
    /// and the order of an epoch depends on it. You need the seed for random numbers of your own.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the value of an axis, parsed as any type.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) if there is no such axis, or its value cannot be parsed.
    pub fn get<T: FromStr<Err: Display>>(&self, axis: &str) -> Result<T> {
        self.setting.read(axis)
    }

    /// Returns the activation that an axis names: a built-in one (`gelu`), one that the program has registered
    /// ([`register`](crate::activation::register)), or a formula with a name (`mine=x*tanh(x)`).
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) if there is no such axis or no such activation; the message lists the
    /// existing ones.
    pub fn activation(&self, axis: &str) -> Result<Activation> {
        let text: String = self.get(axis)?;
        text.parse::<NamedActivation>()?.activation().cloned()
    }

    /// Returns the device to build the network on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
