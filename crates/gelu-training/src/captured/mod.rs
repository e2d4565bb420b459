//! Training steps that are recorded once and replayed.
//!
//! A step launches hundreds of kernels, and for a small network launching them takes longer than running them. Burn's
//! CubeCL backends can record what a step launches and replay it as one thing (`burn::tensor::capture`: CUDA graphs on
//! CUDA and HIP, prepared passes on wgpu). A replay reads and writes the memory of the recording and knows no number
//! of the host. So a step can be replayed only if its parameters, moments and batches stay where they are and
//! everything that changes from step to step is read from the device. [`CapturedStep`] sees to that.

mod batch;
mod numbers;
mod state;
mod step;

pub use batch::FixedBatch;
pub(crate) use numbers::{Place, WIDTH, place};
pub use step::{CapturedStep, Recordable, can_record};

/// Why a step cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCaptured(String);

impl NotCaptured {
    /// For this reason: a half sentence.
    pub fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl std::fmt::Display for NotCaptured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotCaptured {}
