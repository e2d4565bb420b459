use super::limits::{self, MOST_EXAMPLES};
use crate::Result;
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
        limits::count_or_none("data.validation", self.validation as u64, MOST_EXAMPLES)
    }
}
