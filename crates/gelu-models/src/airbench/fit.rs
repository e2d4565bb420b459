//! Fits the whitening to the patches of a training set. Sums and the decomposition are computed in f64.

use super::PatchWhitening;
use super::whitening::PATCH;
use crate::ZcaError;
use crate::zca::eigen;
use burn::tensor::{Tensor, TensorData};
use faer::Mat;

/// The number of images that are read from the device at a time.
const CHUNK: usize = 256;

impl PatchWhitening {
    /// Fits the whitening to all 2×2 patches of the images. The whitening stays on their device.
    ///
    /// # Shapes
    ///
    /// - pictures: `[pictures, channels, height, width]`
    ///
    /// # Errors
    ///
    /// [`ZcaError`] if there is no patch, a value or the regulariser ε is not finite, the regulariser is not
    /// positive, or the eigenvalues do not converge.
    pub fn fit(pictures: &Tensor<4>, regulariser: f64) -> Result<Self, ZcaError> {
        if !(regulariser.is_finite() && regulariser > 0.0) {
            return Err(ZcaError::Regulariser { regulariser });
        }
        let shape = pictures.dims();
        let [count, channels, height, width] = shape;
        if count == 0 || channels == 0 || height < PATCH || width < PATCH {
            return Err(ZcaError::NoExamples { shape: shape.to_vec() });
        }
        let size = PATCH * PATCH * channels;
        let moments = moments(pictures)?;
        let patches = (count * (height - 1) * (width - 1)) as f64;
        let mean: Vec<f64> = moments.sums.iter().map(|sum| sum / patches).collect();
        let covariance = Mat::from_fn(size, size, |row, column| {
            let (high, low) = (row.max(column), row.min(column));
            moments.products[high * size + low] / patches - mean[row] * mean[column]
        });
        let (eigenvalues, eigenvectors) = eigen(&covariance)?;
        let (mut weight, mut bias) = (Vec::with_capacity(size * size), Vec::with_capacity(size));
        // faer sorts the eigenvalues in ascending order.
        for index in (0..size).rev() {
            let eigenvalue = eigenvalues[index];
            let direction: Vec<f64> = eigenvectors.col(index).iter().copied().collect();
            // A vector and its negation are equally good. This picks the one with a positive sum.
            let sign = if direction.iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
            let scale = sign / (eigenvalue.max(0.0) + regulariser).sqrt();
            let filter = direction.into_iter().map(|value| value * scale);
            let filter: Vec<f64> = filter.collect();
            bias.push(-filter.iter().zip(&mean).map(|(w, m)| w * m).sum::<f64>());
            weight.extend(filter);
        }
        let device = pictures.device();
        let weight = TensorData::new(weight, [size, channels, PATCH, PATCH]);
        let bias = TensorData::new(bias, [size]);
        Ok(Self::from_parts(Tensor::from_data(weight, &device), Tensor::from_data(bias, &device)))
    }
}

/// Sums over all patches.
struct Moments {
    /// The sum of each value.
    sums: Vec<f64>,
    /// The sums of the products of two values: the lower half, row by row.
    products: Vec<f64>,
}

