use super::suggested::Suggested;
use super::{dry_run, print};
use crate::Result;
use crate::recipe::Recipe;
use clap::{Args, Subcommand};
use gelu_compare::cli::listing;
use std::process::ExitCode;

/// Built-in experiments.
#[derive(Debug, Args)]
pub(super) struct RecipeCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the built-in recipes
    List,
    /// Print a built-in recipe, to read or to change: gelu recipe show digits > mine.toml
    Show {
        /// Name of the recipe
        #[arg(value_parser = Suggested::experiments())]
        name: String,
    },
}

impl RecipeCommand {
    pub(super) fn run(self) -> Result<ExitCode> {
        print(&match self.command {
            Command::List => list()?,
            Command::Show { name } => Recipe::text(&name)?.to_owned(),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list() -> Result<String> {
    let mut rows = Vec::new();
    for name in Recipe::names() {
        let recipe = Recipe::named(name)?;
        rows.push(vec![
            name.to_owned(),
            recipe.title.clone(),
            recipe.data.set.clone(),
            dry_run::runs(&recipe).to_string(),
            recipe.training.epochs.to_string(),
        ]);
    }
    let table = listing(&["recipe", "what", "data", "runs", "epochs"], &[3, 4], rows);
    Ok(format!(
        "{table}\n\n`gelu recipe show NAME` prints one; `gelu compare NAME` carries it out.\n"
    ))
}
