use super::input_reader::InputReader;
use super::interface::{Interface, Shape};
use super::large_reader::{LargeReader, reader_of};
use super::presentation::Presentation;
use crate::data::own::table::TableParts;
use crate::data::{
    DataSet, Images, PointSet, Points, Samples, Table, Target, TextSet, WindowSet, points,
};
use crate::recipe::{BatchUnit, Recipe};
use crate::runs::RunSpec;
use crate::{Error, Result};
use burn::tensor::Device;
use gelu_compare::runs::RunFolder;
use gelu_learner::activation::TargetFormula;
use gelu_learner::networks::TestGroups;
use std::sync::Arc;

/// A data set as a run uses it: split, scaled, and on the device.
#[derive(Clone, Debug)]
pub struct Splits {
    /// The training examples.
    pub train: Samples,
    /// The validation examples, which choose settings; `None` if the recipe sets none aside.
    pub valid: Option<Samples>,
    /// The test examples.
    pub test: Samples,
    /// Points around the region of the test set, if a formula is learned.
    pub outside: Option<Samples>,
    /// The groups of the test set that were sampled together.
    pub test_groups: TestGroups,
    /// Whether all runs have the same test examples.
    pub is_shared: bool,
    /// Number of classes.
    pub classes: usize,
    /// Channels, height and width of an image; `None` if there are no images.
    pub picture: Option<[usize; 3]>,
    /// The names of the classes, by their numbers.
    pub names: Vec<String>,
    /// Converts an input that is not in the data; `None` if that is impossible.
    pub reader: Option<InputReader>,
    /// The content of the reader's shared file.
    pub(super) large: Option<Arc<LargeReader>>,
}

impl Splits {
    /// Returns the number of test examples that a recipe uses of `data`.
    pub fn test_examples(data: &DataSet, recipe: &Recipe) -> usize {
        let limit = recipe.data.test_limit.unwrap_or(usize::MAX);
        match data {
            DataSet::Pictures(set) => set.test.len().min(limit),
            DataSet::Windows(set) => set.test.spread(limit).len(),
            DataSet::Points(_) => points::TEST.min(limit),
            // Test rows differ between seeds or tables, so there is no single number.
            DataSet::Tables(set) if !(set.has_test_rows() && set.tables.len() == 1) => 0,
            DataSet::Tables(set) => set.tables[0].sizes()[2].min(limit),
            DataSet::Text(set) => {
                // Only whole windows count, and the first character is not a label.
                let context = recipe.network.context().unwrap_or(1);
                set.test.len().min(limit).saturating_sub(1) / context * context
            }
        }
    }

    /// Splits `data` as `spec` says and moves it to `device`.
    ///
    /// # Errors
    ///
    /// If [`check`](Self::check) fails, or the training images cannot be whitened.
    pub fn new(data: &DataSet, spec: &RunSpec, device: &Device) -> Result<Self> {
        Self::check(data, spec)?;
        match data {
            DataSet::Pictures(set) => Self::of_pictures(&set.train, &set.test, data, spec, device),
            DataSet::Windows(set) => {
                let set = limited(set, spec);
                let (reader, large) = reader_of(&set);
                let grouped = spec.training.batch_of == BatchUnit::Groups;
                Ok(Self {
                    train: Samples::of_windows(&set.train, grouped, device),
                    valid: Some(Samples::of_windows(&set.validation, false, device)),
                    test: Samples::of_windows(&set.test, false, device),
                    outside: None,
                    test_groups: set.test.sampled(),
                    is_shared: true,
                    classes: set.classes,
                    picture: None,
                    names: set.names,
                    reader,
                    large,
                })
            }
            DataSet::Points(set) => Self::of_points(set, formula_of(spec)?, spec, device),
            DataSet::Tables(set) => {
                Ok(Self::of_table(set.table(spec.table.as_deref())?, spec, device))
            }
            DataSet::Text(set) => {
                let [train, validation, test] = text_parts(set, spec);
                let context =
                    spec.network.context().expect("a text is checked to have a network for it");
                let of_text = |part| Samples::of_text(part, context, device);
                let test = of_text(test);
                let windows = std::iter::repeat_n(context, test.units());
                Ok(Self {
                    train: of_text(train),
                    valid: Some(of_text(validation)),
                    test_groups: TestGroups::of_sizes(windows),
                    is_shared: true,
                    test,
                    outside: None,
                    classes: set.vocabulary.len(),
                    picture: None,
                    names: Vec::new(),
                    reader: Some(InputReader::Text(set.vocabulary.iter().collect())),
                    large: None,
                })
            }
        }
    }

