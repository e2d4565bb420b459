use super::NetworkRecipe;
use super::limits::{self, MOST_EXAMPLES};
use crate::data::{Asked, Augmentation, Normalisation, Pixels};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Sides that pictures may be scaled to, and zeros that they may be surrounded by.
const LARGEST_SIDE: u64 = 1024;

/// Which data, and how it is presented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecipe {
    /// Name of the data set, as `gelu data list` shows it; `idx`, `pictures`, `csv` or `tables` for one's own.
    #[serde(default)]
    pub set: String,
    /// Pictures of one's own, in the four files of MNIST: short for `set = "idx"` and where they are. A
    /// relative path begins at the recipe's file. So do the next three.
    #[serde(default, skip_serializing)]
    idx: Option<PathBuf>,
    /// A folder with a folder of pictures a class.
    #[serde(default, skip_serializing)]
    pictures: Option<PathBuf>,
    /// A table.
    #[serde(default, skip_serializing)]
    csv: Option<PathBuf>,
    /// A folder of tables.
    #[serde(default, skip_serializing)]
    tables: Option<PathBuf>,
    /// Where data of one's own are.
    #[serde(skip)]
    pub place: Option<PathBuf>,
    /// Of a table, the column that is predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The same of the tables of a folder, by the names of their files without endings; of others it is the column called
    /// target, class or the like, or the last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, String>,
    /// Of a table, the column that says `train`, `valid` or `test`; without, out of five rows three are trained
    /// on, one chooses and one is reported on, by the seed of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Of a table, columns that are no inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Of a table, columns that are inputs although they number the rows, or have many texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Of a table, whether the first line names the columns; its cells say it where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// Of a folder of pictures, the side of the square that the middle of each is scaled to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How bytes become inputs; absent for data that are no pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<Pixels>,
    /// What is fitted to the training pictures and applied to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalisation: Option<Normalisation>,
    /// How the training pictures are varied from epoch to epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub augmentation: Option<Augmentation>,
    /// How many of the training examples (the last ones) are set aside for validation. 0 where the
    /// data set has a validation part of its own, which is then used.
    #[serde(default)]
    pub validation: usize,
    /// Use only so many training examples (before validation is set aside from all): the first
    /// pictures, or characters of a text; of tweets, sentences and recordings as many, evenly spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_limit: Option<usize>,
    /// Use only so many validation and test examples, chosen in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_limit: Option<usize>,
}

impl DataRecipe {
    /// Checks its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the value, and what it has to be.
    pub(crate) fn validate(&self) -> Result<()> {
        for (what, limit) in
            [("the train limit", self.train_limit), ("the test limit", self.test_limit)]
        {
            limits::count(what, limit.unwrap_or(1) as u64, MOST_EXAMPLES)?;
        }
        if self.augmentation.is_some_and(|augmentation| augmentation.flips && augmentation.mirrored)
        {
            return Err(Error::Usage(
                "data.augmentation has both flips and mirrored; an epoch shows a picture in one way or in both"
                    .to_owned(),
            ));
        }
        let padding = self.augmentation.map_or(0, |augmentation| augmentation.crop_padding);
        limits::count_or_none("data.augmentation.crop_padding", padding as u64, LARGEST_SIDE)?;
        if let Some(Normalisation::Zca { regulariser }) = self.normalisation {
            let possible = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
            limits::single("data.normalisation.zca.regulariser", regulariser, possible)?;
        }
        limits::count("data.size", self.size.unwrap_or(1) as u64, LARGEST_SIDE)?;
        limits::count_or_none("data.validation", self.validation as u64, MOST_EXAMPLES)?;
        self.asked().validate()
    }

    /// Makes of `idx = DIR`, `pictures = DIR`, `csv = FILE` or `tables = DIR` the name of the set and its place.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] unless one set is named.
    pub(super) fn settle(&mut self, base: &Path) -> Result<()> {
        let own = [
            ("idx", self.idx.take()),
            ("pictures", self.pictures.take()),
            ("csv", self.csv.take()),
            ("tables", self.tables.take()),
        ];
        let named = own.iter().filter(|(_, place)| place.is_some()).count()
            + usize::from(!self.set.is_empty());
        if named != 1 {
            return Err(Error::Usage(format!(
                "data names {named} sets; it has to be one of `set = NAME`, `idx = DIR`, `pictures = DIR`, \
                 `csv = FILE` and `tables = DIR`"
            )));
        }
        if let Some((set, Some(place))) = own.into_iter().find(|(_, place)| place.is_some()) {
            self.set = set.to_owned();
            self.place = Some(base.join(place));
        }
        Ok(())
    }

    /// Whether it is a table, or a folder of tables.
    pub(crate) fn is_of_tables(&self) -> bool {
        ["csv", "tables"].contains(&self.set.as_str())
    }

    /// The set as it is loaded for a network.
    pub(crate) fn asked_for(&self, network: &NetworkRecipe) -> Asked {
        // An autoencoder predicts neither.
        let numbers = match network {
            _ if self.set != "csv" => None,
            NetworkRecipe::Regression { .. } => Some(true),
            _ => network.classifies().then_some(false),
        };
        Asked { numbers, ..self.asked() }
    }

    /// The set as it is asked for, whatever is predicted.
    pub(crate) fn asked(&self) -> Asked {
        let Self { set, target, targets, split, ignore, keep, header, size, .. } = self.clone();
        Asked { set, target, targets, split, ignore, keep, header, numbers: None, size }
    }
}
