//! The operations for any backend, of its own tensor operations: all slices at a time where they are alike, else
//! one after the other.

use super::{CohortOps, SliceDropout, SliceUnit, SliceUnits};
use crate::AdamStep;
use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings,
    tensor::{FloatTensor, IntTensor},
};
use burn_core::tensor::{Shape, Slice, TensorData};
use gelu_core::random::{Draw, words};

pub(crate) fn activation<B: CohortOps>(
    x: FloatTensor<B>,
    bias: FloatTensor<B>,
    units: &SliceUnits,
) -> FloatTensor<B> {
    if let Some(unit) = units.common() {
        return B::activation(B::float_add(x, bias), unit);
    }
    let shape = x.shape();
    let parts = units.slices().iter().enumerate().map(|(index, &SliceUnit { unit, dropout })| {
        let (x, bias) = (matrix::<B>(&x, index), row::<B>(&bias, index));
        let y = match dropout {
            Some(SliceDropout { draw, threshold }) => {
                let key = key::<B>(&x, draw);
                B::bias_activation_dropout(x, bias, key, unit, threshold)
            }
            None => B::bias_activation(x, bias, unit),
        };
        B::float_reshape(y, Shape::from([1, shape[1], shape[2]]))
    });
    B::float_cat(parts.collect(), 0)
}

pub(crate) fn activation_gradients<B: CohortOps>(
    x: FloatTensor<B>,
    bias: FloatTensor<B>,
    gradient: FloatTensor<B>,
    units: &SliceUnits,
) -> (FloatTensor<B>, FloatTensor<B>) {
    if let Some(unit) = units.common() {
        let dx = B::activation_backward(B::float_add(x, bias), gradient, unit);
        return (dx.clone(), B::float_sum_dim(dx, 1));
    }
    let shape = x.shape();
    let parts = units.slices().iter().enumerate().map(|(index, &SliceUnit { unit, dropout })| {
        let (x, bias) = (matrix::<B>(&x, index), row::<B>(&bias, index));
        let dy = matrix::<B>(&gradient, index);
        let (dx, dbias) = match dropout {
            Some(SliceDropout { draw, threshold }) => {
                let key = key::<B>(&x, draw);
                B::bias_activation_dropout_backward(x, bias, dy, key, unit, threshold)
            }
            None => B::bias_activation_backward(x, bias, dy, unit),
        };
        (
            B::float_reshape(dx, Shape::from([1, shape[1], shape[2]])),
            B::float_reshape(dbias, Shape::from([1, 1, shape[2]])),
        )
    });
    let (dx, dbias) = parts.unzip();
    (B::float_cat(dx, 0), B::float_cat(dbias, 0))
}

pub(crate) fn means<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let slices = x.shape()[0];
    B::float_reshape(B::float_mean_dim(x, 1), Shape::from([slices]))
}

pub(crate) fn sums<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let slices = x.shape()[0];
    B::float_reshape(B::float_sum_dim(x, 1), Shape::from([slices]))
}

/// `tensors` are the parameter, its gradient and the two moments.
pub(crate) fn adam_step<B: CohortOps>(
    tensors: [FloatTensor<B>; 4],
    steps: &[AdamStep],
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    if let [first, others @ ..] = steps
        && others.iter().all(|other| other == first)
    {
        let [parameter, gradient, moment_1, moment_2] = tensors;
        return B::adam_step(parameter, gradient, moment_1, moment_2, *first);
    }
    let mut results = [const { Vec::new() }; 3];
    for (index, step) in steps.iter().enumerate() {
        let [parameter, gradient, moment_1, moment_2] =
            tensors.each_ref().map(|tensor| part::<B>(tensor, index));
        let (parameter, moment_1, moment_2) =
            B::adam_step(parameter, gradient, moment_1, moment_2, *step);
        let stepped = [parameter, moment_1, moment_2];
        results.iter_mut().zip(stepped).for_each(|(all, one)| all.push(one));
    }
    results.map(|all| B::float_cat(all, 0)).into()
}

/// One slice of a tensor, as a tensor of the same rank.
fn part<B: Backend>(x: &FloatTensor<B>, index: usize) -> FloatTensor<B> {
    let mut ranges = vec![Slice::from(index..index + 1)];
    ranges.extend(x.shape().iter().skip(1).map(|&size| Slice::from(0..size)));
    B::float_slice(x.clone(), &ranges)
}

