use crate::backends::dispatch::reshaped;
use alloc::vec::Vec;
#[cfg(feature = "autodiff")]
use burn_core::tensor::Gradients;
use burn_core::tensor::Tensor;
use core::cell::RefCell;
use std::thread_local;

thread_local! {
    /// The activation layers that acted on this thread since it is watched.
    static SEEN: RefCell<Option<Vec<Watched>>> = const { RefCell::new(None) };
}

/// Runs `compute` and returns its result, together with the input and output of each activation layer in the
/// order in which the layers acted. These are every [`ActivationLayer`](crate::ActivationLayer), by itself or
/// inside a [`HiddenLayer`](crate::HiddenLayer), a [`FeedForward`](crate::FeedForward), a
/// [`GatedFeedForward`](crate::GatedFeedForward), an [`Encoder`](crate::Encoder) or a layer of gelu-training,
/// and every [`PolyNorm`](crate::PolyNorm). Layers that fuse an activation with another operation use two
/// passes while they are watched, because the activation's input would otherwise not exist.
///
/// On an autodiff device, the loss's gradient for each input is available after a backward pass:
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::{Activation, HiddenLayerConfig, watch};
///
/// let device = Device::default().autodiff();
/// let layer = HiddenLayerConfig::new(3, 5).with_activation(Activation::Relu).init(&device);
/// let (loss, seen) = watch(|| layer.forward(Tensor::<2>::ones([2, 3], &device)).sum());
/// assert_eq!(seen[0].input.dims(), [2, 5]);
///
/// let gradients = loss.backward();
/// let gradient = seen[0].gradient(&gradients).unwrap();
/// let slope = seen[0].input.clone().greater_elem(0.0).float();
/// gradient.into_data().assert_eq(&slope.into_data(), true);
/// ```
///
/// Threads that `compute` starts are not watched.
pub fn watch<T>(compute: impl FnOnce() -> T) -> (T, Vec<Watched>) {
    /// Restores the previous state, even if `compute` panics.
    struct Before(Option<Vec<Watched>>);
    impl Drop for Before {
        fn drop(&mut self) {
            SEEN.set(self.0.take());
        }
    }
    let before = Before(SEEN.replace(Some(Vec::new())));
    let result = compute();
    let seen = SEEN.take().unwrap_or_default();
    drop(before);
    (result, seen)
}

/// The input and output of an activation layer while its network was [watched](watch).
///
/// Tensors are `[rows, units]`. A unit is an index of the last dimension, or of dimension 1 for tensors of four
/// or more dimensions, where convolutions have their channels.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The layer's input: the pre-activations.
    pub input: Tensor<2>,
    /// The layer's output; for a gated unit, the products of gates and values.
    pub output: Tensor<2>,
    /// A zero that was added to the input. The loss's gradient for the zero is its gradient for the input.
    #[cfg(feature = "autodiff")]
    zero: Option<Tensor<2>>,
}

#[cfg(feature = "autodiff")]
impl Watched {
    /// Returns the gradient for the input, `[rows, units]`, of the loss that `gradients` were computed for.
    /// Returns `None` if the loss does not depend on the layer, or was not computed on an autodiff device.
    pub fn gradient(&self, gradients: &Gradients) -> Option<Tensor<2>> {
        self.zero.as_ref()?.grad(gradients)
    }
}

/// Returns whether the network is being watched.
pub(crate) fn is_watching() -> bool {
    SEEN.with_borrow(Option::is_some)
}

/// Applies an activation while the network is watched.
pub(crate) fn through<const D: usize>(
    input: Tensor<D>,
    apply: impl FnOnce(Tensor<D>) -> Tensor<D>,
) -> Tensor<D> {
    #[cfg(feature = "autodiff")]
    let (input, zero) = with_zero(input);
    // A composed activation may itself consist of watched layers. Only the outer layer is recorded.
    let seen = SEEN.take();
    let given = rows(input.clone());
    let output = apply(input);
    if let Some(mut seen) = seen {
        seen.push(Watched {
            input: given,
            output: rows(output.clone()),
            #[cfg(feature = "autodiff")]
            zero,
        });
        SEEN.set(Some(seen));
    }
    output
}

/// Returns the dimension of a tensor's units.
fn units<const D: usize>() -> usize {
    if D < 4 { D - 1 } else { 1 }
}

/// Returns the tensor as `[rows, units]`, detached from any graph.
fn rows<const D: usize>(x: Tensor<D>) -> Tensor<2> {
    let x = x.without_autodiff().swap_dims(units::<D>(), D - 1);
    let dims = x.dims();
    reshaped(x, [dims[..D - 1].iter().product(), dims[D - 1]])
}

/// Returns the input plus a zero, and the zero, whose gradient is stored.
#[cfg(feature = "autodiff")]
fn with_zero<const D: usize>(x: Tensor<D>) -> (Tensor<D>, Option<Tensor<2>>) {
    let device = x.device();
    if !device.is_autodiff() {
        return (x, None);
    }
    let mut dims = x.dims();
    dims.swap(units::<D>(), D - 1);
    let zero = Tensor::zeros([dims[..D - 1].iter().product(), dims[D - 1]], (&device, x.dtype()));
    let zero = zero.require_grad();
    let added = reshaped(zero.clone(), dims).swap_dims(units::<D>(), D - 1);
    (x + added, Some(zero))
}

#[cfg(all(test, feature = "autodiff"))]
mod tests {
    use super::*;
    use crate::{
        Activation, ActivationLayer, Channels, GatedFeedForwardConfig, HiddenLayerConfig,
        PolyNormConfig,
    };
    use burn_core::module::Module;
    use burn_core::tensor::{Device, Int, Tolerance};

