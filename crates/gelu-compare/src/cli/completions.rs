use crate::output::print;
use crate::{Error, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print completions for a shell
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell; for bash, what is printed belongs into ~/.local/share/bash-completion/completions/, in a
    /// file of the program's name
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the completions of that command line.
    ///
    /// # Errors
    ///
    /// When they cannot be printed.
    pub fn run(self, command: Command) -> Result<ExitCode> {
        print(&script(self.shell, command))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn script(shell: Shell, mut command: Command) -> String {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Print the manual page
#[derive(Debug, Args)]
pub struct Man {
    /// Write a page for every command into this folder, instead of the main one to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    /// Prints or writes the manual of that command line.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn run(self, command: Command) -> Result<ExitCode> {
        match self.out {
            Some(folder) => {
                std::fs::create_dir_all(&folder)
                    .map_err(Error::io("create the folder", &folder))?;
                clap_mangen::generate_to(command, &folder)
                    .map_err(Error::io("write the manual into", &folder))?;
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command)
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
    fn completions_of_every_shell_know_commands_and_options() {
        for &shell in Shell::value_variants() {
            let script = script(shell, crate::program::command());
            for word in ["verdict", "looked-at", "gelu-compare"] {
                assert!(script.contains(word), "{shell} does not complete {word}");
            }
        }
    }
}
