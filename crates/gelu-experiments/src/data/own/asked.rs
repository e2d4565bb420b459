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
