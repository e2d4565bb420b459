//! Data of one's own, named on the command line.

use crate::data::{Asked, DataSet};
use crate::recipe::OwnRecipe;
use crate::{Error, Result};
use clap::{ArgAction, Args, ValueEnum};
use gelu_compare::cli::whole;
use gelu_compare::output::complain;
use std::path::{Path, PathBuf};

/// What is to be known of one's own data beside their place, as a recipe says it.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Own {
    /// Of a table, the column to predict: its name, or its number from 1
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Of a table, what to predict: classes or a number [default: a number where the column has fractions, or more than
    /// 20 different numbers]
    #[arg(long = "as", value_name = "WHAT", value_enum)]
    predicted: Option<Predicted>,
    /// Of a table, the column that says train, valid or test [default: one called split, set or the like, or else rows
    /// are split by each run's seed]
    #[arg(long, value_name = "COLUMN")]
    split: Option<String>,
    /// Of a table, columns that are no inputs
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Of a table, columns that are inputs although they number the rows, or have more than 100 different texts
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    keep: Vec<String>,
    /// Of a table, whether the first line names the columns [default: yes, unless it has numbers]
    #[arg(long, value_name = "YES|NO", value_parser = ["yes", "no"], action = ArgAction::Set)]
    header: Option<String>,
    /// Of pictures in folders, the side of the square that the middle of each is scaled to
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    size: Option<u16>,
}

/// What is predicted of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Predicted {
    /// Which class it is of
    Classes,
    /// A number
    Number,
}

impl Own {
    /// The set as it is asked for.
    pub(super) fn asked(&self, set: &str) -> Asked {
        let Self { target, predicted, split, ignore, keep, header, size } = self.clone();
        Asked {
            target,
            split,
            ignore,
            keep,
            header: header.map(|header| header == "yes"),
            numbers: predicted.map(|predicted| predicted == Predicted::Number),
            size: size.map(usize::from),
            ..Asked::from(set)
        }
    }

    /// Whether nothing is said.
    fn is_empty(&self) -> bool {
        self.asked("") == Asked::default()
    }
}

/// Where data of one's own are.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct OwnData {
    /// Compare on a table of your own: a file of values between commas, semicolons or tabs
    #[arg(long, value_name = "FILE", conflicts_with = "images")]
    csv: Option<PathBuf>,
    /// Compare on pictures of your own: PNG and JPEG files, a folder for each class
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    #[command(flatten)]
    own: Own,
}

impl OwnData {
    /// The recipe that they make, with their place as `place_of` writes it; `None` where none are named.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or something is said of data that are not named.
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

/// Says how data of one's own were read, and what to know of them; nothing of others.
pub(super) fn say_how_read(data: &DataSet, say: impl Fn(&str) -> Result<()>) -> Result<()> {
    match data {
        DataSet::Tables(set) => {
            for table in &set.tables {
                say(&format!("{}: {}\n", table.name, table.summary()))?;
            }
            for table in &set.tables {
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

/// Classes that are rare among the pictures to train on.
fn say_rare(labels: &[u8], names: &[String]) {
    const RARE: usize = 12;
    let count = |class: usize| labels.iter().filter(|&&label| usize::from(label) == class).count();
    let rare: Vec<String> = (0..names.len())
        .filter(|&class| count(class) < RARE)
        .map(|class| format!("{}: {}", names[class], count(class)))
        .collect();
    if !rare.is_empty() {
        complain(&format!(
            "gelu: classes with fewer than {RARE} pictures to train on, too few to say how well a network knows them: {}\n",
            gelu_compare::names::excerpts(rare.iter().map(String::as_str))
        ));
    }
}
