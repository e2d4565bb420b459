//! Checks that data suit a recipe and its runs, before any training and allocation.

use super::Splits;
use super::splits::{formula_of, limited, point_parts, text_parts};
use crate::data::{DataSet, PointSet, TableSet, Target, TextSet, Windows, points};
use crate::recipe::{BatchUnit, DataRecipe, Normalisation, Recipe};
use crate::runs::RunSpec;
use crate::{Error, Result};
use gelu_models::ZcaConfig;
use std::collections::BTreeSet;

/// The smallest side of an image for which convolutions and pooling leave at least one pixel.
const SMALLEST: usize = 12;

impl Splits {
    /// Checks that `data` can be split and trained on as `spec` says.
    ///
    /// # Errors
    ///
    /// If the data are not those of the run, or too few to set the validation examples aside or to fill a batch.
    pub fn check(data: &DataSet, spec: &RunSpec) -> Result<()> {
        spec.activation.nonlinearity()?;
        let recipe = &spec.data;
        let name = &data.source().name;
        if data.source().fingerprint != spec.data_fingerprint {
            return Err(Error::Usage(format!(
                "the run was made with another content of {name}; name the data it was made with"
            )));
        }
        if let Some(picture) = data.picture() {
            check_pictures(name, picture, spec)?;
        }
        let (available, what) = match (data, spec.training.batch_of) {
            (DataSet::Text(set), _) => return check_text(set, spec),
            (DataSet::Points(set), _) => return check_points(set, spec),
            (DataSet::Tables(set), _) => return check_table(set, spec),
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
            _ => rest,
        };
        if spec.training.batch_size > left {
            return Err(Error::Usage(format!(
                "the batch size is {}, but there are only {left} {what} to train on",
                spec.training.batch_size
            )));
        }
        Ok(())
    }

    /// Checks that `data` can be split and trained on as each of these runs of one recipe says. Checks that are the
    /// same for several runs are made once.
    ///
    /// # Errors
    ///
    /// If [`check`](Self::check) fails for a run.
    pub fn check_all(data: &DataSet, specs: impl Iterator<Item = RunSpec>) -> Result<()> {
        let mut checked: Vec<RunSpec> = Vec::new();
        let mut points_of = BTreeSet::new();
        for spec in specs {
            // Other differences between the runs are part of the network or the batch size.
            let alike = |other: &RunSpec| {
                (other.stage, &other.formula, &other.table)
                    == (spec.stage, &spec.formula, &spec.table)
                    && other.network == spec.network
                    && other.training.batch_size == spec.training.batch_size
            };
            match (checked.iter().any(alike), &spec.formula) {
                (false, _) => {
                    Self::check(data, &spec)?;
                    checked.push(spec);
                }
                // The training points of a formula depend on the seed.
                (true, Some(formula)) if points_of.insert((formula.to_string(), spec.seed)) => {
                    let own = points::of_run(spec.seed, formula.variables());
                    own.iter().try_for_each(|points| points.check(formula))?;
                    spec.activation.nonlinearity()?;
                }
                (true, _) => spec.activation.nonlinearity().map(drop)?,
            }
        }
        Ok(())
    }

