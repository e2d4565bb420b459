use super::presentation::Presentation;
use crate::data::{DataSet, Images, Samples, WindowSet};
use crate::measure::TestGroups;
use crate::recipe::{BatchUnit, DataRecipe};
use crate::runs::RunSpec;
use crate::{Error, Result};
use burn::tensor::Device;

/// A data set as a run uses it: split, scaled, on the device.
#[derive(Clone, Debug)]
pub struct Splits {
    /// What is trained on.
    pub train: Samples,
    /// What settings are chosen on; `None` where the recipe sets nothing aside.
    pub valid: Option<Samples>,
    /// What is reported.
    pub test: Samples,
    /// What was sampled together of it.
    pub test_groups: TestGroups,
    /// Number of classes.
    pub classes: usize,
    /// Channels, height and width of a picture; `None` where there are none.
    pub picture: Option<[usize; 3]>,
}

impl Splits {
    /// Whether `data` can be split and trained on as `spec` says.
    ///
    /// # Errors
    ///
    /// When the data are not those of the run, or too few to set the validation examples aside or
    /// to fill a batch.
    pub fn check(data: &DataSet, spec: &RunSpec) -> Result<()> {
        spec.activation.activation()?;
        let recipe = &spec.data;
        let name = &data.source().name;
        if data.source().fingerprint != spec.data_fingerprint {
            return Err(Error::Usage(format!(
                "the run was made with another content of {name}; name the data it was made with"
            )));
        }
        let (available, what) = match (data, spec.training.batch_of) {
            (DataSet::Pictures(set), _) => (set.train.len(), "examples"),
            (DataSet::Windows(set), BatchUnit::Examples) => {
                (limited(set, spec).train.len(), "examples")
            }
            (DataSet::Windows(set), BatchUnit::Groups) => {
                (limited(set, spec).train.groups(), "groups")
            }
        };
        if recipe.validation >= available {
            return Err(Error::Usage(format!(
                "the {available} training examples of {name} leave none to train on after {} are \
                 set aside for validation",
                recipe.validation
            )));
        }
        let rest = available - recipe.validation;
        let left = match data {
            DataSet::Pictures(_) => recipe.train_limit.map_or(rest, |limit| limit.min(rest)),
            DataSet::Windows(_) => rest,
        };
        if spec.training.batch_size > left {
            return Err(Error::Usage(format!(
                "the batch size is {}, but there are only {left} {what} to train on",
                spec.training.batch_size
            )));
        }
        Ok(())
    }

    /// How many test examples a recipe uses of `data`.
    pub fn test_examples(data: &DataSet, recipe: &DataRecipe) -> usize {
        let limit = recipe.test_limit.unwrap_or(usize::MAX);
        match data {
            DataSet::Pictures(set) => set.test.len().min(limit),
            DataSet::Windows(set) => set.test.spread(limit).len(),
        }
    }

    /// Splits `data` as `spec` says and puts it on `device`.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), and when the training pictures cannot be whitened.
    pub fn new(data: &DataSet, spec: &RunSpec, device: &Device) -> Result<Self> {
        Self::check(data, spec)?;
        match data {
            DataSet::Pictures(set) => Self::of_pictures(&set.train, &set.test, data, spec, device),
            DataSet::Windows(set) => {
                let set = limited(set, spec);
                let grouped = spec.training.batch_of == BatchUnit::Groups;
                Ok(Self {
                    train: Samples::of_windows(&set.train, grouped, device),
                    valid: Some(Samples::of_windows(&set.validation, false, device)),
                    test: Samples::of_windows(&set.test, false, device),
                    test_groups: set.test.sampled(),
                    classes: set.classes,
                    picture: None,
                })
            }
        }
    }

    fn of_pictures(
        train: &Images,
        test: &Images,
        data: &DataSet,
        spec: &RunSpec,
        device: &Device,
    ) -> Result<Self> {
        let recipe = &spec.data;
        let pixels = recipe.pixels.ok_or_else(|| {
            Error::Usage("data.pixels is missing; it says how bytes become inputs".to_owned())
        })?;
        let rest = train.len() - recipe.validation;
        let [train_limit, test_limit] =
            [recipe.train_limit, recipe.test_limit].map(|limit| limit.unwrap_or(usize::MAX));
        // Fitted before the limit: a whitening of few pictures says nothing about the others.
        let fitted_to = train.part(0..rest);
        let presentation = Presentation::fit(pixels, recipe.normalisation, &fitted_to, device)?;
        let present = |images: &Images, range| presentation.present(&images.part(range), device);
        let test_range = 0..test_limit;
        let validation = rest..rest + recipe.validation.min(test_limit);
        Ok(Self {
            train: present(&fitted_to, 0..train_limit),
            valid: (!validation.is_empty()).then(|| present(train, validation)),
            test_groups: test.part(test_range.clone()).sampled(),
            test: present(test, test_range),
            classes: data.classes(),
            picture: data.picture(),
        })
    }

    /// Numbers of an input.
    pub fn features(&self) -> usize {
        self.train.features()
    }
}

/// As many groups of each part as the recipe's limits say.
fn limited(set: &WindowSet, spec: &RunSpec) -> WindowSet {
    let (train, test) = (spec.data.train_limit, spec.data.test_limit);
    let [train, test] = [train, test].map(|limit| limit.unwrap_or(usize::MAX));
    WindowSet {
        train: set.train.spread(train),
        validation: set.validation.spread(test),
        test: set.test.spread(test),
        classes: set.classes,
        source: set.source.clone(),
    }
}
