use burn::module::{Module, RunningState};
use burn::tensor::{Device, Tensor};

/// A fitted ZCA whitening.
///
/// `ZcaConfig::fit`, with the feature `zca-fit`, fits a whitening; [`from_parts`](Self::from_parts)
/// creates one from a mean and a matrix. It is a module without trainable parameters, so it is saved
/// and loaded like any other, by itself or as part of a network: inference does not need the training
/// set.
///
/// ```
/// use burn::module::Module;
/// use burn::tensor::{Device, Tensor};
/// use gelu_models::Zca;
///
/// let device = Device::default();
/// let mean = Tensor::<2>::from_floats([[1.0, 2.0]], &device);
/// let zca = Zca::from_parts(mean, Tensor::eye(2, &device) * 0.5);
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("zca.bpk");
/// zca.save_file(&path)?;
/// let zca = Zca::identity(2, &device).try_load_file(&path)?;
/// let white = zca.forward(Tensor::<2>::from_floats([[2.0, 0.0]], &device));
/// assert_eq!(white.into_data().try_to_vec::<f32>()?, [0.5, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Module, Debug)]
pub struct Zca {
    mean: RunningState<Tensor<2>>,
    matrix: RunningState<Tensor<2>>,
}

impl Zca {
    /// Creates the whitening that subtracts this mean and multiplies by this matrix.
    ///
    /// # Shapes
    ///
    /// - mean: `[1, size]`
    /// - matrix: `[size, size]`
    ///
    /// # Panics
    ///
    /// If the shapes differ from these.
    pub fn from_parts(mean: Tensor<2>, matrix: Tensor<2>) -> Self {
        let size = mean.dims()[1];
        assert!(
            mean.dims() == [1, size] && matrix.dims() == [size, size],
            "a whitening has a mean of shape [1, size] and a matrix of shape [size, size], got \
             {:?} and {:?}",
            mean.dims(),
            matrix.dims()
        );
        Self { mean: RunningState::new(mean), matrix: RunningState::new(matrix) }
    }

    /// Creates the whitening that changes nothing, for examples of `size` values. Load a saved
    /// whitening into this one.
    pub fn identity(size: usize, device: &Device) -> Self {
        Self::from_parts(Tensor::zeros([1, size], device), Tensor::eye(size, device))
    }

    /// Whitens a batch.
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, ...]`, with as many values per example as in fitting
    ///
    /// # Panics
    ///
    /// If the examples have a different number of values.
    pub fn forward<const D: usize>(&self, examples: Tensor<D>) -> Tensor<D> {
        let shape = examples.dims();
        let (mean, matrix) = (self.mean(), self.matrix());
        let (size, fitted) = (shape[1..].iter().product::<usize>(), matrix.dims()[0]);
        assert_eq!(size, fitted, "this ZCA whitening was fitted to examples of {fitted} values");
        let rows: Tensor<2> = examples.reshape([shape[0], size]);
        (rows - mean).matmul(matrix).reshape(shape)
    }

    /// Returns the mean that is subtracted, `[1, size]`.
    pub fn mean(&self) -> Tensor<2> {
        self.mean.value()
    }

    /// Returns the symmetric matrix U·diag(1/√(λ + ε))·Uᵀ, `[size, size]`.
    pub fn matrix(&self) -> Tensor<2> {
        self.matrix.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitening_of_a_network_is_part_of_its_record() {
        #[derive(Module, Debug)]
        struct Network {
            whitening: Zca,
        }
        let device = Device::default();
        let mean = Tensor::<2>::from_floats([[1.0, -2.0, 3.0]], &device);
        let network = Network { whitening: Zca::from_parts(mean.clone(), Tensor::eye(3, &device)) };
        let record = network.into_record();
        let network = Network { whitening: Zca::identity(3, &device) }.load_record(record);
        network.whitening.mean().into_data().assert_eq(&mean.into_data(), true);
    }

    #[test]
    #[should_panic(expected = "fitted to examples of 3 values")]
    fn other_sizes_are_refused() {
        let device = Device::default();
        Zca::identity(3, &device).forward(Tensor::<2>::ones([1, 4], &device));
    }

    #[test]
    #[should_panic(expected = "got [1, 2] and [3, 3]")]
    fn parts_that_do_not_fit_are_refused() {
        let device = Device::default();
        let _ = Zca::from_parts(Tensor::zeros([1, 2], &device), Tensor::eye(3, &device));
    }
}
