use super::augmentation::Crops;
use super::inputs::Augmentation;
use super::samples::{Chosen, Samples};
use super::{Examples, Order};
use burn::data::dataloader::{DataLoader, DataLoaderIterator, Progress};
use burn::data::dataset::DatasetError;
use burn::tensor::{Device, Tensor};
use std::ops::Range;
use std::sync::Arc;

/// Yields batches of a data set that is already on the device. A batch is a slice or a gather, without work on the
/// host for each example. The last batch holds the rest.
#[derive(Clone, Debug)]
pub struct BatchLoader {
    samples: Samples,
    /// The units of the batches: examples (followed by their mirror images) or groups.
    range: Range<usize>,
    batch_size: usize,
    order: Order,
    augmentation: Option<(Augmentation, [usize; 3])>,
    /// The positions where a window of a text may begin, if windows are sampled.
    places: Option<Range<i32>>,
    /// The number of times that an epoch shows each example.
    repeats: usize,
    device: Device,
}

impl BatchLoader {
    /// Creates a loader over all of `samples`, with batches of `batch_size` examples (or groups).
    ///
    /// # Panics
    ///
    /// If `batch_size` is 0, or there are more examples than an `i32` can count.
    pub fn new(samples: impl Into<Samples>, batch_size: usize, order: Order) -> Self {
        let samples = samples.into();
        assert!(batch_size > 0, "a batch holds at least one example");
        assert!(i32::try_from(samples.len()).is_ok(), "{} examples are too many", samples.len());
        let device = samples.device();
        let range = 0..samples.units();
        Self {
            samples,
            range,
            batch_size,
            order,
            augmentation: None,
            places: None,
            repeats: 1,
            device,
        }
    }

    /// Augments images in every shuffled pass; `picture` is their channels, height and width.
    pub fn with_augmentation(mut self, augmentation: Augmentation, picture: [usize; 3]) -> Self {
        let pictures = self.samples.len();
        self.range = 0..if augmentation.mirrored { 2 * pictures } else { pictures };
        self.augmentation = Some((augmentation, picture));
        self
    }

    /// Samples `batches` batches of windows at random positions of a text in every shuffled pass.
    ///
    /// # Panics
    ///
    /// If the samples are not a text.
    pub fn with_drawn_batches(mut self, batches: usize) -> Self {
        self.places = Some(self.samples.places().expect("only a text has windows to be drawn"));
        self.range = 0..batches * self.batch_size;
        self
    }

    /// Repeats the examples in every shuffled pass until there are at least `batches` batches, each time in a new
    /// order. The first such pass is that of epoch `done + 1`.
    pub fn with_least_batches(mut self, batches: usize, seed: u64, done: usize) -> Self {
        // One example more than `batches - 1` batches hold.
        let fewer = batches.saturating_sub(1) * self.batch_size;
        self.repeats = fewer / self.range.len().max(1) + 1;
        self.order = Order::shuffled(seed, done * self.repeats + 1);
        self
    }

    /// Returns the number of batches in a pass.
    pub fn batches(&self) -> usize {
        self.units().div_ceil(self.batch_size)
    }

    /// Returns the number of units in a pass.
    fn units(&self) -> usize {
        match self.order {
            Order::Sequential => self.range.len(),
            Order::Shuffled { .. } => self.range.len() * self.repeats,
        }
    }

    /// Returns the shuffled order of the next pass, and its crops; `None` for a sequential order.
    fn next_pass(&self) -> Option<(Vec<i32>, Option<Crops>)> {
        let (epoch, units) = match &self.places {
            Some(places) => {
                return Some((self.order.next_drawn(self.range.len(), places)?.1, None));
            }
            None => {
                let (epoch, mut units) = self.order.next_pass(self.range.clone())?;
                for _ in 1..self.repeats {
                    units.extend(self.order.next_pass(self.range.clone())?.1);
                }
                (epoch, units)
            }
        };
        let Order::Shuffled { seed, .. } = &self.order else { return None };
        let crops = self.augmentation.map(|(augmentation, picture)| {
            let crops = Crops::of_epoch(augmentation, picture, units.len(), *seed, epoch);
            match augmentation.flips {
                true => crops.with_flips(self.samples.len(), *seed, epoch),
                false => crops,
            }
        });
        Some((units, crops))
    }
}

