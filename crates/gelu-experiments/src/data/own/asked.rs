use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A request for a data set: its name, and for the user's own data the options besides their location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRequest {
    /// A name of the catalogue, or `idx`, `pictures`, `csv`, `tables`.
    pub set: String,
    /// The column to predict, for a table.
    pub target: Option<String>,
    /// The columns to predict, for the tables of a folder, by the names of the files without their endings.
    pub targets: BTreeMap<String, String>,
    /// The column that says `train`, `valid` or `test`, for a table.
    pub split: Option<String>,
    /// The columns that are not inputs, for a table.
    pub ignore: Vec<String>,
    /// The columns that are inputs although they number the rows or have many texts, for a table.
    pub keep: Vec<String>,
    /// Whether the first line of a table names its columns; `None` decides by the line's cells.
    pub header: Option<bool>,
    /// Whether to predict a number rather than a class; `None` decides by the target's cells.
    pub numbers: Option<bool>,
    /// The side of the square to which each image is scaled, for images in folders.
    pub size: Option<usize>,
}

impl From<&str> for DataRequest {
    fn from(set: &str) -> Self {
        Self { set: set.to_owned(), ..Self::default() }
    }
}

impl DataRequest {
    /// Returns whether the data set is one table or a folder of tables.
    pub fn is_of_tables(&self) -> bool {
        ["csv", "tables"].contains(&self.set.as_str())
    }

    /// Checks that the options have an effect for this kind of data set.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the missing option, or the one without effect.
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
                refuse("data.size is for images in folders (`pictures = DIR`)")
            }
            _ => Ok(()),
        }
    }
}
