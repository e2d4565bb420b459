//! Measures the layers of a network on one batch after every epoch.

use crate::networks::LayerMeasure;
use crate::split_metrics::unreadable;
use crate::{Error, ModelOutput, Result, Trainable};
use burn::data::dataloader::DataLoader;
use burn::tensor::{DType, Device, FloatDType, Tensor};
use burn::train::InferenceStep;
use gelu_core::watch;

type Batch<M> = <M as InferenceStep>::Input;

/// Returns the measures of each activation layer on the first batch of `loader`, as columns of an epoch. Dropout and
/// noise are off, and batch norm uses its learned statistics.
///
/// # Errors
///
/// If the loader fails or yields nothing, or a result cannot be read back from the device.
pub(crate) fn probe<M: Trainable>(
    model: &M,
    loader: &dyn DataLoader<Batch<M>>,
    device: &Device,
) -> Result<Vec<(String, Option<f64>)>> {
    let loader = loader.to_device(&device.clone().autodiff());
    let batch = loader.iter().next();
    let batch = batch.ok_or_else(|| Error::Failed("there is no batch to probe".to_owned()))?;
    let batch = batch.map_err(|error| Error::Failed(error.to_string()))?;
    // The parameters need no gradients here.
    let model = model.clone().freeze();
    let (output, layers) = watch(|| InferenceStep::step(&model, batch));
    let loss = output.measure_loss().take_loss().filter(Tensor::is_tracked);
    let gradients = loss.map(|loss| loss.backward());
    let mut columns = Vec::with_capacity(layers.len() * LayerMeasure::ALL.len());
    for (index, layer) in layers.into_iter().enumerate() {
        let gradient = gradients.as_ref().and_then(|gradients| layer.gradient(gradients));
        let found = Layer {
            moments: Moments::of(&numbers(layer.input)?),
            units: layer.output.dims()[1],
            gradient: gradient.map(numbers).transpose()?,
            rank: rank(layer.output.clone())?,
            output: numbers(layer.output)?,
        };
        for measure in LayerMeasure::ALL {
            let value = found.measure(measure).filter(|value| value.is_finite());
            columns.push((measure.column(index + 1), value));
        }
    }
    Ok(columns)
}

/// The values of a layer on the host, row by row.
struct Layer {
    output: Vec<f32>,
    units: usize,
    moments: Option<Moments>,
    gradient: Option<Vec<f32>>,
    rank: f64,
}

impl Layer {
    fn measure(&self, measure: LayerMeasure) -> Option<f64> {
        let moments = self.moments.as_ref();
        match measure {
            LayerMeasure::Zeros => share(self.output.iter().map(|&y| y == 0.0)),
            LayerMeasure::Dead => self.dead(),
            LayerMeasure::Mean => moments.map(|of| of.mean),
            LayerMeasure::Deviation => moments.map(|of| of.second.sqrt()),
            LayerMeasure::Skewness => moments.map(|of| of.third / of.second.powf(1.5)),
            LayerMeasure::Kurtosis => moments.map(|of| of.fourth / of.second.powi(2) - 3.0),
            LayerMeasure::Gradient => self.gradient.as_deref().map(norm),
            LayerMeasure::Rank => Some(self.rank),
        }
    }

    fn dead(&self) -> Option<f64> {
        let mut dead = vec![true; self.units];
        for row in self.output.chunks_exact(self.units.max(1)) {
            dead.iter_mut().zip(row).for_each(|(dead, &y)| *dead &= y == 0.0);
        }
        share(dead.into_iter())
    }
}

/// The mean of some numbers, and the means of the second, third and fourth powers of their distances from it.
struct Moments {
    mean: f64,
    second: f64,
    third: f64,
    fourth: f64,
}

impl Moments {
    /// Returns `None` if there are no numbers.
    fn of(numbers: &[f32]) -> Option<Self> {
        let mean = mean(numbers.iter().copied().map(f64::from))?;
        let mut sums = [0.0; 3];
        for &number in numbers {
            let distance = f64::from(number) - mean;
            let square = distance * distance;
            for (sum, power) in sums.iter_mut().zip([square, square * distance, square * square]) {
                *sum += power;
            }
        }
        let [second, third, fourth] = sums.map(|sum| sum / numbers.len() as f64);
        Some(Self { mean, second, third, fourth })
    }
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let count = numbers.clone().count();
    (count > 0).then(|| numbers.sum::<f64>() / count as f64)
}

