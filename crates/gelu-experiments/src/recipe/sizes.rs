//! Further axes of a comparison: the sizes of its network, of its batches, and the tables of a folder.

use super::{ComparisonRecipe, NetworkRecipe, Recipe};
use crate::runs::RunSpec;
use crate::{Error, Result};
use gelu_compare::runs::RunKey;
use gelu_compare::setting::{Axis, AxisWords, Label, Role, Setting, Value};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The axis of the tables of a folder.
pub(crate) const TABLE: &str = "table";

/// A size in which runs may differ; each of its values has a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Neurons or features per layer.
    Width,
    /// Number of layers or blocks.
    Depth,
    /// Examples per batch.
    BatchSize,
}

impl Size {
    const ALL: [Self; 3] = [Self::Width, Self::Depth, Self::BatchSize];

    /// Returns the name of the axis.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Width => "width",
            Self::Depth => "depth",
            Self::BatchSize => "batch_size",
        }
    }

    fn words(self) -> AxisWords {
        let (title, plural) = match self {
            Self::Width => ("width", "widths"),
            Self::Depth => ("depth", "depths"),
            Self::BatchSize => ("batch size", "batch sizes"),
        };
        AxisWords {
            column: Cow::Borrowed(self.name()),
            title: Cow::Borrowed(title),
            plural: Cow::Borrowed(plural),
            short_plural: Cow::Borrowed(plural),
            label: Label::By(ToString::to_string),
        }
    }

    /// Returns the values in a comparison; empty if this size is not an axis of it.
    fn values(self, varied: &ComparisonRecipe) -> &[usize] {
        match self {
            Self::Width => &varied.widths,
            Self::Depth => &varied.depths,
            Self::BatchSize => &varied.batch_sizes,
        }
    }

    /// Returns the size in a run; `None` if the run's network has no such size.
    fn of(self, spec: &RunSpec) -> Option<usize> {
        match self {
            Self::BatchSize => Some(spec.training.batch_size),
            size => spec.network.size(size),
        }
    }
}

impl NetworkRecipe {
    /// Returns one of the network's sizes; `None` if it has no single such size.
    pub(super) fn size(&self, size: Size) -> Option<usize> {
        match (self, size) {
            (
                Self::Classifier { width, .. }
                | Self::Regression { width, .. }
                | Self::WideResNet { width, .. }
                | Self::Gpt { width, .. },
                Size::Width,
            ) => Some(*width),
            (
                Self::Classifier { depth, .. }
                | Self::Regression { depth, .. }
                | Self::WideResNet { depth, .. }
                | Self::Gpt { layers: depth, .. },
                Size::Depth,
            ) => Some(*depth),
            _ => None,
        }
    }

    /// Returns the network with another size; unchanged if it has no such size.
    fn with_size(mut self, size: Size, value: usize) -> Self {
        match (&mut self, size) {
            (
                Self::Classifier { width, .. }
                | Self::Regression { width, .. }
                | Self::WideResNet { width, .. }
                | Self::Gpt { width, .. },
                Size::Width,
            ) => *width = value,
            (
                Self::Classifier { depth, .. }
                | Self::Regression { depth, .. }
                | Self::WideResNet { depth, .. }
                | Self::Gpt { layers: depth, .. },
                Size::Depth,
            ) => *depth = value,
            _ => {}
        }
        self
    }
}

/// Returns the axes besides activation, learning rate and dropout or formula.
pub(super) fn axes(varied: &ComparisonRecipe) -> Vec<Axis> {
    let size = |size: Size| {
        let values = size.values(varied);
        let values = values.iter().map(|&value| value as f64);
        (values.len() > 0)
            .then(|| Axis::new(size.name(), Role::Each, values).with_words(size.words()))
    };
    let mut axes: Vec<Axis> = Size::ALL.into_iter().filter_map(size).collect();
    if !varied.tables.is_empty() {
        axes.push(Axis::new(TABLE, Role::Each, varied.tables.iter().cloned()));
    }
    axes
}

/// Returns the number of combinations of these axes' values.
pub(crate) fn combinations(varied: &ComparisonRecipe) -> usize {
    axes(varied).iter().map(|axis| axis.values.len()).product()
}

impl Recipe {
    /// Checks that the network has the varied sizes, and that each of their values is allowed.
    pub(super) fn validate_sizes(&self) -> Result<()> {
        for size in [Size::Width, Size::Depth] {
            let values = size.values(&self.comparison);
            if !values.is_empty() && self.network.size(size).is_none() {
                return Err(Error::Usage(format!(
                    "a network of kind {} has no single {}, so it cannot be varied; those of kind classifier, regression, \
                     wide-res-net and gpt have",
                    self.network.kind(),
                    size.name()
                )));
            }
            for &value in values {
                self.network.clone().with_size(size, value).validate()?;
            }
        }
        for &batch_size in &self.comparison.batch_sizes {
            let mut training = self.training.clone();
            training.batch_size = batch_size;
            training.validate()?;
        }
        Ok(())
    }
}