    fn of_table(table: &Table, spec: &RunSpec, device: &Device) -> Self {
        let [train, test] = [spec.data.train_limit, spec.data.test_limit];
        let limits = [train, test, test].map(|limit| limit.unwrap_or(usize::MAX));
        let TableParts { parts, reader, scale } = table.of_seed(spec.seed, limits);
        let [train, valid, test] = parts.each_ref().map(|rows| Samples::of_rows(rows, device));
        Self {
            train,
            valid: Some(valid),
            test_groups: TestGroups::singles(test.len()),
            is_shared: table.has_test_rows(),
            test,
            outside: None,
            classes: table.target.classes(),
            picture: None,
            names: match &table.target {
                Target::Classes { names, .. } => names.clone(),
                Target::Numbers(_) => Vec::new(),
            },
            reader: Some(match scale {
                None => InputReader::Windows(reader),
                Some(scale) => InputReader::Quantity { reader, scale },
            }),
            large: None,
        }
    }

    fn of_points(
        set: &PointSet,
        formula: &TargetFormula,
        spec: &RunSpec,
        device: &Device,
    ) -> Result<Self> {
        let scale = set.scale(formula)?;
        let parts = point_parts(set, formula, spec);
        let test_groups = TestGroups::singles(parts[2].len());
        let present = |points: &Points| {
            let targets = scale.targets(formula, points)?;
            Ok(Samples::of_points(points, targets, device))
        };
        let [train, valid, test, outside] = &parts;
        Ok(Self {
            train: present(train)?,
            valid: Some(present(valid)?),
            test: present(test)?,
            outside: Some(present(outside)?),
            test_groups,
            is_shared: true,
            classes: 1,
            picture: None,
            names: Vec::new(),
            reader: Some(InputReader::Point { variables: formula.variables(), scale }),
            large: None,
        })
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
        // Fitted before the limit, because a whitening of few images would not suit the others.
        let fitted_to = train.part(0..rest);
        let presentation = Presentation::fit(pixels, recipe.normalisation, &fitted_to, device)?;
        let present = |images: &Images, range| presentation.present(&images.part(range), device);
        let (reader, large) = presentation.reader(recipe.asked().size);
        let test_range = 0..test_limit;
        let validation = rest..rest + recipe.validation.min(test_limit);
        Ok(Self {
            train: present(&fitted_to, 0..train_limit),
            valid: (!validation.is_empty()).then(|| present(train, validation)),
            test_groups: test.part(test_range.clone()).sampled(),
            is_shared: true,
            test: present(test, test_range),
            outside: None,
            classes: data.classes(),
            picture: data.picture(),
            names: data.names(),
            reader: Some(reader),
            large: large.map(Arc::new),
        })
    }

    /// Returns the sizes of inputs and outputs.
    pub fn shape(&self) -> Shape {
        Shape { features: self.features(), classes: self.classes, picture: self.picture }
    }

    /// Returns the information that is saved with a network, so that it can predict without the data.
    pub fn interface(&self) -> Interface {
        let (names, reader) = (self.names.clone(), self.reader.clone());
        Interface { shape: self.shape(), names, reader }
    }

