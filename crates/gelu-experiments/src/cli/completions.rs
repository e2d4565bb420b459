use super::{command, print};
use crate::{Error, Result};
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell, for example: gelu completions bash > ~/.local/share/bash-completion/completions/gelu
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "gelu", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write a page for every command into this folder, instead of the main one to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self) -> Result<ExitCode> {
        match self.out {
            Some(folder) => {
                std::fs::create_dir_all(&folder)
                    .map_err(Error::io("create the folder", &folder))?;
                clap_mangen::generate_to(command(), &folder)
                    .map_err(Error::io("write the manual into", &folder))?;
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command())
                    .render(&mut page)
                    .map_err(Error::io("write", "the manual"))?;
                print(&String::from_utf8_lossy(&page))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn completions_of_every_shell_know_commands_and_values() {
        for &shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "gelu", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["compare", "recipe", "activations"] {
                assert!(script.contains(word), "{shell} does not complete {word}");
            }
        }
    }
}
