use crate::Result;
use crate::device::DeviceName;
use burn::tensor::Device;
use clap::Args;
use std::ffi::OsString;

/// What every command that trains is told.
#[derive(Clone, Debug, Args)]
pub struct Flags {
    /// What to train on, by the name of a backend that the program is built with, and an index: flex, cuda,
    /// cuda:1, wgpu [default: Burn's default device]
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
}

impl Flags {
    /// The device's name, and its backend's.
    pub(crate) fn names(&self) -> (String, String) {
        match &self.device {
            Some(device) => (device.to_string(), device.backend().to_owned()),
            None => {
                let name = default_name();
                (name.clone(), name)
            }
        }
    }

    /// The device itself.
    ///
    /// # Errors
    ///
    /// When it does not compute.
    pub(crate) fn open(&self) -> Result<Device> {
        match &self.device {
            Some(device) => device.check().map(|()| device.open()),
            None => Ok(Device::default()),
        }
    }

    /// The same flags, as they are typed.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let device = self.device.iter();
        device.flat_map(|device| ["--device".into(), device.to_string().into()]).collect()
    }
}

/// The backend of Burn's default device, as Burn calls it: `flex`.
fn default_name() -> String {
    let said = format!("{:?}", Device::default());
    let said = said.trim_start_matches("Device<").trim_end_matches('>');
    // `Cube` has several backends, and says inside which one.
    let said = said.strip_prefix("Cube(").unwrap_or(said);
    let word = |c: char| !c.is_ascii_alphanumeric();
    said.split(word).next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_device_is_called_as_its_backend_is() {
        assert_eq!(Flags { device: None }.names(), ("flex".to_owned(), "flex".to_owned()));
        let named = Flags { device: Some("flex".parse().unwrap()) };
        assert_eq!(named.names().0, "flex");
        assert_eq!(named.words(), ["--device", "flex"]);
    }
}