    /// Saves the large part of the reader, if there is one, for the run's comparison.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn save_large_reader(&self, run: &RunFolder) -> Result<()> {
        match (&self.reader, &self.large) {
            (Some(InputReader::Shared { file }), Some(large)) => large.save(run, file),
            _ => Ok(()),
        }
    }

    /// Returns the network's interface and the large part of its reader.
    pub(super) fn into_interface(self) -> (Interface, Option<LargeReader>) {
        let interface = self.interface();
        (interface, self.large.and_then(Arc::into_inner))
    }

    /// Returns the numbers per input.
    pub fn features(&self) -> usize {
        self.train.features()
    }
}

/// Returns the first characters of each split, up to the recipe's limits.
pub(super) fn text_parts<'a>(set: &'a TextSet, spec: &RunSpec) -> [&'a [u32]; 3] {
    let (train, test) = (spec.data.train_limit, spec.data.test_limit);
    let parts = [(&set.train, train), (&set.validation, test), (&set.test, test)];
    parts.map(|(part, limit)| &part[..limit.map_or(part.len(), |limit| limit.min(part.len()))])
}

/// Returns the training, validation, inside test and outside test points, up to the recipe's limits.
pub(super) fn point_parts(set: &PointSet, formula: &TargetFormula, spec: &RunSpec) -> [Points; 4] {
    let [train, valid] = points::of_run(spec.seed, formula.variables());
    let (inside, outside) = (set.inside(formula).clone(), set.outside(formula).clone());
    let [of_train, of_test] =
        [spec.data.train_limit, spec.data.test_limit].map(|limit| limit.unwrap_or(usize::MAX));
    let tested = [valid, inside, outside].map(|points| points.first(of_test));
    let [valid, inside, outside] = tested;
    [train.first(of_train), valid, inside, outside]
}

pub(super) fn formula_of(spec: &RunSpec) -> Result<&TargetFormula> {
    spec.formula.as_ref().ok_or_else(|| {
        Error::Usage("the run has no formula, which is what is learned at points".to_owned())
    })
}

