//! Creates recipes for the user's own data, as text to read and edit.

use super::Recipe;
use crate::data::own::checks::file_for_folder;
use crate::data::own::checks::name_of;
use crate::data::pictures::Folders;
use crate::data::{DataRequest, Table, TableSet, Target, own};
use crate::{Error, Result};
use gelu_compare::names::check_file_name;
use std::path::Path;

/// The smallest side in pixels for a network with convolutions and pooling.
const SMALLEST: usize = 12;

/// A recipe for the user's own data.
#[derive(Clone, Debug)]
pub struct OwnRecipe {
    /// The text of the recipe's file.
    pub text: String,
    /// The parsed recipe.
    pub recipe: Recipe,
}

impl OwnRecipe {
    /// Creates a recipe for a table. `place` is written unchanged.
    ///
    /// # Errors
    ///
    /// If the table cannot be read.
    pub fn of_table(asked: &DataRequest, place: &Path) -> Result<Self> {
        // Without a target, reading fails with a list of the columns.
        let set: TableSet = own::table::read(asked, place)?;
        asked.validate()?;
        Self::parse(&table_text(asked, place, &set.tables[0]), place)
    }

    /// Creates a recipe for images in one folder per class. `place` is written unchanged.
    ///
    /// # Errors
    ///
    /// If the folders or an image in them cannot be read.
    pub fn of_pictures(asked: &DataRequest, place: &Path) -> Result<Self> {
        asked.validate()?;
        if place.is_file() {
            return Err(file_for_folder("pictures", place));
        }
        let folders = Folders::find(place)?;
        let size = match asked.size {
            None => folders.suggested_size()?,
            size => size,
        };
        Self::parse(&picture_text(place, size, &folders)?, place)
    }

    fn parse(text: &str, place: &Path) -> Result<Self> {
        let origin = format!("for {}", place.display());
        let recipe = Recipe::parse_in(Path::new(""), text, &origin)?;
        Ok(Self { text: text.to_owned(), recipe })
    }
}

/// Returns a name that is valid for a results folder.
fn name(place: &Path) -> String {
    let name = name_of(place);
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem =
        if place.is_dir() { stem } else { stem.rsplit_once('.').map_or(stem, |(stem, _)| stem) };
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let plain: String = stem.chars().take(60).map(plain).collect();
    match plain.trim_start_matches(['.', '-']) {
        name if check_file_name("the recipe's name", name).is_ok() => name.to_owned(),
        _ => "own-data".to_owned(),
    }
}

/// Returns a text quoted for TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Returns a text without characters that are invalid in a heading.
fn heading(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
    gelu_compare::names::printable(&text)
}

