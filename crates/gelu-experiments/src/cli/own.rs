//! The user's own data, given on the command line.

use crate::data::{DataRequest, DataSet};
use crate::recipe::OwnRecipe;
use crate::{Error, Result};
use clap::{ArgAction, Args, ValueEnum};
use gelu_compare::cli::whole;
use gelu_compare::output::complain;
use std::path::{Path, PathBuf};

/// Options of the user's own data besides their location, as in a recipe.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Own {
    /// For a table: the column to predict, by its name or its number from 1
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// For a table: predict classes or a number [default: a number if the column has fractions or more than 20
    /// different numbers]
    #[arg(long = "as", value_name = "WHAT", value_enum)]
    predicted: Option<Predicted>,
    /// For a table: the column with train, valid or test [default: one called split, set or the like; without one,
    /// each run's seed splits the rows]
    #[arg(long, value_name = "COLUMN")]
    split: Option<String>,
    /// For a table: columns that are not inputs
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ignore: Vec<String>,
    /// For a table: columns that are inputs although they number the rows or have more than 100 different texts
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    keep: Vec<String>,
    /// For a table: whether the first line names the columns [default: yes, unless it has numbers]
    #[arg(long, value_name = "YES|NO", value_parser = ["yes", "no"], action = ArgAction::Set)]
    header: Option<String>,
    /// For images in folders: side of the square to which the centre of each image is scaled
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    size: Option<u16>,
}

/// The kind of prediction for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Predicted {
    /// The row's class
    Classes,
    /// A number
    Number,
}

impl Own {
    /// Returns these options as a request for the data set `set`.
    pub(super) fn asked(&self, set: &str) -> DataRequest {
        let Self { target, predicted, split, ignore, keep, header, size } = self.clone();
        DataRequest {
            target,
            split,
            ignore,
            keep,
            header: header.map(|header| header == "yes"),
            numbers: predicted.map(|predicted| predicted == Predicted::Number),
            size: size.map(usize::from),
            ..DataRequest::from(set)
        }
    }

    /// Returns whether no option is given.
    fn is_empty(&self) -> bool {
        self.asked("") == DataRequest::default()
    }
}

/// The location of the user's own data.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct OwnData {
    /// Compare on a table of your own: a file of values separated by commas, semicolons or tabs
    #[arg(long, value_name = "FILE", conflicts_with = "images")]
    csv: Option<PathBuf>,
    /// Compare on images of your own: PNG and JPEG files, one folder per class
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    #[command(flatten)]
    own: Own,
}

impl OwnData {
    /// Returns a recipe for the data, with their location as `place_of` writes it; `None` if no data are given.
    ///
    /// # Errors
    ///
    /// If the data cannot be read, or if there are options for data that are not given.
    pub(super) fn recipe(&self, place_of: impl Fn(&Path) -> PathBuf) -> Result<Option<OwnRecipe>> {
        match (&self.csv, &self.images) {
            (Some(file), _) => {
                let asked = self.own.asked("csv");
                OwnRecipe::of_table(&asked, &place_of(file)).map(Some)
            }
            (None, Some(folder)) => {
                let asked = self.own.asked("pictures");
                OwnRecipe::of_pictures(&asked, &place_of(folder)).map(Some)
            }
            (None, None) if self.own.is_empty() => Ok(None),
            (None, None) => Err(Error::Usage(
                "--target, --as, --split, --ignore, --keep and --header go with --csv FILE, and --size with --images DIR; \
                 a recipe says these things itself"
                    .to_owned(),
            )),
        }
    }
}

/// Prints how the user's own data were read, and warnings about them; prints nothing for other data. Of a folder of
/// tables, only `chosen` ones are printed, or all if `chosen` is empty.
pub(super) fn say_how_read(
    data: &DataSet,
    chosen: &[String],
    say: impl Fn(&str) -> Result<()>,
) -> Result<()> {
    match data {
        DataSet::Tables(set) => {
            let tables = || {
                set.tables.iter().filter(|table| chosen.is_empty() || chosen.contains(&table.name))
            };
            for table in tables() {
                say(&format!("{}: {}\n", table.name, table.summary()))?;
            }
            for table in tables() {
                let of =
                    if set.tables.len() > 1 { format!("{}: ", table.name) } else { String::new() };
                table
                    .warnings
                    .iter()
                    .for_each(|warning| complain(&format!("gelu: {of}{warning}\n")));
            }
            for refused in &set.refused {
                complain(&format!("gelu: left out: {refused}\n"));
            }
            Ok(())
        }
        DataSet::Pictures(set) if !set.notes.is_empty() => {
            say(&format!("{}: {}; {}\n", set.source.name, data.describe(), set.notes.join("; ")))?;
            say_rare(&set.train.labels, &set.names);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Warns about classes that are rare among the training images.
fn say_rare(labels: &[u8], names: &[String]) {
    const RARE: usize = 12;
    let count = |class: usize| labels.iter().filter(|&&label| usize::from(label) == class).count();
    let rare: Vec<String> = (0..names.len())
        .filter(|&class| count(class) < RARE)
        .map(|class| format!("{}: {}", names[class], count(class)))
        .collect();
    if !rare.is_empty() {
        complain(&format!(
            "gelu: classes with fewer than {RARE} images to train on, too few to say how well a network knows them: {}\n",
            gelu_compare::names::excerpts(rare.iter().map(String::as_str))
        ));
    }
}
