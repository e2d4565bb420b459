use super::eval::{data_of, run_of};
use super::print;
use crate::Result;
use crate::training::{interface_of, load_model};
use burn::tensor::Device;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Folder of a comparison, to export its best run's network, or folder of one run
    folder: PathBuf,
    /// File to write, with PyTorch's names and layouts: `weights.safetensors`
    file: PathBuf,
    /// Folder with the data set's files, which give the size of a network from an older version
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self) -> Result<ExitCode> {
        let run = run_of(&self.folder)?;
        let device = Device::default();
        let interface = interface_of(&run, || data_of(&self.folder, &run, self.data), &device)?;
        load_model(&run, &interface.shape, &device)?.save_state_dict(&self.file)?;
        print(&format!("{} is the network in {}\n", self.file.display(), run.path().display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
