//! Fits the whitening to a training set.
//!
//! Sums and the decomposition are computed in f64: with ε = 1e-5 next to eigenvalues of a few hundred, f32
//! would lose the small ones. They run on one thread, because faer divides sums by the number of threads,
//! and the result would depend on the machine.

use super::Zca;
use burn::config::Config;
use burn::tensor::{Tensor, TensorData};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};

/// The number of examples that are read from the device at a time.
const CHUNK: usize = 1024;

/// The configuration for fitting a [`Zca`]; the default is the authors' regulariser, 1e-5.
#[derive(Config, Debug)]
pub struct ZcaConfig {
    /// The regulariser ε, which is added to every eigenvalue of the covariance.
    #[config(default = 1e-5)]
    pub regulariser: f64,
}

/// The reason why a set of examples cannot be whitened.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ZcaError {
    /// There are no examples, or they have no values.
    #[error(
        "ZCA whitening needs at least one example with at least one value, got shape {shape:?}"
    )]
    NoExamples {
        /// The shape of the tensor of examples.
        shape: Vec<usize>,
    },
    /// A value is NaN or infinite, and would spread to every whitened example.
    #[error(
        "example {example} holds a value that is not finite; repair or drop it before whitening"
    )]
    NotFinite {
        /// The index of the first such example.
        example: usize,
    },
    /// The regulariser is not positive or not finite. Directions without variance would be scaled by
    /// infinity.
    #[error("the regulariser of ZCA whitening has to be positive and finite, got {regulariser}")]
    Regulariser {
        /// The regulariser.
        regulariser: f64,
    },
    /// The covariance and its eigenvectors would not fit into memory.
    #[error(
        "ZCA whitening of examples of {size} values takes too much memory and time; it is limited to \
         {most} values, so make the examples smaller",
        most = ZcaConfig::MOST_VALUES
    )]
    TooLarge {
        /// The number of values in an example.
        size: usize,
    },
    /// The eigendecomposition did not converge.
    #[error("the eigenvalues of the {size} × {size} covariance did not converge")]
    NoConvergence {
        /// The number of values in an example.
        size: usize,
    },
}

impl ZcaConfig {
    /// The largest number of values in an example: 3·64·64, which takes about 11 GB of memory.
    pub const MOST_VALUES: usize = 3 * 64 * 64;

    /// Fits the whitening to examples. The whitening stays on their device.
    ///
    /// Examples of 3·32·32 values take about 700 MB of memory in addition to the examples themselves. The
    /// result does not depend on the number of threads.
    ///
    /// # Shapes
    ///
    /// - examples: `[examples, ...]`; everything after the first axis is one example
    ///
    /// # Errors
    ///
    /// [`ZcaError`] if there is no example, an example has more than [`MOST_VALUES`](Self::MOST_VALUES)
    /// values, a value or the regulariser is not finite, the regulariser is not positive, or the
    /// eigenvalues do not converge.
    pub fn fit<const D: usize>(&self, examples: &Tensor<D>) -> Result<Zca, ZcaError> {
        let regulariser = self.regulariser;
        if !(regulariser.is_finite() && regulariser > 0.0) {
            return Err(ZcaError::Regulariser { regulariser });
        }
        let shape = examples.dims();
        let (count, size) = (shape[0], shape[1..].iter().product::<usize>());
        if count == 0 || size == 0 {
            return Err(ZcaError::NoExamples { shape: shape.to_vec() });
        }
        if size > Self::MOST_VALUES {
            return Err(ZcaError::TooLarge { size });
        }
        let rows: Tensor<2> = examples.clone().reshape([count, size]);
        let mean = mean(&rows)?;
        let matrix = whitening_matrix(covariance(&rows, &mean), regulariser)?;

        let device = examples.device();
        Ok(Zca::from_parts(
            Tensor::from_data(TensorData::new(mean, [1, size]), &device),
            Tensor::from_data(TensorData::new(matrix, [size, size]), &device),
        ))
    }
}

/// Returns the rows in f64, a chunk at a time: the index of the first row, and the chunk, row by row.
fn chunks(rows: &Tensor<2>) -> impl Iterator<Item = (usize, Vec<f64>)> {
    let count = rows.dims()[0];
    (0..count).step_by(CHUNK).map(move |start| {
        let chunk = rows.clone().narrow(0, start, CHUNK.min(count - start));
        (start, chunk.into_data().iter::<f64>().collect())
    })
}