fn moments(pictures: &Tensor<4>) -> Result<Moments, ZcaError> {
    let [count, channels, height, width] = pictures.dims();
    let size = PATCH * PATCH * channels;
    let mut moments = Moments { sums: vec![0.0; size], products: vec![0.0; size * size] };
    let mut patch = vec![0.0; size];
    for start in (0..count).step_by(CHUNK) {
        let chunk = pictures.clone().narrow(0, start, CHUNK.min(count - start));
        let values: Vec<f64> = chunk.into_data().iter::<f64>().collect();
        for (index, picture) in values.chunks_exact(channels * height * width).enumerate() {
            if picture.iter().any(|value| !value.is_finite()) {
                return Err(ZcaError::NotFinite { example: start + index });
            }
            for (row, column) in (0..height - 1).flat_map(|r| (0..width - 1).map(move |c| (r, c))) {
                for (channel, values) in patch.chunks_exact_mut(PATCH * PATCH).enumerate() {
                    let corner = (channel * height + row) * width + column;
                    values[..PATCH].copy_from_slice(&picture[corner..corner + PATCH]);
                    let below = corner + width;
                    values[PATCH..].copy_from_slice(&picture[below..below + PATCH]);
                }
                for (high, &value) in patch.iter().enumerate() {
                    moments.sums[high] += value;
                    let products = &mut moments.products[high * size..=high * size + high];
                    products.iter_mut().zip(&patch).for_each(|(sum, other)| *sum += value * other);
                }
            }
        }
    }
    Ok(moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, Distribution};

    /// Returns images whose neighbouring pixels and channels are correlated, as in photographs.
    fn pictures(count: usize) -> Tensor<4> {
        let device = Device::default();
        device.seed(7);
        let noise = Tensor::<4>::random([count, 3, 9, 8], Distribution::Normal(0.0, 1.0), &device);
        let right = noise.clone().slice([0..count, 0..3, 0..8, 1..8]);
        let below = noise.clone().slice([0..count, 0..3, 1..9, 0..7]);
        let here = noise.slice([0..count, 0..3, 0..8, 0..7]);
        let mixed = here + right * 0.8 + below * 0.6;
        let grey = mixed.clone().mean_dim(1);
        mixed * 0.5 + grey + 0.3
    }

    /// Returns the outputs, `[places, channels]`, pixel by pixel.
    fn outputs(whitening: &PatchWhitening, pictures: Tensor<4>) -> Vec<Vec<f64>> {
        let white = whitening.forward(pictures);
        let channels = white.dims()[1];
        let values: Vec<f64> = white.permute([0, 2, 3, 1]).into_data().iter::<f64>().collect();
        values.chunks(channels).map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn whitened_patches_have_mean_zero_and_covariance_one() {
        // There are more images than one chunk holds.
        let pictures = pictures(CHUNK + 50);
        let whitening = PatchWhitening::fit(&pictures, 1e-9).unwrap();
        assert_eq!((whitening.channels(), whitening.outputs()), (3, 24));
        let places = outputs(&whitening, pictures);
        assert_eq!(places.len(), (CHUNK + 50) * 7 * 6);
        let count = places.len() as f64;
        for a in 0..12 {
            let mean = places.iter().map(|place| place[a]).sum::<f64>() / count;
            assert!(mean.abs() < 1e-4, "channel {a} has the mean {mean}");
            for b in 0..12 {
                let product = places.iter().map(|place| place[a] * place[b]).sum::<f64>() / count;
                let expected = f64::from(u8::from(a == b));
                assert!((product - expected).abs() < 1e-3, "{a} and {b}: {product}");
            }
        }
        for place in &places[..100] {
            let (white, negated) = place.split_at(12);
            assert!(white.iter().zip(negated).all(|(a, b)| *a == -*b));
        }
    }

    /// For one channel with patches (a, a, a, a), the covariance has the eigenvalue 4·Var a in the direction
    /// (½, ½, ½, ½), and 0 in all other directions.
    #[test]
    fn a_direction_is_divided_by_the_root_of_its_eigenvalue_and_the_regulariser() {
        let device = Device::default();
        let values = [1.0_f32, 3.0, 5.0, 7.0];
        let one = |value: f32| Tensor::<4>::full([1, 1, 2, 2], value, &device);
        let pictures = Tensor::cat(values.map(one).to_vec(), 0);
        // Var a is 5, so the divisor is the root of 4·5 + 5 = 25.
        let whitening = PatchWhitening::fit(&pictures, 5.0).unwrap();
        let places = outputs(&whitening, pictures);
        for (place, value) in places.iter().zip(values) {
            let expected = 2.0 * (f64::from(value) - 4.0) / 5.0;
            assert!((place[0] - expected).abs() < 1e-5, "{place:?}");
            assert!(place[1..4].iter().all(|rest| rest.abs() < 1e-5), "{place:?}");
        }
    }

    #[test]
    fn what_cannot_be_whitened_is_refused() {
        let device = Device::default();
        let fit = |shape: [usize; 4], regulariser| {
            let pictures = Tensor::<4>::zeros(shape, &device);
            PatchWhitening::fit(&pictures, regulariser).unwrap_err()
        };
        assert!(matches!(fit([0, 3, 4, 4], 1e-3), ZcaError::NoExamples { .. }));
        assert!(matches!(fit([2, 3, 1, 4], 1e-3), ZcaError::NoExamples { .. }));
        assert!(matches!(fit([2, 3, 4, 4], 0.0), ZcaError::Regulariser { .. }));
        let mut values = vec![0.0_f32; 3 * 4];
        values[7] = f32::NAN;
        let pictures = Tensor::<4>::from_data(TensorData::new(values, [3, 1, 2, 2]), &device);
        let error = PatchWhitening::fit(&pictures, 1e-3).unwrap_err();
        assert_eq!(error, ZcaError::NotFinite { example: 1 });
    }
}
