use super::input_reader::InputReader;
use super::large_reader::LargeReader;
use super::whitening::Whitening;
use crate::Result;
use crate::data::prepared::prepared;
use crate::data::{Images, Samples};
use crate::recipe::{Normalisation, Pixels};
use burn::tensor::{Device, Tensor, TensorData};
use gelu_models::Zca;

/// The conversion of images into inputs: scaling, then a normalisation fitted to the training images.
#[derive(Debug)]
pub(super) struct Presentation {
    pixels: Pixels,
    fitted: Fitted,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for a whole data set")]
enum Fitted {
    Nothing,
    /// `[1, features]`, scaled.
    Mean(Tensor<2>),
    Whitening {
        zca: Box<Zca>,
        /// The name of the file that stores the whitening.
        file: String,
    },
}

/// Number of images to whiten at a time.
const CHUNK: usize = 5000;

impl Presentation {
    /// Fits the normalisation to the training images.
    ///
    /// # Errors
    ///
    /// If the images cannot be whitened.
    pub(super) fn fit(
        pixels: Pixels,
        normalisation: Option<Normalisation>,
        train: &Images,
        device: &Device,
    ) -> Result<Self> {
        let fitted = match normalisation {
            None => Fitted::Nothing,
            Some(Normalisation::MeanPicture) => Fitted::Mean(mean_picture(pixels, train, device)),
            Some(Normalisation::Zca { regulariser }) => {
                let key = Whitening::key(pixels, regulariser, train);
                let whitening =
                    prepared(&key, || Whitening::fit(pixels, regulariser, train, device))?;
                Fitted::Whitening {
                    zca: Box::new(whitening.into_zca(device)),
                    file: key.file_name(),
                }
            }
        };
        Ok(Self { pixels, fitted })
    }

    /// Creates a presentation that subtracts a mean, `[1, features]`, from scaled images.
    pub(super) fn with_mean(pixels: Pixels, mean: Option<Tensor<2>>) -> Self {
        Self { pixels, fitted: mean.map_or(Fitted::Nothing, Fitted::Mean) }
    }

    /// Creates a presentation that whitens scaled images.
    pub(super) fn whitened(pixels: Pixels, whitening: Whitening, device: &Device) -> Self {
        let zca = Box::new(whitening.into_zca(device));
        Self { pixels, fitted: Fitted::Whitening { zca, file: String::new() } }
    }

    /// Returns the reader of an image file for this presentation, and its large part, if it has one.
    pub(super) fn reader(&self, size: Option<usize>) -> (InputReader, Option<LargeReader>) {
        let pixels = self.pixels;
        let mean = match &self.fitted {
            Fitted::Nothing => None,
            Fitted::Mean(mean) => Some(mean.to_data().iter::<f32>().collect()),
            Fitted::Whitening { zca, file } => {
                let reader = InputReader::Shared { file: file.clone() };
                let whitening = Whitening::of(zca);
                return (reader, Some(LargeReader::Picture { size, pixels, whitening }));
            }
        };
        (InputReader::Picture { size, pixels, mean }, None)
    }

