use crate::Result;
use crate::data::{self, DataSet};
use crate::recipe::{BatchUnit, DataRecipe};
use crate::runs::{Comparison, RunSpec};
use crate::training::Splits;
use burn::tensor::Device;
use std::path::PathBuf;

/// The data as the runs of a comparison use it, kept from one run to the next: read once, and
/// prepared again only for runs that use it in another way.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Where the data is, if not where the comparison says.
    location: Option<PathBuf>,
    data: Option<DataSet>,
    splits: Option<(DataRecipe, BatchUnit, Splits)>,
}

impl Prepared {
    pub(super) fn new(location: Option<PathBuf>) -> Self {
        Self { location, data: None, splits: None }
    }

    /// The splits of a run.
    ///
    /// # Errors
    ///
    /// When the data cannot be read, or are not those of the run.
    pub(super) fn splits(
        &mut self,
        comparison: &Comparison,
        spec: &RunSpec,
        device: &Device,
    ) -> Result<Splits> {
        if let Some((recipe, unit, splits)) = &self.splits
            && *recipe == spec.data
            && *unit == spec.training.batch_of
            // Of points each run has its own.
            && spec.formula.is_none()
        {
            return Ok(splits.clone());
        }
        // Before the new ones are made: both may not fit.
        self.splits = None;
        let data = match self.data.take() {
            Some(data) => data,
            None => {
                let location = self.location.as_deref().or(comparison.data.location.as_deref());
                data::load(&spec.data.asked(), location)?
            }
        };
        let splits = Splits::new(&data, spec, device);
        self.data = Some(data);
        let splits = splits?;
        self.splits = Some((spec.data.clone(), spec.training.batch_of, splits.clone()));
        Ok(splits)
    }
}
