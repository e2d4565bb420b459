use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A data set that is asked for: its name, and what has to be known of one's own beside its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// A name of the catalogue, or `idx`, `pictures`, `csv`.
    pub set: String,
    /// Of a table, the column of the classes.
    pub target: Option<String>,
    /// Of a table, the column that says `train`, `valid` or `test`.
    pub split: Option<String>,
    /// Of a table, columns that are no inputs.
    pub ignore: Vec<String>,
    /// Of pictures in folders, the side of the square that each is scaled to.
    pub size: Option<usize>,
}

impl From<&str> for Asked {
    fn from(set: &str) -> Self {
        Self { set: set.to_owned(), ..Self::default() }
    }
}

impl Asked {
    /// Checks that what is said of the set is of use for its kind.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming what is missing, or has no effect.
    pub(crate) fn validate(&self) -> Result<()> {
        let for_tables = self.target.is_some() || self.split.is_some() || !self.ignore.is_empty();
        let refuse = |problem: &str| Err(Error::Usage(problem.to_owned()));
        match self.set.as_str() {
            "csv" if self.target.is_none() => {
                refuse("data.target is missing; it says which column of the table is the class")
            }
            set if for_tables && set != "csv" => refuse(
                "data.target, data.split and data.ignore name columns, and only a table has some (`csv = FILE`)",
            ),
            set if self.size.is_some() && set != "pictures" => {
                refuse("data.size is for pictures in folders (`pictures = DIR`)")
            }
            _ => Ok(()),
        }
    }
}
