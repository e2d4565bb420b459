use super::print;
use crate::Result;
use crate::device::DeviceName;
use clap::Args;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Devices {}

impl Devices {
    pub(super) fn run(self) -> Result<ExitCode> {
        let mut lines = String::new();
        for backend in DeviceName::all_backends() {
            lines.push_str(&match DeviceName::backends().contains(backend) {
                true => format!("{backend:<8} in this build: --device {backend}\n"),
                false => {
                    format!("{backend:<8} not in this build: build with --features {backend}\n")
                }
            });
        }
        if let Ok(device) = DeviceName::default_device() {
            lines.push_str(&format!("default  {device}\n"));
        }
        print(&lines)?;
        Ok(ExitCode::SUCCESS)
    }
}
