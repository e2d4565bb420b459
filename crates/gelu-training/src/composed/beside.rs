//! Test helpers that compare the composed operations on Flex with its kernels in f32.

use burn_core::backend::{Flex, tensor::FloatTensor};
use burn_core::tensor::TensorData;

/// Returns sine values around `around`, all of them different.
pub(crate) fn wave<const D: usize>(
    shape: [usize; D],
    frequency: f32,
    around: f32,
) -> FloatTensor<Flex> {
    let count: usize = shape.iter().product();
    let numbers = (0..count).map(|i| around + (frequency * i as f32).sin());
    FloatTensor::<Flex>::from_data(TensorData::new(numbers.collect::<Vec<f32>>(), shape))
}

#[track_caller]
pub(crate) fn assert_near(what: &str, found: FloatTensor<Flex>, kernel: FloatTensor<Flex>) {
    let (found, kernel) = (found.into_data(), kernel.into_data());
    assert_eq!((found.shape(), found.dtype()), (kernel.shape(), kernel.dtype()), "{what}");
    let pairs = found.iter::<f64>().zip(kernel.iter::<f64>());
    for (place, (found, kernel)) in pairs.enumerate() {
        let off = (found - kernel).abs();
        assert!(off <= 2e-6 * (1.0 + kernel.abs()), "{what} {place}: {found}, not {kernel}");
    }
}
