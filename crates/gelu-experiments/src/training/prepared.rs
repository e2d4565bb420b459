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

    /// A whole comparison would be wrong if runs were given the splits of other runs.
    #[test]
    fn splits_are_kept_for_all_that_they_depend_on() {
        let recipe = Recipe::named("digits").unwrap();
        let usage = |change: fn(&mut RunSpec)| {
            let mut spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", "abc");
            change(&mut spec);
            Usage::of(&spec)
        };
        let plain = usage(|_| ());
        assert_eq!(plain, usage(|spec| (spec.seed, spec.learning_rate) = (2, 0.1)));
        let changes: [fn(&mut RunSpec); 4] = [
            |spec| spec.data_fingerprint.push('d'),
            |spec| spec.data.validation += 1,
            |spec| spec.data.train_limit = Some(7),
            |spec| spec.training.batch_of = BatchUnit::Groups,
        ];
        for (index, change) in changes.into_iter().enumerate() {
            assert_ne!(plain, usage(change), "{index}");
        }
        // The seed splits the rows of a table.
        let table = |seed, table| {
            let mut spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, seed, "flex", "");
            (spec.data.set, spec.table) = ("tables".to_owned(), Some(str::to_owned(table)));
            Usage::of(&spec)
        };
        assert_eq!(table(1, "iris"), table(1, "iris"));
        assert_ne!(table(1, "iris"), table(2, "iris"));
        assert_ne!(table(1, "iris"), table(1, "wine"));
        // Each run draws its points.
        assert_eq!(usage(|spec| spec.formula = Some("wave=sin(x)".parse().unwrap())), None);
    }

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
