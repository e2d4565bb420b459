//! Whether a device is there. Burn finds out when it first computes, and panics in a thread of its own.

use super::DeviceName;
use crate::{Error, Result};
use burn::tensor::Tensor;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

impl DeviceName {
    /// Makes certain that the device computes.
    ///
    /// # Errors
    ///
    /// When it does not: what is missing, and what to look at.
    pub fn check(&self) -> Result<()> {
        match self.complaint()? {
            None => Ok(()),
            Some(reason) => {
                Err(Error::Failed(format!("device {self}: {reason}\n{}", self.needs())))
            }
        }
    }

    /// Why the device does not compute, found out in a process of its own: what has opened a GPU keeps
    /// memory on it, and where GPUs are lent to one process alone, the next one would not get it.
    ///
    /// That process is this program with the arguments `devices --probe NAME`. Nothing is asked of the
    /// processor's own backends.
    ///
    /// # Errors
    ///
    /// When the process cannot be started.
    pub fn complaint(&self) -> Result<Option<String>> {
        if self.is_cpu() {
            return Ok(None);
        }
        let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
        let probe = Command::new(&program)
            .args(["devices", "--probe", &self.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .map_err(Error::io("start", program))?;
        if probe.status.success() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&probe.stderr);
        let ended = format!("the process that tried it ended with {}", probe.status);
        Ok(Some(match (said.trim(), probe.status.code()) {
            ("", _) => ended,
            // Killed by a signal: what a driver said before need not be why.
            (said, None) => format!("{ended}; before, it said: {said}"),
            (said, Some(_)) => said.to_owned(),
        }))
    }

    /// Computes something small on the device, in this process, which should end afterwards: panics are
    /// not printed from here on.
    ///
    /// # Errors
    ///
    /// What the first thread that panicked had to say.
    pub fn probe(&self) -> std::result::Result<(), String> {
        let first: Arc<Mutex<Option<String>>> = Arc::default();
        let heard = first.clone();
        set_hook(Box::new(move |panic| {
            let words = panic.payload_as_str().unwrap_or("a panic without a word").to_owned();
            if let Ok(mut first) = heard.lock() {
                first.get_or_insert(words);
            }
        }));
        let sum = catch_unwind(AssertUnwindSafe(|| {
            Tensor::<1>::ones([4], &self.open()).sum().into_scalar::<f32>()
        }));
        match sum {
            Ok(4.0) => Ok(()),
            Ok(other) => Err(format!("it says that 1 + 1 + 1 + 1 is {other}")),
            Err(_) => {
                let words = first.lock().ok().and_then(|mut first| first.take());
                Err(words.unwrap_or_else(|| "it panicked without a word".to_owned()))
            }
        }
    }

    /// What has to be on the system, and what shows it.
    fn needs(&self) -> &'static str {
        match self.backend {
            "cuda" => {
                "It needs NVIDIA's driver and the library libnvrtc; `nvidia-smi` lists what the \
                 driver sees"
            }
            "rocm" => "It needs AMD's driver and HIP; `rocminfo` lists what they see",
            "metal" => "It needs one of Apple's GPUs",
            _ if cfg!(target_os = "linux") => {
                "It needs a GPU whose driver has Vulkan; `vulkaninfo --summary` lists what there is"
            }
            _ => "It needs a GPU with its driver",
        }
    }
}
