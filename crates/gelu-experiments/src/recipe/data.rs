use super::NetworkRecipe;
use super::limits::{self, MOST_EXAMPLES};
use crate::data::{Augmentation, DataRequest, Normalisation, Pixels};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest side to which images may be scaled, and the widest border of zeros.
const LARGEST_SIDE: u64 = 1024;

/// The data, and how they are presented to the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecipe {
    /// Name of the data set, as in `gelu data list`; `idx`, `pictures`, `csv` or `tables` for the user's own data.
    #[serde(default)]
    pub set: String,
    /// Folder of the user's own images in the four files of MNIST: short for `set = "idx"` with its location. A
    /// relative path starts at the recipe's file; the same holds for the next three.
    #[serde(default, skip_serializing)]
    idx: Option<PathBuf>,
    /// Folder with one folder of images per class.
    #[serde(default, skip_serializing)]
    pictures: Option<PathBuf>,
    /// File of a table.
    #[serde(default, skip_serializing)]
    csv: Option<PathBuf>,
    /// Folder of tables.
    #[serde(default, skip_serializing)]
    tables: Option<PathBuf>,
    /// The location of the user's own data.
    #[serde(skip)]
    pub place: Option<PathBuf>,
    /// For a table, the column to predict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// For the tables of a folder, the columns to predict, by the names of the files without endings. For other
    /// tables, it is the column called target, class or the like, or the last one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, String>,
    /// For a table, the column that says `train`, `valid` or `test`. Without it, of five rows three are for training,
    /// one for validation and one for test, by the run's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// For a table, the columns that are not inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// For a table, the columns that are inputs although they number the rows or have many texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// For a table, whether the first line names the columns; `None` decides by the line's cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// For a folder of images, the side of the square to which the centre of each image is scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The conversion of bytes into inputs; `None` for data that are not images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<Pixels>,
    /// The normalisation, fitted to the training images and applied to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalisation: Option<Normalisation>,
    /// The augmentation of the training images from epoch to epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub augmentation: Option<Augmentation>,
    /// Number of training examples (the last ones) to set aside for validation. 0 if the data set has a validation
    /// split, which is then used.
    #[serde(default)]
    pub validation: usize,
    /// Number of training examples to use (before validation is set aside): the first images, or characters of a
    /// text; for tweets, sentences and recordings, this many, evenly spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_limit: Option<usize>,
    /// Number of validation and of test examples to use, chosen in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_limit: Option<usize>,
}

impl DataRecipe {
    /// Checks the numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the value and the allowed values.
    pub(crate) fn validate(&self) -> Result<()> {
        for (what, limit) in
            [("the train limit", self.train_limit), ("the test limit", self.test_limit)]
        {
            limits::count(what, limit.unwrap_or(1) as u64, MOST_EXAMPLES)?;
        }
        if self.augmentation.is_some_and(|augmentation| augmentation.flips && augmentation.mirrored)
        {
            return Err(Error::Usage(
                "data.augmentation has both flips and mirrored; an epoch shows a image in one way or in both"
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

    /// Converts `idx = DIR`, `pictures = DIR`, `csv = FILE` or `tables = DIR` into the name of the set and its
    /// location.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] unless exactly one set is named.
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

    /// Returns whether the data set is a table or a folder of tables.
    pub(crate) fn is_of_tables(&self) -> bool {
        ["csv", "tables"].contains(&self.set.as_str())
    }

    /// Returns the request for loading the set for a network.
    pub(crate) fn asked_for(&self, network: &NetworkRecipe) -> DataRequest {
        // An autoencoder predicts neither classes nor numbers.
        let numbers = match network {
            _ if self.set != "csv" => None,
            NetworkRecipe::Regression { .. } => Some(true),
            _ => network.classifies().then_some(false),
        };
        DataRequest { numbers, ..self.asked() }
    }

    /// Returns the request for the set, whatever the network predicts.
    pub(crate) fn asked(&self) -> DataRequest {
        let Self { set, target, targets, split, ignore, keep, header, size, .. } = self.clone();
        DataRequest { set, target, targets, split, ignore, keep, header, numbers: None, size }
    }
}
