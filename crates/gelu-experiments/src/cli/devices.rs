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
        for (backend, computes_on) in DeviceName::backends_here() {
            let how = match DeviceName::backends().contains(&backend) {
                true => format!("in this build: --device {backend}"),
                false => format!("not in this build: build with --features {backend}"),
            };
            lines.push_str(&format!("{backend:<8} {computes_on:<44}  {how}\n"));
        }
        if let Ok(device) = DeviceName::default_device() {
            lines.push_str(&format!("default  {device}\n"));
        }
        print(&lines)?;
        Ok(ExitCode::SUCCESS)
    }
}
