use crate::files::write_atomically;
use crate::output::print;
use crate::{Error, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print completions for a shell
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell; for bash, save the output in ~/.local/share/bash-completion/completions/, in a file with the
    /// program's name
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the completions of `command`.
    ///
    /// # Errors
    ///
    /// Returns an error if standard output cannot be written.
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
    /// Write one page per command into this folder, instead of the main page to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    /// Prints or writes the manual of `command`.
    ///
    /// # Errors
    ///
    /// Returns an error if the manual cannot be written.
    pub fn run(self, command: Command) -> Result<ExitCode> {
        match self.out {
            Some(folder) => {
                std::fs::create_dir_all(&folder)
                    .map_err(Error::io("create the folder", &folder))?;
                let (name, mut pages) = (command.get_name().to_owned(), Vec::new());
                let mut command = named(command, &name).disable_help_subcommand(true);
                command.build();
                add_pages(&command, &name, &mut pages)?;
                for (name, page) in pages {
                    write_atomically(&folder.join(format!("{name}.1")), page)?;
                }
            }
            None => {
                let name = command.get_name().to_owned();
                print(&page(&named(command, &name), &name)?)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns `command` with the names of its subcommands' pages, such as `gelu_compare` for `gelu compare`. With a
/// hyphen, the name would be that of another program's page.
fn named(command: Command, name: &str) -> Command {
    command.mut_subcommands(|subcommand| {
        let page = format!("{name}_{}", subcommand.get_name());
        named(subcommand.display_name(&page), &page)
    })
}

/// Adds the page `name` and the pages of its subcommands to `pages`.
fn add_pages(command: &Command, name: &str, pages: &mut Vec<(String, String)>) -> Result<()> {
    pages.push((name.to_owned(), page(command, name)?));
    command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).try_for_each(
        |subcommand| add_pages(subcommand, &format!("{name}_{}", subcommand.get_name()), pages),
    )
}

/// Returns the page of `command`. It refers to the subcommands' pages by their names (see [`named`]).
fn page(command: &Command, name: &str) -> Result<String> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render(&mut page).map_err(Error::io("write", "the manual"))?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    for subcommand in command.get_subcommands() {
        // The manual format escapes hyphens.
        let [name, of] = [name, subcommand.get_name()].map(|name| name.replace('-', "\\-"));
        page = page.replace(&format!("{name}\\-{of}(1)"), &format!("{name}_{of}(1)"));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    /// `gelu compare` and `gelu-compare` are different commands with a page each.
    #[test]
    fn no_command_has_the_page_of_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let out = Some(folder.path().to_path_buf());
        Man { out }.run(Command::new("gelu").subcommand(Command::new("compare"))).unwrap();
        let page = |name: &str| std::fs::read_to_string(folder.path().join(name));
        assert!(page("gelu.1").unwrap().contains("gelu_compare(1)"));
        assert!(page("gelu_compare.1").unwrap().contains("gelu compare"));
        assert!(page("gelu-compare.1").is_err());
    }

    #[test]
    fn completions_of_every_shell_know_commands_and_options() {
        for &shell in Shell::value_variants() {
            let script = script(shell, crate::program::command());
            for word in ["verdict", "unpaired", "gelu-compare"] {
                assert!(script.contains(word), "{shell} does not complete {word}");
            }
        }
    }
}
