use super::own::{OwnData, say_how_read};
use super::suggested::Suggested;
use super::{dry_run, print};
use crate::data;
use crate::recipe::Recipe;
use crate::{Error, Result};
use clap::{Args, Subcommand};
use gelu_compare::cli::listing;
use gelu_compare::output::complain;
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
    /// Print a built-in recipe, to read or edit: gelu recipe show digits > mine.toml
    Show {
        /// Name of the recipe
        #[arg(value_parser = Suggested::experiments())]
        name: String,
    },
    /// Print a recipe for data of your own, to edit: gelu recipe new --csv my.csv --target COLUMN > mine.toml
    New {
        #[command(flatten)]
        own: OwnData,
    },
}

impl RecipeCommand {
    pub(super) fn run(self) -> Result<ExitCode> {
        print(&match self.command {
            Command::List => list()?,
            Command::Show { name } => Recipe::text(&name)?.to_owned(),
            Command::New { own } => new(&own)?,
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn new(own: &OwnData) -> Result<String> {
    let Some(made) = own.recipe(std::path::Path::to_path_buf)? else {
        let problem = "name data of your own: --csv FILE --target COLUMN, or --images DIR";
        return Err(Error::Usage(problem.to_owned()));
    };
    let data = data::load(&made.recipe.asked(), made.recipe.data.place.as_deref())?;
    // The recipe goes to standard output, so this goes to standard error.
    say_how_read(&data, &[], |line| {
        complain(&format!("gelu: {line}"));
        Ok(())
    })?;
    Ok(made.text)
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
