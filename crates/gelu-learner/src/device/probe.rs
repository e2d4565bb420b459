//! Tests whether a device works. Burn only finds out at the first computation, and then panics in another thread.

use super::DeviceName;
use crate::{Error, Result};
use burn::tensor::Tensor;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

impl DeviceName {
    /// Checks that the device computes.
    ///
    /// # Errors
    ///
    /// If it does not, with the missing parts of the system and a command that shows them.
    pub fn check(&self) -> Result<()> {
        match self.complaint()? {
            None => Ok(()),
            Some(reason) => {
                Err(Error::Failed(format!("device {self}: {reason}\n{}", self.needs())))
            }
        }
    }

    /// Returns why the device does not compute, or `None` if it does.
    ///
    /// The test runs in a separate process, because a process that has opened a GPU keeps memory on it, and on
    /// systems that give a GPU to only one process, the next process would not get it. The separate process is this
    /// program with the arguments `devices --probe NAME`. The processor's backends are not tested.
    ///
    /// # Errors
    ///
    /// If the process cannot be started.
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
            // After a signal, the last output of a driver need not be the cause.
            (said, None) => format!("{ended}; before, it said: {said}"),
            (said, Some(_)) => said.to_owned(),
        }))
    }

    /// Computes a small sum on the device in this process. The process should end afterwards, because it no longer
    /// prints panics.
    ///
    /// # Errors
    ///
    /// The message of the first thread that panicked.
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

    /// Returns what the system needs for this backend, and a command that shows it.
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