    /// Checks that limits leave examples out, because a report would call them cuts. The limits of a built-in recipe
    /// may be larger than the data.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the limit.
    pub fn check_limits(data: &DataSet, recipe: &Recipe) -> Result<()> {
        // The numbers of training and validation examples, and of test examples, as the limits count them.
        let ([train, rest], what) = match data {
            DataSet::Pictures(set) => {
                let valid = recipe.data.validation;
                ([set.train.len().saturating_sub(valid), valid.max(set.test.len())], "examples")
            }
            DataSet::Windows(set) => {
                let [train, valid, test] =
                    [&set.train, &set.validation, &set.test].map(Windows::groups);
                let single = set.train.groups() == set.train.len();
                ([train, valid.max(test)], if single { "examples" } else { "groups of examples" })
            }
            DataSet::Text(set) => {
                ([set.train.len(), set.validation.len().max(set.test.len())], "characters")
            }
            DataSet::Tables(set) => {
                let largest = |part: &dyn Fn([usize; 3]) -> usize| {
                    set.tables.iter().map(|table| part(table.sizes())).max().unwrap_or(0)
                };
                (
                    [largest(&|[train, ..]| train), largest(&|[_, valid, test]| valid.max(test))],
                    "rows",
                )
            }
            DataSet::Points(_) => ([points::TRAIN, points::VALIDATION.max(points::TEST)], "points"),
        };
        let limits = |data: &DataRecipe| [data.train_limit, data.test_limit];
        let built_in = recipe.built_in().map_or([None; 2], |recipe| limits(&recipe.data));
        let parts = [("train", train, "train on"), ("test", rest, "choose by or report on")];
        for ((part, asked), built_in) in parts.into_iter().zip(limits(&recipe.data)).zip(built_in) {
            let (part, available, purpose) = part;
            if let Some(limit) = asked.filter(|&limit| asked != built_in && limit >= available) {
                return Err(Error::Usage(format!(
                    "the {part} limit is {limit}, and {} has {available} {what} to {purpose}: it leaves nothing out; \
                     name a smaller one, or none",
                    data.source().name
                )));
            }
        }
        Ok(())
    }
}

/// Checks that images with these channels, height and width suit the network and the normalisation.
fn check_pictures(name: &str, [channels, height, width]: [usize; 3], spec: &RunSpec) -> Result<()> {
    let refuse = |problem: String| Err(Error::Usage(problem));
    let smallest = height.min(width);
    if spec.network.is_convolutional() && smallest < SMALLEST {
        return refuse(format!(
            "the images of {name} have {width}×{height} pixels, too few for this network, which needs \
             {SMALLEST}×{SMALLEST}"
        ));
    }
    let padding = spec.data.augmentation.map_or(0, |augmentation| augmentation.crop_padding);
    if padding >= smallest {
        return refuse(format!(
            "data.augmentation.crop_padding is {padding}, and the images of {name} have {width}×{height} pixels: \
             some crops would show nothing of them; it has to be below {smallest}"
        ));
    }
    let values = channels * height * width;
    let most = ZcaConfig::MOST_VALUES;
    match spec.data.normalisation {
        Some(Normalisation::Zca { .. }) if values > most => refuse(format!(
            "data.normalisation is zca, and the images of {name} have {values} values ({channels} channels of \
             {width}×{height} pixels): whitening them takes too much memory and time; at most {most} can be whitened, \
             so make them smaller (`size = N` for images in folders), or choose mean-image"
        )),
        _ => Ok(()),
    }
}

/// Checks that every split of a text has at least one window, and the next character.
fn check_text(set: &TextSet, spec: &RunSpec) -> Result<()> {
    let name = &set.source.name;
    let Some(context) = spec.network.context() else {
        return Err(Error::Usage(format!("{name} is a text, which this network cannot read")));
    };
    let shortest = text_parts(set, spec).map(<[u32]>::len).into_iter().min().unwrap_or(0);
    match shortest > context {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "a part of {name} has {shortest} characters, and the network sees {context} at once and has to \
             name the one that follows; give it a longer text, or a shorter context"
        ))),
    }
}

/// Checks that the network can learn the table: classes need a classifier, numbers a regression.
fn check_table(set: &TableSet, spec: &RunSpec) -> Result<()> {
    let table = set.table(spec.table.as_deref())?;
    let column = format!("column `{}` of {}", table.target_name().escape_debug(), table.name);
    match (&table.target, spec.network.is_regression()) {
        (Target::Numbers(_), false) => Err(Error::Usage(format!(
            "{column} is a number, and a network of kind {} names classes; a network of kind regression predicts numbers, \
             with `primary = \"test-unexplained\"` and `selection = \"valid-loss\"`",
            spec.network.kind()
        ))),
        (Target::Classes { .. }, true) => Err(Error::Usage(format!(
            "{column} is a class, and a network of kind regression predicts numbers; a network of kind classifier names \
             classes, with `primary = \"test-error\"`"
        ))),
        _ => Ok(()),
    }
}

