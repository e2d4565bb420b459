use crate::Result;
use crate::device::DeviceName;
use burn::tensor::Device;
use clap::Args;
use std::ffi::OsString;

/// The flags of every command that trains.
#[derive(Clone, Debug, Args)]
pub struct Flags {
    /// Device to train on: a backend that the program is built with, and an index: flex, cuda, cuda:1, wgpu [default:
    /// Burn's default device]
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Train on several devices of one backend at the same time, one run on each: cuda:0,cuda:1
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "device")]
    devices: Vec<DeviceName>,
    /// Launch every training step kernel by kernel, instead of recording one and replaying it where the device can
    #[arg(long)]
    no_capture: bool,
}

impl Flags {
    /// Returns the named device, or the first of several.
    fn named(&self) -> Option<&DeviceName> {
        self.device.as_ref().or(self.devices.first())
    }

    /// Returns the name of the device and the name of its backend.
    pub(crate) fn names(&self) -> (String, String) {
        match self.named() {
            Some(device) => (device.to_string(), device.backend().to_owned()),
            None => {
                let name = default_name();
                (name.clone(), name)
            }
        }
    }

    /// Opens the device.
    ///
    /// # Errors
    ///
    /// If the device does not compute.
    pub(crate) fn open(&self) -> Result<Device> {
        match self.named() {
            Some(device) => device.check().map(|()| device.open()),
            None => Ok(Device::default()),
        }
    }

    /// Whether steps may be recorded and replayed.
    pub(crate) fn captures(&self) -> bool {
        !self.no_capture
    }

    /// Returns the flags as command-line words.
    pub(crate) fn words(&self) -> Vec<OsString> {
        self.with_capture(self.named().map_or_else(Vec::new, words))
    }

    fn with_capture(&self, mut words: Vec<OsString>) -> Vec<OsString> {
        words.extend(self.no_capture.then(|| "--no-capture".into()));
        words
    }

    /// Returns the command-line words for each of several devices.
    pub(crate) fn places(&self) -> Vec<Vec<OsString>> {
        match self.devices.as_slice() {
            [] => vec![self.words()],
            devices => devices.iter().map(|device| self.with_capture(words(device))).collect(),
        }
    }
}

fn words(device: &DeviceName) -> Vec<OsString> {
    vec!["--device".into(), device.to_string().into()]
}

/// Returns the backend of Burn's default device, by Burn's name: `flex`.
fn default_name() -> String {
    let said = format!("{:?}", Device::default());
    let said = said.trim_start_matches("Device<").trim_end_matches('>');
    // `Cube` has several backends and names the backend in its brackets.
    let said = said.strip_prefix("Cube(").unwrap_or(said);
    let word = |c: char| !c.is_ascii_alphanumeric();
    said.split(word).next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_device_is_called_as_its_backend_is() {
        let of = |device, devices| Flags { device, devices, no_capture: false };
        assert_eq!(of(None, Vec::new()).names(), ("flex".to_owned(), "flex".to_owned()));
        let named = of(Some("flex".parse().unwrap()), Vec::new());
        assert_eq!(named.names().0, "flex");
        assert_eq!(named.words(), ["--device", "flex"]);
        let several = of(None, vec!["flex".parse().unwrap(); 2]);
        assert_eq!(several.places(), [["--device", "flex"]; 2]);
        let eager = Flags { no_capture: true, ..several };
        assert_eq!(eager.places(), [["--device", "flex", "--no-capture"]; 2]);
        assert_eq!(of(None, Vec::new()).words(), [""; 0]);
    }
}
