use crate::data::{Augmentation, Normalisation, Pixels};
use serde::{Deserialize, Serialize};

/// Which data, and how it is presented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecipe {
    /// Name of the data set, as `gelu data list` shows it.
    pub set: String,
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
    /// pictures; of tweets, sentences and recordings as many, evenly spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_limit: Option<usize>,
    /// Use only so many validation and test examples, chosen in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_limit: Option<usize>,
}