/// Checks that the formula can be learned: it has values at all points, and there are enough points for a batch.
fn check_points(set: &PointSet, spec: &RunSpec) -> Result<()> {
    let formula = formula_of(spec)?;
    let scale = set.scale(formula)?;
    let parts = point_parts(set, formula, spec);
    parts.iter().try_for_each(|points| scale.targets(formula, points).map(|_| ()))?;
    let (batch, points) = (spec.training.batch_size, parts[0].len());
    match batch <= points {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "the batch size is {batch}, but there are only {points} points to train on"
        ))),
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::data::{Augmentation, ImageSet, Images, digits};
    use gelu_core::Activation;

    fn pictures(count: usize, channels: usize, side: usize) -> DataSet {
        let images = |count| Images {
            pixels: vec![7; count * channels * side * side],
            channels,
            height: side,
            width: side,
            labels: (0..count).map(|index| (index % 10) as u8).collect(),
        };
        let set = ImageSet::new("x", None, true, 10, images(count), images(4));
        set.expect("the set is whole").into()
    }

    fn checked(data: &DataSet, change: impl FnOnce(&mut Recipe)) -> Result<()> {
        let mut recipe = Recipe::named("cifar10-cnn").expect("it is built in");
        (recipe.data.validation, recipe.training.batch_size) = (0, 1);
        change(&mut recipe);
        let fingerprint = &data.source().fingerprint;
        let spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", fingerprint);
        Splits::check(data, &spec)
    }

    /// 3·128·128 values, whose covariance would have 2.4 billion numbers.
    #[test]
    fn pictures_too_large_to_be_whitened_are_refused_before_they_are() {
        let large = pictures(4, 3, 128);
        let said = checked(&large, |_| {}).unwrap_err().to_string();
        assert!(said.contains("49152 values") && said.contains("at most 12288"), "{said}");
        checked(&large, |recipe| recipe.data.normalisation = None).unwrap();
        checked(&pictures(4, 3, 64), |_| {}).unwrap();
    }

    #[test]
    fn crops_show_something_of_a_picture() {
        let padded = |crop_padding| {
            checked(&pictures(4, 3, 16), |recipe| {
                let augmentation = Augmentation { mirrored: false, flips: false, crop_padding };
                recipe.data.augmentation = Some(augmentation);
            })
        };
        padded(15).unwrap();
        let said = padded(16).unwrap_err().to_string();
        assert!(said.contains("crop_padding is 16") && said.contains("below 16"), "{said}");
    }

    #[test]
    fn limits_that_leave_nothing_out_are_refused() {
        let data = DataSet::from(digits::generate(20, 5));
        let limited = |train, test| {
            let mut recipe = Recipe::named("digits").unwrap();
            recipe.data.validation = 5;
            (recipe.data.train_limit, recipe.data.test_limit) = (train, test);
            Splits::check_limits(&data, &recipe)
        };
        limited(Some(14), Some(4)).unwrap();
        limited(None, None).unwrap();
        let said = limited(Some(15), None).unwrap_err().to_string();
        assert!(
            said.contains("the train limit is 15, and digits has 15 examples to train on"),
            "{said}"
        );
        let said = limited(None, Some(2_000)).unwrap_err().to_string();
        assert!(said.contains("the test limit is 2000, and digits has 5 examples"), "{said}");
        // The limit of a built-in recipe may be larger than a small set.
        let narrow = Recipe::named("cifar10-cnn-narrow").unwrap();
        assert_eq!(narrow.data.train_limit, Some(2_000));
        Splits::check_limits(&pictures(16, 3, 32), &narrow).unwrap();
    }

    /// Runs with different formulas are checked separately.
    #[test]
    fn every_formula_is_checked() {
        let data = DataSet::from(PointSet::generate());
        let recipe = Recipe::named("symbolic").unwrap();
        let fingerprint = &data.source().fingerprint;
        let spec = |formula: &str, seed| {
            let formula = Some(formula.parse().unwrap());
            RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, seed, "flex", fingerprint)
                .of_formula(formula)
        };
        let specs = |second: &'static str| {
            [("f=x", 1), ("f=x", 2), (second, 1), (second, 2)].map(|(f, s)| spec(f, s))
        };
        Splits::check_all(&data, specs("g=x^2").into_iter()).unwrap();
        let error = Splits::check_all(&data, specs("g=ln(x)").into_iter()).unwrap_err().to_string();
        assert!(error.contains("g=ln(x) is NaN"), "{error}");
    }
}