    fn numbers<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
        let count = shape.iter().product::<usize>() as i64;
        (Tensor::<1, Int>::arange(0..count, device).float() * 0.1 - 1.05).reshape(shape)
    }

    #[test]
    fn a_hidden_layer_gives_the_same_and_shows_what_its_activation_is_given() {
        let device = Device::default().autodiff();
        for activation in Activation::built_in() {
            if activation == Activation::Soi {
                continue;
            }
            let config = HiddenLayerConfig::new(4, 6).with_activation(activation.clone());
            let layer = config.init(&device);
            let plain = layer.forward(numbers([2, 3, 4], &device));
            let (output, seen) = watch(|| layer.forward(numbers([2, 3, 4], &device)));
            let tolerance = Tolerance::absolute(1e-6);
            output.clone().into_data().assert_approx_eq::<f32>(&plain.into_data(), tolerance);
            let [seen] = seen.try_into().unwrap();
            let given = layer.linear.forward(numbers([2, 3, 4], &device)).reshape([6, 6]);
            seen.input.into_data().assert_approx_eq::<f32>(&given.into_data(), tolerance);
            let gave = output.reshape([6, 6]).into_data();
            seen.output.into_data().assert_eq(&gave, true);
        }
    }

    #[test]
    fn gradients_are_those_for_the_inputs_also_of_a_frozen_network() {
        let device = Device::default().autodiff();
        let layers = [Activation::Gelu, Activation::Tanh].map(|activation| {
            HiddenLayerConfig::new(4, 4).with_activation(activation).init(&device)
        });
        for frozen in [false, true] {
            let [first, second] =
                layers.clone().map(|layer| if frozen { layer.freeze() } else { layer });
            let (loss, seen) = watch(|| {
                second.forward(first.forward(numbers([3, 4], &device))).powi_scalar(2).sum()
            });
            let gradients = loss.backward();
            // The expected gradient is computed by hand, from the second layer's input on.
            let given = seen[1].input.clone().autodiff().require_grad();
            let by_hand = Activation::Tanh.forward(given.clone()).powi_scalar(2).sum().backward();
            let expected = given.grad(&by_hand).unwrap();
            let got = seen[1].gradient(&gradients).unwrap();
            let tolerance = Tolerance::absolute(1e-6);
            got.clone().into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
            // The first layer's gradient follows from the second layer's weights and the first activation's
            // derivative.
            let back = got.matmul(second.linear.weight.val().without_autodiff().transpose());
            let given = seen[0].input.clone().autodiff().require_grad();
            let by_hand = (Activation::Gelu.forward(given.clone()) * back).sum().backward();
            let expected = given.grad(&by_hand).unwrap();
            let got = seen[0].gradient(&gradients).unwrap();
            got.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
        }
    }

    #[test]
    fn units_of_pictures_are_their_channels() {
        let device = Device::default().autodiff();
        let layer = ActivationLayer::Unit(crate::Unit::Relu);
        let x = numbers([2, 3, 2, 2], &device);
        let weights = numbers([2, 3, 2, 2], &device.clone().without_autodiff());
        let (y, seen) = watch(|| layer.forward(x.clone()));
        let rows = |x: Tensor<4>| x.permute([0, 3, 2, 1]).reshape([8, 3]).into_data();
        let gradients = (y.clone() * weights.clone()).sum().backward();
        seen[0].input.clone().into_data().assert_eq(&rows(x.clone().without_autodiff()), true);
        seen[0].output.clone().into_data().assert_eq(&rows(y.without_autodiff()), true);
        let slope = x.without_autodiff().greater_elem(0.0).float() * weights;
        seen[0].gradient(&gradients).unwrap().into_data().assert_eq(&rows(slope), true);
    }

    #[test]
    fn gates_are_seen_and_nothing_is_unless_watched() {
        let device = Device::default();
        let block = GatedFeedForwardConfig::new(4, 6).init(&device);
        let plain = block.forward(numbers([3, 4], &device)).into_data();
        let ((watched, inner), outer) = watch(|| {
            let inner = watch(|| block.forward(numbers([3, 4], &device)));
            let _ = ActivationLayer::Unit(crate::Unit::Relu).forward(numbers([3, 4], &device));
            (inner.0, inner.1)
        });
        watched.into_data().assert_approx_eq::<f32>(&plain, Tolerance::absolute(1e-6));
        assert_eq!((inner.len(), outer.len()), (1, 1));
        assert_eq!(inner[0].input.dims(), [3, 6]);
        assert!(!is_watching());
    }

    #[test]
    fn a_panic_ends_the_watch() {
        let fell = std::panic::catch_unwind(|| watch(|| panic!("on purpose")));
        assert!(fell.is_err() && !is_watching());
    }

    #[test]
    fn learnable_layers_are_seen_once() {
        let device = Device::default().autodiff();
        let layer = Activation::LearnableGelu.init(Channels::Last(4), &device);
        let (_, seen) = watch(|| layer.forward(numbers([3, 4], &device)));
        assert_eq!(seen.len(), 1);
        let layer = PolyNormConfig::new().init(&device);
        let (y, seen) = watch(|| layer.forward(numbers([3, 4], &device)));
        let [seen] = seen.try_into().unwrap();
        let gave = y.clone().without_autodiff().into_data();
        seen.output.clone().into_data().assert_eq(&gave, true);
        assert!(seen.gradient(&y.sum().backward()).is_some());
    }
}