impl DataLoader<Examples> for BatchLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Examples> + 'a> {
        let (units, crops) = self.next_pass().map_or((None, None), |(u, c)| (Some(u), c));
        Box::new(Batches { loader: self, units, crops, done: 0 })
    }

    fn num_items(&self) -> usize {
        self.units() * self.samples.examples_a_window()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Examples>> {
        let samples = self.samples.to_device(device);
        Arc::new(Self { samples, device: device.clone(), ..self.clone() })
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<Examples>> {
        let offset = self.range.start;
        let end = (offset + end).min(self.range.end);
        let range = (offset + start).min(end)..end;
        Arc::new(Self { range, ..self.clone() })
    }
}

struct Batches<'a> {
    loader: &'a BatchLoader,
    units: Option<Vec<i32>>,
    crops: Option<Crops>,
    done: usize,
}

impl Batches<'_> {
    fn gather(&self, units: Range<usize>) -> Examples {
        let BatchLoader { samples, range, .. } = self.loader;
        let Some(order) = &self.units else {
            let chosen = Chosen::Range(range.start + units.start..range.start + units.end);
            return samples.take(&samples.resolve(&chosen));
        };
        let chosen = order[units.clone()].to_vec();
        if self.loader.places.is_some() {
            return samples.take(&Chosen::Places(chosen));
        }
        let Some(crops) = &self.crops else {
            return samples.take(&samples.resolve(&Chosen::Indices(chosen)));
        };
        let pictures = samples.len() as i32;
        let is_mirrored = |&unit: &i32| unit >= pictures || crops.is_flipped(unit as usize);
        let mirrored: Vec<bool> = chosen.iter().map(is_mirrored).collect();
        let chosen = chosen.into_iter().map(|unit| unit % pictures).collect();
        crops.apply(samples.take(&Chosen::Indices(chosen)), units.start, &mirrored)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Examples, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let BatchLoader { batch_size, device, .. } = self.loader;
        let end = (self.done + batch_size).min(self.loader.units());
        if self.done == end {
            return None;
        }
        let batch = self.gather(self.done..end);
        self.done = end;
        Some(Ok(match device.is_autodiff() {
            // Layers that only act in training check the device of their input.
            true => Examples {
                inputs: batch.inputs.autodiff(),
                labels: batch.labels.autodiff(),
                targets: batch.targets.map(|targets| targets.map(Tensor::autodiff)),
            },
            false => batch,
        }))
    }
}