/// Returns evenly spread groups of each split, up to the recipe's limits.
pub(super) fn limited(set: &WindowSet, spec: &RunSpec) -> WindowSet {
    let (train, test) = (spec.data.train_limit, spec.data.test_limit);
    let [train, test] = [train, test].map(|limit| limit.unwrap_or(usize::MAX));
    WindowSet {
        train: set.train.spread(train),
        validation: set.validation.spread(test),
        test: set.test.spread(test),
        classes: set.classes,
        source: set.source.clone(),
        names: set.names.clone(),
        reader: set.reader.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::cifar::Cifar;
    use crate::data::own::table;
    use crate::data::synthetic::pictures;
    use crate::data::{BatchLoader, DataRequest, ImageSet, Order, Windows};
    use crate::recipe::{Normalisation, Pixels};
    use burn::data::dataloader::DataLoader;
    use gelu_core::Activation;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Returns ten training images and four test images whose classes are their indices.
    fn numbered() -> ImageSet {
        let ImageSet { mut train, mut test, .. } = pictures::generate(Cifar::Ten, 10, 4);
        (train.labels, test.labels) = ((0..10).collect(), (0..4).collect());
        ImageSet::new("numbered", None, true, 10, train, test).unwrap()
    }

    fn spec(recipe: &Recipe, data: &DataSet) -> RunSpec {
        let fingerprint = &data.source().fingerprint;
        RunSpec::new(recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", fingerprint)
    }

    fn labels(samples: &Samples) -> Vec<i64> {
        let loader = BatchLoader::new(samples.clone(), 100, Order::Sequential);
        let batch = loader.iter().next().unwrap().unwrap();
        batch.labels.into_data().iter::<i64>().collect()
    }

    #[test]
    fn what_is_set_aside_is_not_trained_on() {
        let data = DataSet::Pictures(numbered());
        let mut recipe = Recipe::named("mnist-classifier").unwrap();
        recipe.data.pixels = Some(Pixels::ZeroToOne);
        (recipe.data.validation, recipe.training.batch_size) = (3, 2);
        (recipe.data.train_limit, recipe.data.test_limit) = (None, None);
        let splits = |recipe: &Recipe| {
            let splits = Splits::new(&data, &spec(recipe, &data), &Device::default()).unwrap();
            [Some(&splits.train), splits.valid.as_ref(), Some(&splits.test)]
                .map(|samples| samples.map_or_else(Vec::new, labels))
        };
        assert_eq!(splits(&recipe), [vec![0, 1, 2, 3, 4, 5, 6], vec![7, 8, 9], vec![0, 1, 2, 3]]);
        // Limits keep the first examples of each split.
        (recipe.data.train_limit, recipe.data.test_limit) = (Some(4), Some(2));
        assert_eq!(splits(&recipe), [vec![0, 1, 2, 3], vec![7, 8], vec![0, 1]]);
        recipe.data.validation = 0;
        assert_eq!(splits(&recipe), [vec![0, 1, 2, 3], vec![], vec![0, 1]]);
    }

    /// The training, validation and test examples, in classes of their own.
    fn classes(splits: &Splits) -> [Vec<i64>; 3] {
        [&splits.train, splits.valid.as_ref().unwrap(), &splits.test].map(labels)
    }

    #[test]
    fn texts_windows_and_tables_are_validated_on_their_own_validation_part() {
        let device = Device::default();
        let recipe = |name: &str| {
            let mut recipe = Recipe::named(name).unwrap();
            (recipe.data.train_limit, recipe.data.test_limit) = (None, None);
            (recipe.training.batch_size, recipe.training.batches) = (1, Some(1));
            recipe
        };
        // A text whose parts have one character each; a last character more than the windows is their last label.
        let mut texts = recipe("char-gpt");
        let context = texts.network.context().unwrap();
        let text: String = ('a'..='z').cycle().take(40 * context).collect();
        let mut set = TextSet::new("letters", None, true, &text).unwrap();
        set.train = vec![0; 4 * context + 1];
        (set.validation, set.test) = (vec![1; 3 * context + 1], vec![2; 2 * context + 1]);
        let data = DataSet::Text(set);
        let of =
            |recipe: &Recipe| classes(&Splits::new(&data, &spec(recipe, &data), &device).unwrap());
        let all = [vec![0; 4 * context], vec![1; 3 * context], vec![2; 2 * context]];
        assert_eq!(of(&texts), all);
        texts.data.train_limit = Some(2 * context + 1);
        texts.data.test_limit = Some(context + 1);
        assert_eq!(of(&texts), [vec![0; 2 * context], vec![1; context], vec![2; context]]);

        let mut words = recipe("tweet-tagger");
        words.training.batches = None;
        let part = |label: u8, groups: u32| {
            let table: Arc<[f32]> = (0..4u8).map(f32::from).collect();
            let mut windows = Windows::new(table, 1, 1).unwrap();
            (0..groups).for_each(|row| windows.push_group(&[row], &[label]));
            windows
        };
        let set = WindowSet {
            train: part(0, 4),
            validation: part(1, 3),
            test: part(2, 2),
            classes: 3,
            source: data.source().clone(),
            names: Vec::new(),
            reader: None,
        };
        let data = DataSet::Windows(set);
        let of =
            |recipe: &Recipe| classes(&Splits::new(&data, &spec(recipe, &data), &device).unwrap());
        assert_eq!(of(&words), [vec![0; 4], vec![1; 3], vec![2; 2]]);
        (words.data.train_limit, words.data.test_limit) = (Some(2), Some(1));
        assert_eq!(of(&words), [vec![0; 2], vec![1; 1], vec![2; 1]]);

        // Classes are trained on in every part, so parts of a table differ by their sizes.
        let parts = ["train"; 6].into_iter().chain(["valid"; 4]).chain(["test"; 2]);
        let row = |(i, part): (usize, &str)| format!("{},{part},{}\n", i * i, ["a", "b"][i % 2]);
        let rows: String = parts.enumerate().map(row).collect();
        let asked = DataRequest { target: Some("c".to_owned()), ..DataRequest::from("csv") };
        let text = format!("x,split,c\n{rows}");
        let set = table::parse(&asked, Path::new("t.csv"), text.as_bytes()).unwrap();
        let mut recipe = recipe("digits");
        let of = |recipe: &Recipe| {
            let spec = spec(recipe, &DataSet::Tables(set.clone()));
            classes(&Splits::of_table(&set.tables[0], &spec, &device)).map(|part| part.len())
        };
        assert_eq!(of(&recipe), [6, 4, 2]);
        (recipe.data.train_limit, recipe.data.test_limit) = (Some(5), Some(1));
        assert_eq!(of(&recipe), [5, 1, 1]);
    }

    #[test]
    fn no_point_is_in_two_parts() {
        let (set, recipe) = (PointSet::generate(), Recipe::named("symbolic").unwrap());
        let formula: TargetFormula = "wave=sin(3*x)*y".parse().unwrap();
        let data = DataSet::Points(set.clone());
        let parts = |train, test| {
            let mut spec = spec(&recipe, &data);
            (spec.data.train_limit, spec.data.test_limit) = (train, test);
            point_parts(&set, &formula, &spec)
        };
        let sizes = |parts: &[Points; 4]| parts.each_ref().map(Points::len);
        let all = parts(None, None);
        assert_eq!(sizes(&all), [points::TRAIN, points::VALIDATION, points::TEST, points::TEST]);
        let point = |point: &[f32]| [point[0].to_bits(), point[1].to_bits()];
        let different: BTreeSet<_> =
            all.iter().flat_map(|part| part.coordinates().chunks(2)).map(point).collect();
        assert_eq!(different.len(), sizes(&all).iter().sum::<usize>());
        assert_eq!(sizes(&parts(Some(7), Some(5))), [7, 5, 5, 5]);
    }

    /// Limits are for trying things out, and must not change what an image looks like.
    #[test]
    fn images_are_normalised_by_all_that_could_be_trained_on() {
        let data = DataSet::Pictures(numbered());
        let mut recipe = Recipe::named("mnist-classifier").unwrap();
        recipe.data.pixels = Some(Pixels::ZeroToOne);
        recipe.data.normalisation = Some(Normalisation::MeanPicture);
        (recipe.data.validation, recipe.training.batch_size) = (3, 2);
        let first = |limit| {
            recipe.data.train_limit = limit;
            let splits = Splits::new(&data, &spec(&recipe, &data), &Device::default()).unwrap();
            let loader = BatchLoader::new(splits.train, 2, Order::Sequential);
            let batch = loader.iter().next().unwrap().unwrap();
            batch.inputs.numbers().into_data()
        };
        let [few, all] = [Some(4), None].map(first);
        assert_eq!(few, all);
    }

    #[test]
    fn a_text_is_reported_on_in_whole_windows() {
        let mut recipe = Recipe::named("char-gpt").unwrap();
        let context = recipe.network.context().unwrap();
        recipe.data.test_limit = None;
        let text: String = ('a'..='z').cycle().take(40 * context).collect();
        let mut set = TextSet::new("letters", None, true, &text).unwrap();
        // The first character is not a label, and the last label of a window is the character after it.
        for (characters, labels) in [
            (context + 1, context),
            (2 * context, context),
            (2 * context + 1, 2 * context),
            (2 * context + 2, 2 * context),
        ] {
            set.test.resize(characters, 0);
            let data = DataSet::Text(set.clone());
            assert_eq!(Splits::test_examples(&data, &recipe), labels, "{characters} characters");
            let splits = Splits::new(&data, &spec(&recipe, &data), &Device::default()).unwrap();
            assert_eq!(splits.test.units() * context, labels, "{characters} characters");
        }
    }
}
