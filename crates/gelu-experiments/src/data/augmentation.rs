//! Random crops and mirror images, made on the device.

use super::Examples;
use super::inputs::Augmentation;
use crate::randomness;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::RngExt;

/// The random crops of one epoch's images.
///
/// An image gets a border of `p` zeros, and a window of the image's own size is cut out at one of (2p + 1)²
/// positions; for a mirror image the columns are reversed. Each batch takes a single gather.
#[derive(Clone, Debug)]
pub(super) struct Crops {
    padding: usize,
    picture: [usize; 3],
    /// The rows and columns by which the window is moved, for every image of the epoch in order.
    places: Vec<[usize; 2]>,
    /// Whether each image of the set is mirrored in this epoch; empty if mirror images do not alternate.
    flipped: Vec<bool>,
}

impl Crops {
    /// Creates the crops of an epoch of `count` images. `picture` is their channels, height and width. The crops
    /// depend only on seed and epoch.
    pub(super) fn of_epoch(
        augmentation: Augmentation,
        picture: [usize; 3],
        count: usize,
        seed: u64,
        epoch: usize,
    ) -> Self {
        let mut rng = randomness::generator(seed, randomness::augmentation(epoch));
        let padding = augmentation.crop_padding;
        let mut place = || rng.random_range(0..=2 * padding);
        let places = (0..count).map(|_| [place(), place()]).collect();
        Self { padding, picture, places, flipped: Vec::new() }
    }

    /// Mirrors each of the set's `pictures` images in every second epoch.
    pub(super) fn with_flips(self, pictures: usize, seed: u64, epoch: usize) -> Self {
        // Stream 0 belongs to no epoch, because epochs count from 1.
        let mut rng = randomness::generator(seed, randomness::augmentation(0));
        let flipped = (0..pictures).map(|_| rng.random::<bool>() ^ epoch.is_multiple_of(2));
        Self { flipped: flipped.collect(), ..self }
    }

    /// Returns whether an image of the set is mirrored in this epoch.
    pub(super) fn is_flipped(&self, picture: usize) -> bool {
        self.flipped.get(picture).copied().unwrap_or(false)
    }

    /// Crops a batch whose images are the epoch's, from number `first`; `mirrored` says which of them are mirror
    /// images.
    pub(super) fn apply(&self, batch: Examples, first: usize, mirrored: &[bool]) -> Examples {
        let ([channels, height, width], count) = (self.picture, batch.len());
        let pictures = batch.inputs.numbers();
        let device = pictures.device().inner();
        let pad = self.padding;
        let row_length = width + 2 * pad;
        let places = &self.places[first..first + count];
        let offsets = places.iter().map(|[down, right]| (down * row_length + right) as i32);
        let offsets = ints(offsets.collect(), [count, 1], &device);
        let flips = ints(mirrored.iter().map(|&m| i32::from(m)).collect(), [count, 1], &device);
        let pixels = || (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
        let straight = pixels().map(|(row, column)| (row * row_length + column) as i32);
        let straight = ints(straight.collect(), [1, height * width], &device);
        // The distance from a column to its mirror image.
        let across = pixels().map(|(_, column)| width as i32 - 1 - 2 * column as i32);
        let across = ints(across.collect(), [1, height * width], &device);
        let wanted = offsets + straight + flips * across;
        let wanted: Tensor<3, Int> = wanted.unsqueeze_dim::<3>(1).repeat_dim(1, channels);

        let pictures = pictures.reshape([count, channels, height, width]);
        let padded = pictures.pad((pad, pad, pad, pad), 0.0);
        let padded = padded.reshape([count, channels, row_length * (height + 2 * pad)]);
        let inputs = padded.gather(2, wanted).reshape([count, channels * height * width]);
        Examples { inputs: inputs.into(), ..batch }
    }
}

fn ints(values: Vec<i32>, shape: [usize; 2], device: &Device) -> Tensor<2, Int> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: [usize; 3] = [2, 3, 4];

    fn batch(count: usize) -> (Vec<f32>, Examples) {
        let device = Device::default();
        let values: Vec<f32> = (1..=count * 24).map(|v| v as f32).collect();
        let inputs = TensorData::new(values.clone(), [count, 24]);
        let inputs = Tensor::<2>::from_data(inputs, &device).into();
        let labels = Tensor::<1, Int>::zeros([count], &device);
        (values, Examples { inputs, labels, targets: None })
    }

    /// Returns the crop of one image, directly from the definition.
    fn expected(picture: &[f32], [down, right]: [usize; 2], mirrored: bool) -> Vec<f32> {
        let [channels, height, width] = PICTURE;
        let mut crop = Vec::new();
        for channel in 0..channels {
            for row in 0..height {
                for column in 0..width {
                    let column = if mirrored { width - 1 - column } else { column };
                    let (y, x) = ((row + down).checked_sub(1), (column + right).checked_sub(1));
                    crop.push(match (y, x) {
                        (Some(y), Some(x)) if y < height && x < width => {
                            picture[(channel * height + y) * width + x]
                        }
                        _ => 0.0,
                    });
                }
            }
        }
        crop
    }

    #[test]
    fn crops_and_mirrors_are_those_of_the_definition() {
        let augmentation = Augmentation { mirrored: true, flips: false, crop_padding: 1 };
        let crops = Crops::of_epoch(augmentation, PICTURE, 60, 7, 3);
        let (values, examples) = batch(20);
        let mirrored: Vec<bool> = (0..20).map(|i| i % 3 == 0).collect();
        let found = crops.apply(examples, 40, &mirrored).inputs.numbers().into_data();
        let found: Vec<f32> = found.iter::<f32>().collect();
        for index in 0..20 {
            let picture = &values[index * 24..(index + 1) * 24];
            let expected = expected(picture, crops.places[40 + index], mirrored[index]);
            assert_eq!(found[index * 24..(index + 1) * 24], expected, "image {index}");
        }
        let mut places = crops.places.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 9, "every place is drawn");
    }

    #[test]
    fn crops_are_a_function_of_seed_and_epoch_alone() {
        let augmentation = Augmentation { mirrored: false, flips: false, crop_padding: 4 };
        let of = |seed, epoch| Crops::of_epoch(augmentation, PICTURE, 50, seed, epoch).places;
        assert_eq!(of(1, 2), of(1, 2));
        assert_ne!(of(1, 2), of(1, 3));
        assert_ne!(of(1, 2), of(2, 2));
    }
}