/// One slice of `[slices, rows, columns]`.
fn matrix<B: Backend>(x: &FloatTensor<B>, index: usize) -> FloatTensor<B> {
    let shape = x.shape();
    B::float_reshape(part::<B>(x, index), Shape::from([shape[1], shape[2]]))
}

/// One slice of `[slices, 1, columns]`.
fn row<B: Backend>(x: &FloatTensor<B>, index: usize) -> FloatTensor<B> {
    let columns = x.shape()[2];
    B::float_reshape(part::<B>(x, index), Shape::from([columns]))
}

/// A draw's key on the device of a tensor.
fn key<B: Backend>(beside: &FloatTensor<B>, draw: Draw) -> IntTensor<B> {
    let device = beside.device();
    let dtype = get_or_init_device_settings::<B>(&device).int_dtype;
    B::int_from_data(TensorData::from(words(draw)).convert_dtype(dtype.into()), &device)
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::composed::beside::{assert_near, wave};
    use crate::{EpsilonPlace, WeightDecay};
    use burn_core::backend::Flex;
    use gelu_core::functional::Unit;

    const SLICES: usize = 3;

    /// One activation for all networks, several, and several with a dropout of their own.
    fn all_units() -> [SliceUnits; 3] {
        let of = |drops: bool| {
            let unit = |slice: usize| SliceUnit {
                unit: [Unit::Gelu, Unit::Elu { alpha: 0.1 }, Unit::Tanh][slice],
                dropout: drops
                    .then(|| SliceDropout::new(0.3, Draw { seed: slice as u64, step: 8 })),
            };
            (0..SLICES).map(unit).collect()
        };
        [SliceUnits::all(Unit::Gelu, SLICES), of(false), of(true)]
    }

    #[test]
    fn activations_and_their_gradients_are_the_kernels() {
        for units in all_units() {
            let what = format!("{units:?}");
            let (x, dy) = (|| wave([SLICES, 5, 7], 0.73, 0.0), || wave([SLICES, 5, 7], 0.31, 0.0));
            let bias = || wave([SLICES, 1, 7], 0.9, 0.0);
            let kernel = Flex::cohort_activation(x(), bias(), units.clone());
            assert_near(&what, activation::<Flex>(x(), bias(), &units), kernel);
            let kernel = Flex::cohort_activation_gradients(x(), bias(), dy(), units.clone());
            let found = activation_gradients::<Flex>(x(), bias(), dy(), &units);
            assert_near(&format!("{what}, gradient"), found.0, kernel.0);
            assert_near(&format!("{what}, bias"), found.1, kernel.1);
        }
    }

    #[test]
    fn means_and_sums_of_each_network_are_the_kernels() {
        let x = || wave([SLICES, 11], 0.73, 0.5);
        assert_near("means", means::<Flex>(x()), Flex::cohort_means(x()));
        assert_near("sums", sums::<Flex>(x()), Flex::cohort_sums(x()));
    }

    #[test]
    fn steps_at_each_networks_own_rate_are_the_kernels() {
        let step = |time, rate| {
            AdamStep::of(time, rate, [0.9, 0.99], 1e-8, EpsilonPlace::Outside)
                .with_decay(WeightDecay::Decoupled(0.3), rate)
        };
        for steps in [[step(3, 0.1); SLICES], [step(3, 0.1), step(1, 0.02), step(7, 0.5)]] {
            let tensors = || {
                let [w, g, m] = [0.37, 0.71, 1.3].map(|by| wave([SLICES, 4, 5], by, 0.0));
                [w, g, m, wave([SLICES, 4, 5], 0.9, 1.1)]
            };
            let [w, g, m, v] = tensors();
            let kernel = Flex::cohort_adam_step(w, g, m, v, steps.into());
            let found = adam_step::<Flex>(tensors(), &steps);
            for (found, kernel) in <[_; 3]>::from(found).into_iter().zip(<[_; 3]>::from(kernel)) {
                assert_near(&format!("{steps:?}"), found, kernel);
            }
        }
    }
}
