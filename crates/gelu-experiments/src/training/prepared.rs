use super::Splits;
use crate::Result;
use crate::data::DataSet;
use crate::recipe::{BatchUnit, DataRecipe};
use crate::runs::RunSpec;
use burn::tensor::Device;

/// The prepared data of the latest run, which are prepared again only for a run that uses the data in another way.
#[derive(Debug, Default)]
pub struct PreparedSplits {
    kept: Option<(Usage, Splits)>,
}

/// Everything that the splits of a run depend on, apart from the network, which is the same for the whole comparison.
#[derive(Debug, PartialEq)]
struct Usage {
    fingerprint: String,
    recipe: DataRecipe,
    unit: BatchUnit,
    /// The table, and the seed that splits its rows.
    rows: Option<(Option<String>, u64)>,
}

impl Usage {
    /// Returns `None` if each run has data of its own, as with points.
    fn of(spec: &RunSpec) -> Option<Self> {
        spec.formula.is_none().then(|| Self {
            fingerprint: spec.data_fingerprint.clone(),
            recipe: spec.data.clone(),
            unit: spec.training.batch_of,
            rows: spec.data.is_of_tables().then(|| (spec.table.clone(), spec.seed)),
        })
    }
}

impl PreparedSplits {
    /// Returns the splits of a run. Calls `data` only if the splits must be prepared.
    ///
    /// # Errors
    ///
    /// If `data` or [`Splits::new`] fails.
    pub fn of<'a>(
        &mut self,
        spec: &RunSpec,
        device: &Device,
        data: impl FnOnce() -> Result<&'a DataSet>,
    ) -> Result<Splits> {
        let usage = Usage::of(spec);
        if let Some((kept, splits)) = &self.kept
            && usage.as_ref() == Some(kept)
        {
            return Ok(splits.clone());
        }
        // Drop the old splits first, because both may not fit into memory.
        self.kept = None;
        let splits = Splits::new(data()?, spec, device)?;
        self.kept = usage.map(|usage| (usage, splits.clone()));
        Ok(splits)
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::Error;
    use crate::data::digits;
    use crate::recipe::Recipe;
    use gelu_core::Activation;

    #[test]
    fn runs_that_use_data_alike_have_them_prepared_once() {
        let mut recipe = Recipe::named("digits").unwrap();
        (recipe.data.validation, recipe.training.batch_size) = (5, 5);
        let data = DataSet::from(digits::generate(20, 5));
        let fingerprint = data.source().fingerprint.clone();
        let spec = |recipe: &Recipe, seed| {
            RunSpec::new(recipe, &Activation::Gelu, 1e-3, 0.0, seed, "flex", &fingerprint)
        };
        let device = Device::default();
        let mut prepared = PreparedSplits::default();
        let gone = || Err(Error::Failed("the data were asked for".to_owned()));
        assert!(prepared.of(&spec(&recipe, 1), &device, gone).is_err());
        let first = prepared.of(&spec(&recipe, 1), &device, || Ok(&data)).unwrap();
        let again = prepared.of(&spec(&recipe, 2), &device, gone).unwrap();
        assert_eq!((first.train.len(), again.train.len()), (15, 15));
        recipe.data.validation = 10;
        assert!(prepared.of(&spec(&recipe, 1), &device, gone).is_err());
        let other = prepared.of(&spec(&recipe, 1), &device, || Ok(&data)).unwrap();
        assert_eq!(other.train.len(), 10);
    }
}