fn place_text(place: &Path) -> String {
    quoted(&place.display().to_string())
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

fn table_text(asked: &DataRequest, place: &Path, table: &Table) -> String {
    let name = name(place);
    let target = table.target_name();
    let (kind, primary) = match &table.target {
        Target::Classes { .. } => ("classifier", "test-error"),
        Target::Numbers(_) => ("regression", "test-unexplained"),
    };
    let mut data = format!("csv = {}\ntarget = {}\n", place_text(place), quoted(target));
    if let Some(split) = &asked.split {
        data += &format!("split = {}\n", quoted(split));
    }
    for (key, names) in [("ignore", &asked.ignore), ("keep", &asked.keep)] {
        if !names.is_empty() {
            data += &format!("{key} = [{}]\n", list(names));
        }
    }
    if let Some(header) = asked.header {
        data += &format!("header = {header}\n");
    }
    let title = format!("{}: {}, 3×128 {kind}", heading(&name), heading(target));
    let negligible = match kind {
        "classifier" => "# Half a point of error: a difference too small to matter.",
        _ => "# Half a point of 1 − R²: a difference too small to matter.",
    };
    format!(
        r#"# Which activation is better on {name}? Change what you like, and run
#
#   gelu compare --recipe THIS_FILE
#
# `gelu data info csv` says how a table is read. A run's seed chooses the rows that are trained on, chosen by and
# reported on, unless a column of the table says it (`split = COLUMN`).
name = {}
title = {}

[data]
{data}
[network]
kind = "{kind}"
depth = 3
width = 128

[training]
epochs = 60
batch_size = 64
# An epoch of a small table shows its rows again until there are that many batches.
batches = 100
train_loss = "batches"
optimizer = {{ kind = "adam", beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8 }}

[comparison]
activations = ["gelu", "relu", "elu"]
seeds = 8
# The best is chosen for each activation by the loss on the rows to choose by.
learning_rates = [3e-3, 1e-3, 3e-4]
dropout = [0.1]
selection = "valid-loss"
reported = "best-epoch"
primary = "{primary}"
{negligible}
negligible = 0.005
"#,
        quoted(&name),
        quoted(&title)
    )
}

fn picture_text(place: &Path, size: Option<usize>, folders: &Folders) -> Result<String> {
    let name = name(place);
    let training = folders.training();
    let validation = match folders.set_aside {
        0 => training / 5,
        own => own,
    };
    if validation == 0 {
        return Err(Error::Usage(format!(
            "{} has {training} images to train on, too few to choose a learning rate by some of them; add images",
            place.display()
        )));
    }
    let batch_size = ((training - validation) / 4).clamp(1, 64);
    let side = match size {
        Some(size) => size,
        None => folders.first_size()?,
    };
    let (network, drops, title) = match side < SMALLEST {
        true => ("kind = \"classifier\"\ndepth = 3\nwidth = 128", 0.1, "3×128 classifier"),
        false => ("kind = \"airbench\"\nwidths = [16, 32, 64]", 0.0, "small airbench"),
    };
    let size = size.map_or_else(String::new, |size| {
        format!("# The largest square in the middle of each image is scaled to that side.\nsize = {size}\n")
    });
    let title = format!("{}, {title}", heading(&name));
    Ok(format!(
        r#"# Which activation is better on the images of {name}? Change what you like, and run
#
#   gelu compare --recipe THIS_FILE
#
# `gelu data info pictures` says how folders of images are read.
name = {}
title = {}

[data]
pictures = {}
{size}pixels = "centred"
# This many of the training images choose the learning rate, and the epoch that is reported.
validation = {validation}

[network]
{network}

[training]
epochs = 20
batch_size = {batch_size}
train_loss = "batches"
schedule = {{ kind = "cosine" }}
optimizer = {{ kind = "adam", beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8 }}

[comparison]
activations = ["gelu", "relu", "elu"]
seeds = 8
learning_rates = [3e-3, 1e-3]
dropout = [{drops:.1}]
selection = "valid-loss"
reported = "best-epoch"
primary = "test-error"
# Half a point of error: a difference too small to matter.
negligible = 0.005
threads = 2
"#,
        quoted(&name),
        quoted(&title),
        place_text(place),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(content: &str, file: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, content).unwrap();
        (folder, path)
    }

    fn asked(target: &str) -> DataRequest {
        DataRequest { target: Some(target.to_owned()), ..DataRequest::from("csv") }
    }

    #[test]
    fn a_table_has_a_recipe_for_what_is_predicted() {
        let rows: String =
            (0..60).map(|i| format!("{},{},{}\n", i * i, i * 7 % 13, ["a", "b"][i % 2])).collect();
        let (_folder, path) = written(&format!("x,y z,\"kind\"\n{rows}"), "my table.csv");
        let made = OwnRecipe::of_table(&asked("kind"), &path).unwrap();
        let Recipe { name, network, data, .. } = &made.recipe;
        assert_eq!((name.as_str(), network.kind()), ("my-table", "classifier"));
        assert_eq!(data.place.as_deref(), Some(path.as_path()));
        let ignoring = DataRequest { ignore: vec!["y z".into()], ..asked("kind") };
        let made = OwnRecipe::of_table(&ignoring, &path).unwrap();
        assert_eq!(made.recipe.data.ignore, ["y z"]);
        let made = OwnRecipe::of_table(&asked("x"), &path).unwrap();
        assert_eq!(made.recipe.network.kind(), "regression");
        assert_eq!(made.recipe.comparison.primary.name(), "test-unexplained");
        assert!(made.text.contains("target = \"x\"") && made.recipe.title.contains("x, 3×128"));
    }

    #[test]
    fn names_of_files_become_names_of_folders() {
        for (file, expected) in [
            ("Iris.csv", "Iris"),
            ("a b/c.tsv", "c"),
            ("..csv", "own-data"),
            ("wine(1).csv.gz", "wine-1-"),
        ] {
            assert_eq!(name(Path::new(file)), expected, "{file}");
        }
    }
}
