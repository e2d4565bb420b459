//! The meaning of a table's columns.

use crate::error::Place;
use crate::names::{excerpt, excerpts};
use crate::{Error, Result};
use csv::StringRecord;
use std::path::Path;

/// The names of a table's columns, by their meaning.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The column whose values are compared; empty for a wide table.
    pub compare: String,
    /// For a wide table, the columns of scores, one per arm.
    pub wide: Vec<String>,
    /// The columns at each combination of whose values there is a verdict.
    pub each: Vec<String>,
    /// The column of the metric; for a wide table, the name of the scores.
    pub metric: String,
    /// The column of the metric that must not get worse.
    pub guard: Option<String>,
    /// The column of the seed. In a wide table without it, every line is a seed of its own.
    pub seed: String,
    /// Whether no seeds pair the runs.
    pub unpaired: bool,
    /// Pairs of column and value: only lines with these values count.
    pub only: Vec<(String, String)>,
}

/// The positions of the columns.
pub(super) struct Places {
    pub(super) compare: Option<usize>,
    pub(super) each: Vec<usize>,
    pub(super) seed: Option<usize>,
    /// The columns of scores; in a wide table, each with the name of its arm.
    pub(super) scores: Vec<(usize, String)>,
    pub(super) guard: Option<usize>,
    pub(super) only: Vec<(usize, String)>,
    /// The column that says how the run ended.
    pub(super) status: Option<usize>,
}

impl Places {
    pub(super) fn of(header: &StringRecord, columns: &Columns, path: &Path) -> Result<Self> {
        if header.is_empty() {
            let advice = "a table begins with a line that names its columns";
            return Err(Error::data(path, Place::Line(1), "the file is empty", advice));
        }
        let place = |name: &str| place(header, name, path);
        let is_wide = !columns.wide.is_empty();
        let scores = match is_wide {
            true => columns
                .wide
                .iter()
                .map(|name| Ok((place(name)?, name.clone())))
                .collect::<Result<_>>()?,
            false => vec![(place(&columns.metric)?, String::new())],
        };
        let status = ["status", "state"].into_iter().find_map(|name| found(header, name).ok());
        let seed = match columns.unpaired || is_wide {
            true => found(header, &columns.seed).ok(),
            false => Some(place(&columns.seed)?),
        };
        Ok(Self {
            compare: (!is_wide).then(|| place(&columns.compare)).transpose()?,
            each: columns.each.iter().map(|name| place(name)).collect::<Result<_>>()?,
            seed: seed.filter(|_| !columns.unpaired),
            scores,
            guard: columns.guard.as_deref().map(place).transpose()?,
            only: columns
                .only
                .iter()
                .map(|(name, value)| Ok((place(name)?, value.clone())))
                .collect::<Result<_>>()?,
            status,
        })
    }
}

/// The reason why a name is not that of a single column.
enum Missing {
    None,
    Several,
}

/// Returns the position of the column `name`. If no column has exactly this name, the case of
/// letters does not matter, and a hyphen is an underscore.
fn found(header: &StringRecord, name: &str) -> std::result::Result<usize, Missing> {
    let of = |alike: &dyn Fn(&str) -> bool| -> Vec<usize> {
        header.iter().enumerate().filter(|(_, column)| alike(column)).map(|(at, _)| at).collect()
    };
    let exact = of(&|column| column == name);
    // Recipes write test-error, and files test_error.
    let folded = |text: &str| text.to_lowercase().replace('-', "_");
    let wanted = folded(name);
    let found = if exact.is_empty() { of(&|column| folded(column) == wanted) } else { exact };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(Missing::None),
        _ => Err(Missing::Several),
    }
}

fn place(header: &StringRecord, name: &str, path: &Path) -> Result<usize> {
    found(header, name).map_err(|missing| {
        let (name, there) = (excerpt(name), excerpts(header.iter()));
        let (problem, advice) = match missing {
            Missing::Several => (format!("two columns are named {name}"), "rename one of them"),
            Missing::None => {
                let advice = match header.len() == 1 && header[0].contains([';', '\t']) {
                    true => "columns are separated by commas, or by tabs in a file named .tsv",
                    false => "the first line names the columns",
                };
                (format!("there is no column {name}; there are: {there}"), advice)
            }
        };
        Error::data(path, Place::Line(1), problem, advice)
    })
}
