//! The whitening of training images, fitted once and kept.

use crate::data::Images;
use crate::data::prepared::Key;
use crate::recipe::Pixels;
use crate::{Error, Result};
use burn::tensor::{Device, Tensor, TensorData};
use gelu_models::{Zca, ZcaConfig};
use serde::{Deserialize, Serialize};

/// A fitted whitening in its saved form. It is saved because the decomposition of 3072 × 3072 covariances takes a
/// minute.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Whitening {
    /// `[size]`
    mean: Vec<f32>,
    /// `[size, size]`
    matrix: Vec<f32>,
}

impl Whitening {
    /// Version of the whitening; increase it when its numbers change.
    const VERSION: u32 = 2;

    /// Returns the key with everything that the numbers depend on.
    pub(super) fn key(pixels: Pixels, regulariser: f64, train: &Images) -> Key {
        let scaled = [0, 128, 255].map(|byte| pixels.scale(byte).to_le_bytes());
        Key::new("zca", Self::VERSION)
            .with(&train.pixels)
            .with(&(train.len() as u64).to_le_bytes())
            .with(&scaled.concat())
            .with(&regulariser.to_le_bytes())
    }

    pub(super) fn fit(
        pixels: Pixels,
        regulariser: f64,
        train: &Images,
        device: &Device,
    ) -> Result<Self> {
        let inputs = train.to_examples(pixels, device).inputs.numbers();
        let zca = ZcaConfig::new().with_regulariser(regulariser).fit(&inputs);
        let refuse =
            |error| Error::Usage(format!("the training images cannot be whitened: {error}"));
        let zca = zca.map_err(refuse)?;
        Ok(Self::of(&zca))
    }

    pub(super) fn of(zca: &Zca) -> Self {
        let values = |tensor: Tensor<2>| tensor.into_data().iter::<f32>().collect();
        Self { mean: values(zca.mean()), matrix: values(zca.matrix()) }
    }

    pub(super) fn into_zca(self, device: &Device) -> Zca {
        let size = self.mean.len();
        let tensor = |values, shape| Tensor::from_data(TensorData::new(values, shape), device);
        Zca::from_parts(tensor(self.mean, [1, size]), tensor(self.matrix, [size, size]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::cifar::Cifar;
    use crate::data::synthetic::pictures;

    #[test]
    fn a_whitening_is_kept_for_what_it_depends_on() {
        let images = pictures::generate(Cifar::Ten, 4, 1).train;
        let name = |pixels, regulariser, images: &Images| {
            Whitening::key(pixels, regulariser, images).file_name()
        };
        let first = name(Pixels::Centred, 1e-5, &images);
        assert_eq!(first, name(Pixels::Centred, 1e-5, &images.clone()));
        let mut other = images.clone();
        other.pixels[5] ^= 1;
        // The same bytes as fewer, larger images.
        let joined = Images { height: 64, labels: vec![0, 1], ..images.clone() };
        for others in [
            name(Pixels::ZeroToOne, 1e-5, &images),
            name(Pixels::Centred, 1e-4, &images),
            name(Pixels::Centred, 1e-5, &other),
            name(Pixels::Centred, 1e-5, &joined),
        ] {
            assert_ne!(first, others);
        }
    }
}