fn share(values: impl Iterator<Item = bool> + Clone) -> Option<f64> {
    mean(values.map(|value| f64::from(u8::from(value))))
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

fn numbers(x: Tensor<2>) -> Result<Vec<f32>> {
    let data = x.try_into_data().map_err(unreadable)?;
    let numbers = data.convert::<f32>().try_into_vec::<f32>();
    numbers.map_err(|error| Error::Failed(format!("a layer's values cannot be read: {error:?}")))
}

/// Returns the participation ratio `(Σλ)²/Σλ²` of the eigenvalues of the covariance matrix of the columns of
/// `outputs`, `[rows, units]`; NaN if they do not vary. The sums are a trace and a sum of squares, `tr(C)²/‖C‖²`.
/// Both products of the centred outputs with their transpose give the same sums, so the function computes the smaller
/// one. Values of 16 bits are widened, because they cannot hold the sums of many rows.
fn rank(outputs: Tensor<2>) -> Result<f64> {
    let [rows, units] = outputs.dims();
    let outputs = match outputs.dtype() {
        DType::F16 | DType::BF16 => outputs.cast(FloatDType::F32),
        _ => outputs,
    };
    let centred = outputs.clone() - outputs.mean_dim(0);
    // Scaling keeps squares from over- or underflowing.
    let scaled = centred.clone() / centred.abs().max().reshape([1, 1]);
    let transposed = scaled.clone().transpose();
    let product = match rows < units {
        true => scaled.clone().matmul(transposed),
        false => transposed.matmul(scaled.clone()),
    };
    let sum = |x: Tensor<2>| -> Result<f64> {
        Ok(numbers(x)?.into_iter().map(|x| f64::from(x).powi(2)).sum())
    };
    Ok(sum(scaled)?.powi(2) / sum(product)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(input: Vec<f32>, output: Vec<f32>, units: usize) -> Layer {
        Layer { moments: Moments::of(&input), output, units, gradient: None, rank: 1.0 }
    }

    #[test]
    fn shares_count_outputs_and_units() {
        let output = vec![0.0, 1.0, 0.0, 0.0, 0.0, -2.0, -0.0, 3.0];
        let layer = layer(output.clone(), output, 4);
        assert_eq!(layer.measure(LayerMeasure::Zeros), Some(0.625));
        assert_eq!(layer.measure(LayerMeasure::Dead), Some(0.5));
        assert_eq!(layer.measure(LayerMeasure::Gradient), None);
    }

    #[test]
    fn a_unit_is_dead_that_is_0_in_all_rows() {
        let rows = vec![1.0, 0.0, 0.0, 0.0];
        assert_eq!(layer(rows.clone(), rows, 2).measure(LayerMeasure::Dead), Some(0.5));
        let rows = vec![0.0, 0.0, 1.0, 0.0];
        assert_eq!(layer(rows.clone(), rows, 2).measure(LayerMeasure::Dead), Some(0.5));
    }

    #[test]
    fn moments_are_those_of_the_numbers() {
        // 0, 0, 0, 4: mean 1, variance 3, third moment 6, fourth 21.
        let layer = layer(vec![0.0, 0.0, 0.0, 4.0], vec![1.0; 4], 2);
        let got = |measure| layer.measure(measure).unwrap();
        let close = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "{got}");
        close(got(LayerMeasure::Mean), 1.0);
        close(got(LayerMeasure::Deviation), 3f64.sqrt());
        close(got(LayerMeasure::Skewness), 6.0 / 3f64.powf(1.5));
        close(got(LayerMeasure::Kurtosis), 21.0 / 9.0 - 3.0);
    }

    /// Two uncorrelated columns of ±1, with more rows than f16 can count.
    #[test]
    fn many_rows_of_16_bits_have_their_rank() {
        let device = Device::default();
        let numbers = (0..70_000u32).flat_map(|row| [row % 2, row / 2 % 2]);
        let numbers: Vec<f32> = numbers.map(|bit| 2.0 * bit as f32 - 1.0).collect();
        let outputs = Tensor::<1>::from_floats(numbers.as_slice(), &device).reshape([70_000, 2]);
        let rank = rank(outputs.cast(FloatDType::F16)).unwrap();
        assert!((rank - 2.0).abs() < 1e-4, "{rank}");
    }

    #[test]
    fn rank_counts_directions_whichever_side_is_longer() {
        let device = Device::default();
        // Two independent directions of equal variance, and a third column that repeats the first. The covariance
        // matrix has the eigenvalues 2 and 1, so the rank is (2 + 1)²/(4 + 1) = 1.8.
        let rows = [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]];
        let tall = Tensor::<2>::from_floats(rows, &device) * 1e-25 + 1.0e-24;
        assert!((rank(tall).unwrap() - 1.8).abs() < 1e-4);
        // Repeating each column doubles the eigenvalues and does not change the ratio.
        let wide = Tensor::<2>::from_floats(rows, &device);
        let wide = Tensor::cat(vec![wide.clone(), wide], 1);
        assert!((rank(wide).unwrap() - 1.8).abs() < 1e-5);
        assert!(rank(Tensor::<2>::ones([3, 2], &device)).unwrap().is_nan());
    }

    #[test]
    fn a_small_gradient_has_its_norm() {
        assert!((norm(&[3e-30, 4e-30]) - 5e-30).abs() < 1e-36);
    }
}
