use super::print;
use crate::Result;
use clap::Args;
use gelu_compare::output::complain;
use gelu_learner::device::DeviceName;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Devices {
    /// Test only this device: exit code 0 if it computes, otherwise 1 with the error
    #[arg(long, value_name = "NAME", hide = true)]
    probe: Option<DeviceName>,
}

impl Devices {
    pub(super) fn run(self) -> Result<ExitCode> {
        if let Some(device) = self.probe {
            return Ok(match device.probe() {
                Ok(()) => ExitCode::SUCCESS,
                Err(reason) => {
                    complain(&format!("{reason}\n"));
                    ExitCode::FAILURE
                }
            });
        }
        let mut lines = String::new();
        for (backend, computes_on) in DeviceName::backends_here() {
            let how = match backend.parse::<DeviceName>() {
                Err(_) => format!("not in this build: build with --features {backend}"),
                Ok(device) => match device.complaint()? {
                    None => format!("ready: --device {backend}"),
                    Some(reason) => format!("none answers: {}", first_line(&reason)),
                },
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

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