impl DataLoaderIterator<Examples> for Batches<'_> {
    fn progress(&self) -> Progress {
        let done = self.done * self.loader.samples.examples_a_window();
        Progress::new(done, self.loader.num_items(), Some("examples".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;
    use std::collections::BTreeSet;

    fn examples(count: usize) -> Examples {
        let device = Device::default();
        let values: Vec<f32> = (0..count * 2).map(|v| v as f32).collect();
        let labels: Vec<i32> = (0..count as i32).collect();
        Examples {
            inputs: Tensor::from_data(TensorData::new(values, [count, 2]), &device).into(),
            labels: Tensor::from_data(TensorData::new(labels, [count]), &device),
            targets: None,
        }
    }

    fn pass(loader: &dyn DataLoader<Examples>) -> Vec<Vec<i64>> {
        let labels = |batch: Examples| batch.labels.into_data().iter::<i64>().collect();
        loader.iter().map(|batch| labels(batch.unwrap())).collect()
    }

    #[test]
    fn every_example_comes_once_and_the_last_batch_holds_the_rest() {
        let loader = BatchLoader::new(examples(10), 4, Order::shuffled(1, 1));
        let batches = pass(&loader);
        let sizes: Vec<usize> = batches.iter().map(Vec::len).collect();
        assert_eq!(sizes, [4, 4, 2]);
        let seen: BTreeSet<i64> = batches.into_iter().flatten().collect();
        assert_eq!(seen, (0..10).collect());
    }

    #[test]
    fn inputs_stay_with_their_labels() {
        let loader = BatchLoader::new(examples(9), 2, Order::shuffled(3, 1));
        for batch in loader.iter() {
            let batch = batch.unwrap();
            let inputs: Vec<f32> = batch.inputs.numbers().into_data().iter::<f32>().collect();
            let labels: Vec<f32> = batch.labels.into_data().iter::<f32>().collect();
            for (row, label) in inputs.chunks(2).zip(labels) {
                assert_eq!(row, [label * 2.0, label * 2.0 + 1.0]);
            }
        }
    }

    #[test]
    fn order_is_a_function_of_seed_and_epoch_alone() {
        let from = |seed, epoch| BatchLoader::new(examples(50), 7, Order::shuffled(seed, epoch));
        let uninterrupted = from(5, 1);
        let passes: Vec<_> = (0..3).map(|_| pass(&uninterrupted)).collect();
        assert_eq!(pass(&from(5, 3)), passes[2], "resumed at epoch 3");
        assert_ne!(passes[0], passes[1], "epochs differ");
        assert_ne!(pass(&from(6, 1)), passes[0], "seeds differ");
    }

    /// Ten examples in batches of four: eight passes give 20 batches, seven only 18.
    #[test]
    fn few_examples_are_shown_again_until_there_are_enough_batches() {
        let from = |done| {
            let loader = BatchLoader::new(examples(10), 4, Order::shuffled(5, 1));
            loader.with_least_batches(19, 5, done)
        };
        let loader = from(0);
        assert_eq!((loader.batches(), loader.num_items()), (20, 80));
        let passes: Vec<_> = (0..2).map(|_| pass(&loader)).collect();
        assert!(passes[0].iter().all(|batch| batch.len() == 4));
        let shown: Vec<i64> = passes[0].concat();
        for pass in shown.chunks(10) {
            assert_eq!(pass.iter().copied().collect::<BTreeSet<_>>(), (0..10).collect());
        }
        assert_ne!(shown[..10], shown[10..20]);
        assert_eq!(pass(&from(1)), passes[1], "resumed at the second epoch");
        let plain = BatchLoader::new(examples(10), 4, Order::shuffled(5, 1));
        assert_eq!(pass(&plain.clone().with_least_batches(3, 5, 0)), pass(&plain));
    }

    #[test]
    fn moved_loader_goes_on_counting_epochs() {
        let loader = BatchLoader::new(examples(30), 30, Order::shuffled(2, 1));
        let moved = loader.to_device(&Device::default().autodiff());
        let first = pass(moved.as_ref());
        assert_ne!(pass(moved.as_ref()), first);
    }

    #[test]
    fn sequential_order_and_slices_keep_positions() {
        let loader = BatchLoader::new(examples(10), 3, Order::Sequential);
        assert_eq!(pass(&loader)[0], [0, 1, 2]);
        let part = loader.slice(4, 9);
        assert_eq!(part.num_items(), 5);
        assert_eq!(pass(part.as_ref()), [vec![4, 5, 6], vec![7, 8]]);
    }

    #[test]
    fn batches_for_training_are_on_the_autodiff_device() {
        let loader = BatchLoader::new(examples(2), 2, Order::Sequential);
        let training = loader.to_device(&Device::default().autodiff());
        assert!(training.iter().next().unwrap().unwrap().inputs.numbers().is_autodiff());
        assert!(!loader.iter().next().unwrap().unwrap().inputs.numbers().is_autodiff());
    }

    #[test]
    fn mirror_images_come_beside_every_picture() {
        let augmentation = Augmentation { mirrored: true, flips: false, crop_padding: 0 };
        let loader = BatchLoader::new(examples(5), 4, Order::shuffled(1, 1))
            .with_augmentation(augmentation, [1, 1, 2]);
        assert_eq!((loader.num_items(), loader.batches()), (10, 3));
        let mut seen: Vec<Vec<i64>> = Vec::new();
        for batch in loader.iter() {
            let batch = batch.unwrap();
            let inputs: Vec<i64> = batch.inputs.numbers().int().into_data().iter::<i64>().collect();
            seen.extend(inputs.chunks(2).map(<[i64]>::to_vec));
        }
        seen.sort();
        let both = (0..5).flat_map(|i| [vec![2 * i, 2 * i + 1], vec![2 * i + 1, 2 * i]]);
        assert_eq!(seen, both.collect::<Vec<_>>());
    }

    /// An epoch cut into batches equals the same epoch in one batch, because the crops belong to positions in the
    /// epoch.
    #[test]
    fn every_batch_has_crops_of_its_own() {
        let augmentation = Augmentation { mirrored: false, flips: false, crop_padding: 1 };
        let inputs = |batch_size| {
            let loader = BatchLoader::new(examples(24), batch_size, Order::shuffled(1, 1))
                .with_augmentation(augmentation, [1, 1, 2]);
            let numbers = |batch: Result<Examples, _>| batch.unwrap().inputs.numbers().into_data();
            loader
                .iter()
                .flat_map(|batch| numbers(batch).iter::<f32>().collect::<Vec<_>>())
                .collect()
        };
        let [whole, cut]: [Vec<f32>; 2] = [24, 5].map(inputs);
        assert_eq!(whole, cut);
        // A 1×2 image with a border has nine crop positions; some crops are all border.
        assert!(whole.chunks(2).any(|row| row == [0.0, 0.0]), "{whole:?}");
    }

    #[test]
    fn pictures_and_their_mirror_images_take_turns() {
        let augmentation = Augmentation { mirrored: false, flips: true, crop_padding: 0 };
        let from = |seed, epoch| {
            BatchLoader::new(examples(60), 7, Order::shuffled(seed, epoch))
                .with_augmentation(augmentation, [1, 1, 2])
        };
        // Returns for each image whether it is mirrored. The first number of an image is even.
        let mirrored = |loader: &BatchLoader| {
            let mut seen = [None; 60];
            for batch in loader.iter() {
                let inputs = batch.unwrap().inputs.numbers().int().into_data();
                for pixels in inputs.iter::<i64>().collect::<Vec<_>>().chunks(2) {
                    let picture = &mut seen[pixels[0] as usize / 2];
                    assert_eq!(picture.replace(pixels[0] > pixels[1]), None, "once an epoch");
                }
            }
            seen.map(Option::unwrap)
        };
        let loader = from(1, 1);
        assert_eq!(loader.num_items(), 60);
        let [first, second, third] = [(); 3].map(|()| mirrored(&loader));
        assert!(first.iter().zip(&second).all(|(a, b)| a != b), "in every other epoch");
        assert_eq!(first, third);
        assert_eq!(mirrored(&from(1, 2)), second, "resumed at epoch 2");
        assert_ne!(mirrored(&from(2, 1)), first, "seeds differ");
        let count = first.iter().filter(|mirrored| **mirrored).count();
        assert!((15..=45).contains(&count), "{count} of 60 begin mirrored");
    }

    #[test]
    fn windows_of_a_text_are_drawn_by_seed_and_epoch() {
        let text: Vec<u32> = (0..500).collect();
        let from = |seed, epoch| {
            let samples = Samples::of_text(&text, 4, &Device::default());
            BatchLoader::new(samples, 3, Order::shuffled(seed, epoch)).with_drawn_batches(5)
        };
        let loader = from(1, 1);
        assert_eq!((loader.batches(), loader.num_items()), (5, 5 * 3 * 4));
        let passes: Vec<_> = (0..2).map(|_| pass(&loader)).collect();
        assert!(passes[0].iter().all(|labels| labels.len() == 3 * 4));
        assert_eq!(pass(&from(1, 2)), passes[1], "resumed at epoch 2");
        assert_ne!(passes[0], passes[1], "epochs differ");
        assert_ne!(pass(&from(2, 1)), passes[0], "seeds differ");
        let starts: BTreeSet<i64> = passes.concat().iter().map(|labels| labels[0]).collect();
        assert!(starts.iter().any(|start| start % 4 != 1), "anywhere, not window by window");
    }
}
