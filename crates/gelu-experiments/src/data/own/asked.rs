use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A data set that is asked for: its name, and what has to be known of one's own beside its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// A name of the catalogue, or `idx`, `pictures`, `csv`, `tables`.
    pub set: String,
    /// Of a table, the column that is predicted.
    pub target: Option<String>,
    /// Of the tables of a folder, the columns that are predicted, by the names of the files without their endings.
    pub targets: BTreeMap<String, String>,
    /// Of a table, the column that says `train`, `valid` or `test`.
    pub split: Option<String>,
    /// Of a table, columns that are no inputs.
    pub ignore: Vec<String>,
    /// Of a table, columns that are inputs although they number the rows, or have many texts.
    pub keep: Vec<String>,
    /// Whether the first line of a table names its columns; by its cells where absent.
    pub header: Option<bool>,
    /// Whether a number is to be predicted rather than a class; by the target's cells where absent.
    pub numbers: Option<bool>,
    /// Of pictures in folders, the side of the square that each is scaled to.
    pub size: Option<usize>,
}

impl From<&str> for Asked {
    fn from(set: &str) -> Self {
        Self { set: set.to_owned(), ..Self::default() }
    }
}

impl Asked {
    /// Whether it is one table, or a folder of tables.
    pub fn is_of_tables(&self) -> bool {
        ["csv", "tables"].contains(&self.set.as_str())
    }

    /// Checks that what is said of the set is of use for its kind.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming what is missing, or has no effect.
    pub(crate) fn validate(&self) -> Result<()> {
        let for_tables = self.target.is_some()
            || self.split.is_some()
            || !(self.ignore.is_empty() && self.keep.is_empty())
            || self.header.is_some();
        let refuse = |problem: &str| Err(Error::Usage(problem.to_owned()));
        match self.set.as_str() {
            "csv" if self.target.is_none() => refuse(
                "data.target is missing; it says which column of the table is to be predicted (--target COLUMN)",
            ),
            "tables" if self.target.is_some() => refuse(
                "data.target is for one table; of the tables of a folder, data.targets names the column of each, as in \
                 `targets = { letters = \"letter\" }`",
            ),
            set if set != "tables" && !self.targets.is_empty() => refuse(
                "data.targets is for a folder of tables (`tables = DIR`); of one, `target` names the column",
            ),
            _ if for_tables && !self.is_of_tables() => refuse(
                "data.target, data.split, data.ignore, data.keep and data.header are for columns, and only a table has some \
                 (`csv = FILE`)",
            ),
            set if self.size.is_some() && set != "pictures" => {
                refuse("data.size is for pictures in folders (`pictures = DIR`)")
            }
            _ => Ok(()),
        }
    }
}