impl RunSpec {
    /// Returns the run with the sizes and the table of `key`; `None` if the key lacks one of the recipe's axes.
    pub(super) fn of_sizes(mut self, recipe: &Recipe, key: &RunKey) -> Option<Self> {
        for size in Size::ALL.into_iter().filter(|size| !size.values(&recipe.comparison).is_empty())
        {
            let value = match key.setting.get(size.name())? {
                Value::Number(number) => *number as usize,
                _ => return None,
            };
            match size {
                Size::BatchSize => self.training.batch_size = value,
                _ => self.network = self.network.with_size(size, value),
            }
            self.varied.push(size);
        }
        if !recipe.comparison.tables.is_empty() {
            self.table = Some(key.setting.get(TABLE)?.as_text()?.to_owned());
        }
        Some(self)
    }

    /// Adds the sizes and the table of this run to a setting.
    pub(crate) fn with_sizes(&self, mut setting: Setting) -> Setting {
        for size in &self.varied {
            if let Some(value) = size.of(self) {
                setting.set(size.name(), value as f64);
            }
        }
        if let Some(table) = &self.table {
            setting.set(TABLE, table.as_str());
        }
        setting
    }

    /// Returns the sizes and the table for the name of a folder, with a dash before each.
    pub(crate) fn sizes_in_words(&self) -> String {
        let size =
            |size: &Size| Some(format!("-{}{}", size.name().replace('_', ""), size.of(self)?));
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let table = self
            .table
            .iter()
            .flat_map(|table| std::iter::once('-').chain(table.chars().take(40).map(plain)));
        self.varied.iter().filter_map(size).collect::<String>() + &table.collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gelu_compare::runs::Spec;
    use gelu_compare::runs::{DataAndBackend, Recipe as _};

    const WITH: DataAndBackend<'_> = DataAndBackend { backend: "flex", data_fingerprint: "abc" };

    fn varied() -> Recipe {
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.comparison.widths = vec![16, 32];
        recipe.comparison.depths = vec![2];
        recipe.comparison.batch_sizes = vec![50, 100, 200];
        recipe.validate().unwrap();
        recipe
    }

    #[test]
    fn every_combination_is_a_run_of_that_size() {
        let recipe = varied();
        let settings = recipe.design().settings();
        assert_eq!(settings.len(), 3 * combinations(&recipe.comparison));
        let mut sizes = std::collections::BTreeSet::new();
        for setting in settings {
            let key = RunKey { setting, seed: 1, stage: gelu_compare::runs::Stage::Only };
            let spec = recipe.spec(&WITH, &key).unwrap();
            assert_eq!(spec.key(), key);
            assert!(recipe.includes(&WITH, &spec));
            let NetworkRecipe::Classifier { depth, width } = spec.network else {
                panic!("{spec:?}")
            };
            sizes.insert((width, depth, spec.training.batch_size));
            assert!(
                spec.folder_name().contains(&format!("-width{width}-depth2-batchsize")),
                "{}",
                spec.folder_name()
            );
        }
        assert_eq!(sizes.len(), 6);
    }

    /// Runs of a comparison without an axis do not belong to one with it, even if everything else is equal.
    #[test]
    fn an_axis_makes_another_comparison() {
        let (recipe, plain) = (varied(), Recipe::named("digits").unwrap());
        let key = RunKey {
            setting: plain.design().settings().swap_remove(0),
            seed: 1,
            stage: gelu_compare::runs::Stage::Only,
        };
        let spec = plain.spec(&WITH, &key).unwrap();
        assert!(recipe.spec(&WITH, &key).is_none() && !recipe.includes(&WITH, &spec));
        assert_ne!(recipe.with_grid_of(&plain), plain);
        let mut wider = recipe.clone();
        wider.comparison.widths.push(64);
        assert_eq!(wider.with_grid_of(&recipe), recipe);
    }

    #[test]
    fn sizes_that_a_network_does_not_have_are_refused() {
        let said = |name: &str, change: &dyn Fn(&mut ComparisonRecipe)| {
            let mut recipe = Recipe::named(name).unwrap();
            change(&mut recipe.comparison);
            recipe.validate().unwrap_err().to_string()
        };
        let cnn = said("cifar10-cnn", &|varied| varied.widths = vec![8]);
        assert!(cnn.contains("kind cnn has no single width"), "{cnn}");
        let depth = said("cifar10-wrn", &|varied| varied.depths = vec![11]);
        assert!(depth.contains("network.depth 11"), "{depth}");
        assert!(said("digits", &|varied| varied.widths = vec![0]).contains("network.width is 0"));
        assert!(
            said("digits", &|varied| varied.batch_sizes = vec![0]).contains("the batch size is 0")
        );
    }
}
