use super::Channels;
use super::width::{cast, widened};
use crate::CustomActivation;
use alloc::vec::Vec;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::Initializer;

/// A custom function with learnable constants
/// ([`Activation::custom_learned`](crate::Activation::custom_learned)). It computes 16-bit types in f32.
/// Create it with [`Activation::init`](crate::Activation::init).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct LearnedActivation {
    /// The constants, `[channels]` each.
    pub constants: Vec<Param<Tensor<1>>>,
    #[module(skip)]
    pub(super) function: CustomActivation,
    #[module(skip)]
    pub(super) channels: Channels,
}

impl LearnedActivation {
    pub(super) fn new(function: CustomActivation, channels: Channels, device: &Device) -> Self {
        let count = channels.count_for("a learned activation");
        let constant = |start: &f64| Initializer::Constant { value: *start }.init([count], device);
        Self { constants: function.starts().iter().map(constant).collect(), function, channels }
    }

    /// Applies the function elementwise. With a `value`, `input` is the gate of a gated unit.
    ///
    /// # Shapes
    ///
    /// - input, value and output: any with [`Channels::Shared`], `[batch, channels, ...]` with
    ///   [`Channels::First`], `[..., channels]` with [`Channels::Last`]
    ///
    /// # Panics
    ///
    /// If the input has a different number of channels, or the function returns another number of values
    /// than it received.
    pub fn forward<const D: usize>(&self, input: Tensor<D>, value: Option<Tensor<D>>) -> Tensor<D> {
        let dims = input.dims();
        let shape = self.channels.broadcast(dims, "a learned activation");
        let (dtype, input) = (input.dtype(), widened(input));
        let computed_in = input.dtype();
        let constant = |constant: &Param<Tensor<1>>| {
            cast(constant.val(), computed_in).reshape(shape).expand(dims)
        };
        let constants = || self.constants.iter().map(constant).collect();
        cast(self.function.with(input, value.map(widened), constants), dtype)
    }
}

impl ModuleDisplay for LearnedActivation {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("name", &alloc::string::String::from(self.function.name()))
            .add("channels", &alloc::format!("{:?}", self.channels))
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Activation, ActivationLayer, Channels};
    use alloc::vec::Vec;
    use burn_core::module::Module;
    use burn_core::tensor::{DType, Device, FloatDType, Tensor};

    /// Returns the activation `b·x + c`.
    fn line() -> Activation {
        Activation::custom_learned("line", &[2.0, -1.0], |x, c| x * c[0].clone() + c[1].clone())
    }

    #[test]
    fn every_channel_learns_its_own_constants() {
        let device = Device::default().autodiff();
        let layer = line().init(Channels::Last(2), &device);
        // Dimension 1 also has length 2, so that a wrong dimension would change the result without an
        // error.
        let x = Tensor::<3>::from_floats([[[1.0, 2.0], [3.0, 4.0]]], &device);
        let y = layer.forward(x.clone());
        y.clone().into_data().assert_eq(&line().forward(x).into_data(), true);
        assert_eq!(y.clone().into_data().try_to_vec::<f32>().unwrap(), [1.0, 3.0, 5.0, 7.0]);
        let gradients = y.sum().backward();
        let ActivationLayer::Learned(learned) = &layer else { panic!("{layer}") };
        let of = |index: usize| {
            let gradient = learned.constants[index].val().grad(&gradients).unwrap();
            gradient.into_data().try_to_vec::<f32>().unwrap()
        };
        assert_eq!((of(0), of(1)), (vec![4.0, 6.0], vec![2.0, 2.0]));
        assert_eq!(
            alloc::format!("{layer}"),
            "ActivationLayer {activation: line, channels: Last(2), params: 4}"
        );
        assert_eq!(layer.activation(), layer.clone().valid().activation());
    }

    #[test]
    fn constants_are_recorded() {
        let device = Device::default();
        let other =
            Activation::custom_learned("line", &[7.0, 3.0], |x, c| x * c[0].clone() + c[1].clone());
        let trained = other.init(Channels::Shared, &device);
        let fresh = line().init(Channels::Shared, &device);
        let x = Tensor::<1>::from_floats([1.0, 2.0], &device);
        let y = fresh.load_record(trained.into_record()).forward(x).into_data();
        assert_eq!(y.try_to_vec::<f32>().unwrap(), [10.0, 17.0]);
    }

    #[test]
    fn a_gate_is_given_both_halves_and_1_where_there_is_one() {
        let device = Device::default();
        let of = |values: [f32; 2]| Tensor::<1>::from_floats(values, &device);
        let gate =
            Activation::custom_gate("gate", &[10.0], |gate, value, c| gate - value * c[0].clone());
        let layer = gate.init(Channels::Shared, &device);
        let y = layer.gated(of([1.0, 2.0]), of([3.0, 4.0])).into_data();
        assert_eq!(y.try_to_vec::<f32>().unwrap(), [-29.0, -38.0]);
        for y in [layer.forward(of([1.0, 2.0])), gate.forward(of([1.0, 2.0]))] {
            assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [-9.0, -8.0]);
        }
        // If the activation is not a gate, its result is multiplied by the value.
        for activation in [line(), Activation::custom("line", |x| x * 2.0 - 1.0)] {
            let layer = activation.init(Channels::Shared, &device);
            let y = layer.gated(of([1.0, 2.0]), of([3.0, 4.0])).into_data();
            assert_eq!(y.try_to_vec::<f32>().unwrap(), [3.0, 12.0]);
        }
    }

    #[test]
    fn an_empty_tensor_is_given_back() {
        let device = Device::default();
        let layer = line().init(Channels::Last(2), &device);
        let y = layer.forward(Tensor::<2>::zeros([0, 2], &device));
        // The test reads the data, so that nothing else is fused with the operation: Burn 0.22.1
        // computes zeros for fused operations.
        assert_eq!(y.into_data().shape().as_slice(), [0, 2]);
    }

    #[test]
    fn sixteen_bits_are_computed_in_f32() {
        let device = Device::default();
        let layer = line().init(Channels::Last(2), &device);
        for dtype in [FloatDType::F16, FloatDType::BF16] {
            if !device.supports_dtype(DType::from(dtype)) {
                std::eprintln!("skipped: the device has no {dtype:?}");
                continue;
            }
            let y = layer.forward(Tensor::<2>::ones([1, 2], &device).cast(dtype));
            assert_eq!(y.dtype(), DType::from(dtype));
            let y: Vec<f32> = y.into_data().iter().collect();
            assert_eq!(y, [1.0, 1.0], "{dtype:?}");
        }
    }

    #[test]
    #[should_panic(expected = "a learned activation of 3 channels got a tensor of [2, 2]")]
    fn other_channels_are_refused() {
        let device = Device::default();
        line().init(Channels::Last(3), &device).forward(Tensor::<2>::ones([2, 2], &device));
    }
}