    /// Returns images as inputs on the device.
    pub(super) fn present(&self, images: &Images, device: &Device) -> Samples {
        let samples = Samples::of_images(images, self.pixels, device);
        match &self.fitted {
            Fitted::Nothing => samples,
            Fitted::Mean(mean) => samples.map_inputs(|inputs| inputs - mean.clone()),
            Fitted::Whitening { zca, .. } => samples.map_inputs(|inputs| {
                let chunks = inputs.split(CHUNK, 0).into_iter();
                Tensor::cat(chunks.map(|chunk| zca.forward(chunk)).collect(), 0)
            }),
        }
    }
}

/// Number of pixels whose bytes are counted at a time, with 8 MiB of counts.
const COUNTED: usize = 4096;

/// Returns the mean of every pixel, summed exactly.
fn mean_picture(pixels: Pixels, train: &Images, device: &Device) -> Tensor<2> {
    let features = train.features();
    let mean = |counts: &[u64]| {
        let weighted = (0..=255u8).zip(counts);
        let sum: f64 = weighted.map(|(byte, &n)| f64::from(pixels.scale(byte)) * n as f64).sum();
        (sum / train.len() as f64) as f32
    };
    let mut means: Vec<f32> = Vec::with_capacity(features);
    for start in (0..features).step_by(COUNTED) {
        let block = start..features.min(start + COUNTED);
        let mut counts = vec![0u64; block.len() * 256];
        for picture in train.pixels.chunks_exact(features) {
            for (place, &byte) in picture[block.clone()].iter().enumerate() {
                counts[place * 256 + usize::from(byte)] += 1;
            }
        }
        means.extend(counts.chunks_exact(256).map(mean));
    }
    Tensor::from_data(TensorData::new(means, [1, features]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::cifar::Cifar;
    use crate::data::synthetic::pictures;

    fn moments(samples: Samples) -> (f32, f32) {
        let mut inputs = None;
        samples.map_inputs(|x| {
            inputs = Some(x.clone());
            x
        });
        let inputs = inputs.unwrap();
        let mean = inputs.clone().mean_dim(0).abs().max().into_scalar::<f32>();
        (mean, inputs.powi_scalar(2).mean().into_scalar::<f32>())
    }

    #[test]
    fn mean_picture_leaves_training_pixels_with_mean_zero() {
        let device = Device::default();
        let images = pictures::generate(Cifar::Ten, 40, 10);
        let fit = |n| Presentation::fit(Pixels::ZeroToOne, n, &images.train, &device).unwrap();
        let (raw, _) = moments(fit(None).present(&images.train, &device));
        let centred = fit(Some(Normalisation::MeanPicture));
        let (mean, _) = moments(centred.present(&images.train, &device));
        assert!(raw > 0.3 && mean < 1e-6, "{raw} {mean}");
        let (test, _) = moments(centred.present(&images.test, &device));
        assert!(test > 1e-3, "the test images have a mean of their own: {test}");
    }

    /// More pixels than are counted at a time: pixel i of the two images is i and i + 2, modulo 200.
    #[test]
    fn mean_picture_of_large_pictures_is_that_of_each_pixel() {
        let device = Device::default();
        let (height, width) = (COUNTED / 64 + 1, 65);
        let pixel = |add: usize| (0..height * width).map(move |i| ((i + add) % 200) as u8);
        let pixels = pixel(0).chain(pixel(2)).collect();
        let images = Images { pixels, channels: 1, height, width, labels: vec![0, 1] };
        let means = mean_picture(Pixels::ZeroToOne, &images, &device).into_data();
        let means = means.try_to_vec::<f32>().unwrap();
        assert_eq!(means.len(), height * width);
        for (i, mean) in means.into_iter().enumerate() {
            let expected = (i % 200 + (i + 2) % 200) as f32 / 510.0;
            assert!((mean - expected).abs() < 1e-6, "pixel {i}: {mean} for {expected}");
        }
    }

    #[test]
    fn whitened_training_pictures_have_unit_variance_where_they_vary() {
        let device = Device::default();
        let mut images = pictures::generate(Cifar::Ten, 60, 2).train;
        // A corner of 4×4 grey pixels, so that there are more images than pixels.
        let corner = |picture: &[u8]| -> Vec<u8> {
            (0..4).flat_map(|row| picture[row * 32..row * 32 + 4].to_vec()).collect()
        };
        let bytes = images.features();
        images.pixels = images.pixels.chunks(bytes).flat_map(corner).collect();
        (images.channels, images.height, images.width) = (1, 4, 4);
        let zca = Some(Normalisation::Zca { regulariser: 1e-5 });
        let fitted = Presentation::fit(Pixels::Centred, zca, &images, &device).unwrap();
        let (mean, square) = moments(fitted.present(&images, &device));
        assert!(mean < 1e-3 && (0.9..1.01).contains(&square), "{mean} {square}");
    }
}