fn mean(rows: &Tensor<2>) -> Result<Vec<f64>, ZcaError> {
    let [count, size] = rows.dims();
    let mut sum = vec![0.0; size];
    for (start, chunk) in chunks(rows) {
        for (index, row) in chunk.chunks_exact(size).enumerate() {
            if row.iter().any(|value| !value.is_finite()) {
                return Err(ZcaError::NotFinite { example: start + index });
            }
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    Ok(sum.into_iter().map(|sum| sum / count as f64).collect())
}

/// Returns the lower half of Σ (x − m)ᵀ(x − m) / count.
fn covariance(rows: &Tensor<2>, mean: &[f64]) -> Mat<f64> {
    let [count, size] = rows.dims();
    let mut covariance = Mat::zeros(size, size);
    for (_, mut chunk) in chunks(rows) {
        for row in chunk.chunks_exact_mut(size) {
            row.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        }
        let centred = MatRef::from_row_major_slice(&chunk, chunk.len() / size, size);
        triangular::matmul(
            covariance.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            centred.transpose(),
            BlockStructure::Rectangular,
            centred,
            BlockStructure::Rectangular,
            1.0 / count as f64,
            Par::Seq,
        );
    }
    covariance
}

/// Returns the eigenvalues, ascending, and the eigenvectors, as columns, of a symmetric matrix. Only the
/// matrix's lower half is read.
pub(crate) fn eigen(matrix: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>), ZcaError> {
    let size = matrix.nrows();
    let (mut values, mut vectors) = (Diag::zeros(size), Mat::zeros(size, size));
    let scratch = evd::self_adjoint_evd_scratch::<f64>(
        size,
        ComputeEigenvectors::Yes,
        Par::Seq,
        Default::default(),
    );
    evd::self_adjoint_evd(
        matrix.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_no_convergence| ZcaError::NoConvergence { size })?;
    Ok((values.as_ref().column_vector().iter().copied().collect(), vectors))
}

/// Returns U·diag(1/√(λ + ε))·Uᵀ, row by row, for a symmetric matrix. Only the matrix's lower half is
/// read.
fn whitening_matrix(covariance: Mat<f64>, regulariser: f64) -> Result<Vec<f64>, ZcaError> {
    let size = covariance.nrows();
    let (eigenvalues, mut factor) = eigen(&covariance)?;
    // With F = U·diag((λ + ε)^(−1/4)) the matrix is F·Fᵀ. The maximum is needed because rounding may make
    // an eigenvalue of 0 slightly negative.
    for (column, eigenvalue) in factor.col_iter_mut().zip(eigenvalues) {
        let scale = (eigenvalue.max(0.0) + regulariser).powf(-0.25);
        column.iter_mut().for_each(|value| *value *= scale);
    }
    let mut matrix = covariance;
    let (left, right) = (factor.as_ref(), factor.transpose());
    matmul(matrix.as_mut(), Accum::Replace, left, right, 1.0, Par::Seq);
    Ok((0..size).flat_map(|row| matrix.row(row).iter().copied().collect::<Vec<_>>()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Module;
    use burn::tensor::{Device, Distribution};

    const EXAMPLES: [[f32; 3]; 5] =
        [[1.0, 2.0, 0.5], [-1.0, 0.0, 2.0], [3.0, 1.0, -1.0], [0.5, -2.0, 1.0], [2.0, 2.5, 0.0]];

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn matrix_is_that_of_numpy() {
        // The expected matrix is from numpy: s = (x − x.mean(0)).T @ (x − x.mean(0)) / 5; l, u =
        // numpy.linalg.eigh(s); u @ numpy.diag(1 / numpy.sqrt(l + ε)) @ u.T
        #[rustfmt::skip]
        let references = [
            (1e-5, [4.917_223, -0.159_655_88, 5.774_969_4,
                    -0.159_655_88, 0.689_188_2, 0.067_632_14,
                    5.774_969_4, 0.067_632_14, 8.473_44]),
            (0.1, [1.494_730_3, -0.131_609_02, 1.162_242_5,
                   -0.131_609_02, 0.670_710_8, 0.087_185_38,
                   1.162_242_5, 0.087_185_38, 2.211_306_5]),
        ];
        let examples = Tensor::<2>::from_data(EXAMPLES, &Device::default());
        for (regulariser, expected) in references {
            let zca = ZcaConfig::new().with_regulariser(regulariser).fit(&examples).unwrap();
            for (found, expected) in values(zca.matrix()).into_iter().zip(expected) {
                assert!((found - expected).abs() < 2e-6_f32, "{found} for {expected}");
            }
            for (found, expected) in values(zca.mean()).into_iter().zip([1.1, 0.7, 0.5]) {
                assert!((found - expected).abs() < 1e-6_f32, "{found} for {expected}");
            }
        }
    }

    #[test]
    fn whitened_examples_have_mean_zero_and_covariance_one() {
        // There are more examples than one chunk holds, correlated by a random mixing matrix.
        let device = Device::default();
        device.seed(1);
        let count = CHUNK + 500;
        let normal = Distribution::Normal(0.0, 1.0);
        let sources = Tensor::<2>::random([count, 12], normal, &device);
        let images: Tensor<4> = (sources.matmul(Tensor::random([12, 12], normal, &device)) + 3.0)
            .reshape([count, 3, 2, 2]);
        let zca = ZcaConfig::new().fit(&images).unwrap();
        let white = zca.forward(images.clone());
        assert_eq!(white.dims(), images.dims());
        let white: Tensor<2> = white.reshape([count, 12]);
        let mean = white.clone().mean_dim(0).abs().max().into_scalar::<f32>();
        assert!(mean < 1e-4, "mean {mean}");
        let covariance = white.clone().transpose().matmul(white) / count as f32;
        let error = (covariance - Tensor::eye(12, &device)).abs().max().into_scalar::<f32>();
        // The tolerance covers λ/(λ + ε), with the smallest λ of this mixture near 1e-2, and products in
        // f32.
        assert!(error < 2e-3, "covariance is off by {error}");
    }

    /// The matrix is large enough for faer to divide every step among threads.
    #[test]
    fn number_of_threads_does_not_change_a_bit() {
        let device = Device::default();
        device.seed(3);
        let (count, size) = (700, 400);
        let normal = Distribution::Normal(0.0, 1.0);
        let mixing = Tensor::random([size, size], normal, &device);
        let examples = Tensor::<2>::random([count, size], normal, &device).matmul(mixing);
        let fitted = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (zca, white) = pool.install(|| {
                let zca = ZcaConfig::new().fit(&examples).unwrap();
                (zca.clone(), zca.forward(examples.clone()))
            });
            let bits = |tensor| values(tensor).into_iter().map(f32::to_bits).collect::<Vec<_>>();
            [zca.mean(), zca.matrix(), white].map(bits)
        };
        let one = fitted(1);
        for threads in [2, 3] {
            assert!(fitted(threads) == one, "{threads} threads give other bits than one");
        }
    }

    #[test]
    fn direction_without_variance_stays_finite() {
        let device = Device::default();
        let flat = Tensor::<2>::from_data([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]], &device);
        let white = values(ZcaConfig::new().fit(&flat).unwrap().forward(flat));
        assert!(white.iter().all(|value| value.is_finite()), "{white:?}");
        assert!([white[1], white[3], white[5]].iter().all(|value| value.abs() < 1e-3));
    }

    #[test]
    fn saved_whitening_whitens_without_the_training_set() {
        let device = Device::default();
        let examples = Tensor::<2>::from_data(EXAMPLES, &device);
        let zca = ZcaConfig::new().fit(&examples).unwrap();
        let expected = values(zca.forward(examples.clone()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zca.bpk");
        zca.save_file(&path).unwrap();
        let loaded = Zca::identity(3, &device).try_load_file(&path).unwrap();
        assert_eq!(values(loaded.forward(examples)), expected);
        assert!(Zca::identity(4, &device).try_load_file(&path).is_err());
    }

    #[test]
    fn bad_examples_are_refused_with_their_reason() {
        let device = Device::default();
        let fit = |examples: Tensor<2>| ZcaConfig::new().fit(&examples).unwrap_err();
        let nan = Tensor::from_data([[1.0, 2.0], [f32::NAN, 0.0]], &device);
        assert_eq!(fit(nan), ZcaError::NotFinite { example: 1 });
        assert_eq!(fit(Tensor::zeros([0, 4], &device)), ZcaError::NoExamples { shape: vec![0, 4] });
        let size = ZcaConfig::MOST_VALUES + 1;
        assert_eq!(fit(Tensor::zeros([1, size], &device)), ZcaError::TooLarge { size });
        let examples = Tensor::<2>::from_data(EXAMPLES, &device);
        for regulariser in [0.0, -1.0, f64::INFINITY] {
            let error = ZcaConfig::new().with_regulariser(regulariser).fit(&examples).unwrap_err();
            assert_eq!(error, ZcaError::Regulariser { regulariser });
        }
    }
}
