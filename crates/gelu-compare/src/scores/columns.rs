//! Which columns of a table say what.

use crate::error::Place;
use crate::names::{excerpt, excerpts};
use crate::{Error, Result};
use csv::StringRecord;
use std::path::Path;

/// Which columns of a table say what.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Whose values are compared; empty of a wide table.
    pub compare: String,
    /// Of a wide table, the columns of scores, one an arm.
    pub wide: Vec<String>,
    /// A verdict is made at every combination of their values.
    pub each: Vec<String>,
    /// The metric; what the scores of a wide table are called.
    pub metric: String,
    /// The metric that must not get worse.
    pub guard: Option<String>,
    /// The seed. Of a wide table without it, every line is a seed of its own.
    pub seed: String,
    /// Whether runs have no seeds that pair them.
    pub unpaired: bool,
    /// Only lines count that have these values in these columns.
    pub only: Vec<(String, String)>,
}

/// Where the columns stand.
pub(super) struct Places {
    pub(super) compare: Option<usize>,
    pub(super) each: Vec<usize>,
    pub(super) seed: Option<usize>,
    /// Scores, each with the name of its arm in a wide table.
    pub(super) scores: Vec<(usize, String)>,
    pub(super) guard: Option<usize>,
    pub(super) only: Vec<(usize, String)>,
    /// How the run ended.
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

/// How many columns have a name, where it is not one.
enum Missing {
    None,
    Several,
}

/// The column of that name, in any case that is unique.
fn found(header: &StringRecord, name: &str) -> std::result::Result<usize, Missing> {
    let of = |alike: &dyn Fn(&str) -> bool| -> Vec<usize> {
        header.iter().enumerate().filter(|(_, column)| alike(column)).map(|(at, _)| at).collect()
    };
    let exact = of(&|column| column == name);
    let lower = name.to_lowercase();
    let found = if exact.is_empty() { of(&|column| column.to_lowercase() == lower) } else { exact };
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
