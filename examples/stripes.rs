//! Generated images for training: the class is one of four directions of stripes. Burn's own data loader reads them.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f32::consts::PI;
use std::sync::Arc;

/// Width and height of an image.
pub(crate) const SIDE: usize = 16;
/// Number of directions of stripes.
pub(crate) const CLASSES: usize = 4;

/// An image and the direction of its stripes, a multiple of 45°.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pixels: Vec<f32>,
    class: i64,
}

/// A batch of images, `[batch, 1, SIDE, SIDE]`, and their classes, `[batch]`.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// The images.
    pub(crate) pictures: Tensor<4>,
    /// The classes of the images.
    pub(crate) classes: Tensor<1, Int>,
}

/// Draws stripes of random width and phase, with noise of the same strength.
fn draw(rng: &mut ChaCha8Rng) -> Picture {
    let class = rng.random_range(0..CLASSES);
    let (angle, phase) = (class as f32 * PI / CLASSES as f32, rng.random_range(0.0..2.0 * PI));
    let frequency = rng.random_range(0.8..1.6f32);
    let pixels = (0..SIDE * SIDE).map(|index| {
        let (x, y) = ((index % SIDE) as f32, (index / SIDE) as f32);
        let wave = (frequency * (x * angle.cos() + y * angle.sin()) + phase).sin();
        wave + rng.random_range(-1.5..1.5)
    });
    Picture { pixels: pixels.collect(), class: class as i64 }
}

/// Converts images into tensors.
#[derive(Clone, Debug)]
struct PictureBatcher;

impl Batcher<Picture, Batch> for PictureBatcher {
    fn batch(&self, pictures: Vec<Picture>, device: &Device) -> Batch {
        let count = pictures.len();
        let classes: Vec<i64> = pictures.iter().map(|picture| picture.class).collect();
        let pixels = pictures.into_iter().flat_map(|picture| picture.pixels).collect::<Vec<_>>();
        Batch {
            pictures: Tensor::from_data(TensorData::new(pixels, [count, 1, SIDE, SIDE]), device),
            classes: Tensor::from_data(TensorData::new(classes, [count]), device),
        }
    }
}

/// Returns a loader of `count` images sampled from `seed`, in batches of 64 on `device`, shuffled every epoch.
pub(crate) fn loader(count: usize, seed: u64, device: &Device) -> Arc<dyn DataLoader<Batch>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let pictures = (0..count).map(|_| draw(&mut rng)).collect();
    DataLoaderBuilder::new(PictureBatcher)
        .batch_size(64)
        .shuffle(seed)
        .set_device(device.clone())
        .build(InMemDataset::new(pictures))
}
