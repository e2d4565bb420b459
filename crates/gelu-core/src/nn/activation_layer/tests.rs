use super::*;
use alloc::string::String;
use alloc::vec::Vec;
use burn_core::module::{Module, ModuleVisitor, Param};
use burn_nn::SwiGluConfig;
use burn_nn::activation::Activation as BurnActivation;

#[test]
fn every_activation_has_a_layer_that_computes_it() {
    let device = Device::default();
    let x = Tensor::<2>::from_floats([[-1.0, 0.5, 2.0]], &device);
    let own = Activation::custom("square", |x| x.clone() * x);
    for activation in Activation::built_in().into_iter().chain([own]) {
        let y = activation.init(Channels::Shared, &device).forward(x.clone());
        y.into_data().assert_eq(&activation.forward(x.clone()).into_data(), true);
    }
}

#[test]
fn every_layer_takes_channels_first_and_last_and_empty_tensors() {
    let device = Device::default();
    let x = Tensor::<1, burn_core::tensor::Int>::arange(0..24, &device).float() * 0.3 - 3.0;
    let x: Tensor<3> = x.reshape([2, 3, 4]);
    for activation in Activation::built_in() {
        let expected = activation.forward(x.clone()).into_data();
        for channels in [Channels::Shared, Channels::First(3), Channels::Last(4)] {
            let layer = activation.init(channels, &device);
            let y = layer.forward(x.clone()).into_data();
            y.assert_approx_eq::<f32>(&expected, burn_core::tensor::Tolerance::absolute(1e-6));
            let empty = Tensor::<3>::zeros([0, 3, 4], &device);
            assert_eq!(layer.forward(empty).dims(), [0, 3, 4]);
        }
    }
}

#[test]
fn a_0_in_a_shape_is_a_0() {
    let device = Device::default().autodiff();
    let gate =
        Activation::custom_gate("gate", &[0.5], |gate, value, c| gate * c[0].clone() - value);
    let own = Activation::custom("square", |x| x.clone() * x);
    for activation in Activation::built_in().into_iter().chain([own, gate]) {
        // Burn's `reshape` reads a 0 as "keep this dimension".
        for (shape, channels) in [
            ([2, 0, 4], Channels::Last(4)),
            ([0, 3, 4], Channels::Last(4)),
            ([2, 3, 0], Channels::First(3)),
            ([2, 0, 4], Channels::Shared),
        ] {
            let layer = activation.init(channels, &device);
            let x = || Tensor::<3>::ones(shape, &device).require_grad();
            let (input, value) = (x(), x());
            for y in [layer.forward(input.clone()), layer.gated(input.clone(), value)] {
                assert_eq!(y.dims(), shape, "{activation}");
                let gradients = y.sum().backward();
                let gradient = input.grad(&gradients).map(|gradient| gradient.dims());
                assert_eq!(gradient, Some(shape), "{activation}");
            }
            let (y, seen) = crate::watch(|| layer.forward(x()));
            assert_eq!((y.dims(), seen.len()), (shape, 1), "{activation}");
        }
        let plain = activation.forward(Tensor::<3>::ones([2, 0, 4], &device));
        assert_eq!(plain.dims(), [2, 0, 4]);
    }
}

#[test]
fn whatever_is_learned_takes_inputs_of_every_type() {
    use burn_core::tensor::{DType, FloatDType};
    let device = Device::default();
    let own = Activation::custom_learned("scaled", &[2.0], |x, c| x * c[0].clone());
    for dtype in [FloatDType::F64, FloatDType::F16, FloatDType::BF16] {
        if !device.supports_dtype(DType::from(dtype)) {
            std::eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        let x = Tensor::<2>::from_floats([[-1.5, 0.25, 2.0]], &device);
        for activation in [
            Activation::LearnableGelu,
            Activation::LearnableSwish,
            Activation::Xielu,
            Activation::PRelu,
            own.clone(),
        ] {
            // The parameters are in f32.
            let layer = activation.init(Channels::Last(3), &device);
            let expected = layer.forward(x.clone()).into_data();
            let y = layer.forward(x.clone().cast(dtype));
            assert_eq!(y.dtype(), DType::from(dtype), "{activation}");
            let places = if dtype == FloatDType::F64 { 1e-6 } else { 8e-3 };
            let tolerance = burn_core::tensor::Tolerance::relative(places).set_absolute(places);
            y.cast(FloatDType::F32).into_data().assert_approx_eq::<f32>(&expected, tolerance);
        }
        let layer = crate::PolyNormConfig::new().init(&device);
        assert_eq!(layer.forward(x.cast(dtype)).dtype(), DType::from(dtype));
    }
}

#[test]
#[should_panic(expected = "a PReLU needs at least one channel, got Last(0)")]
fn no_channels_are_refused() {
    Activation::PRelu.init(Channels::Last(0), &Device::default());
}

#[test]
fn prelu_learns_a_slope_for_each_feature() {
    let device = Device::default().autodiff();
    let layer = Activation::PRelu.init(Channels::Last(4), &device);
    // Dimension 1 also has length 4, so that a wrong dimension would change the result without an
    // error.
    let x = Tensor::<3>::ones([2, 4, 4], &device).neg();
    let y = layer.forward(x).slice([0..2, 0..4, 1..2]);
    let gradients = y.sum().backward();
    let ActivationLayer::PRelu(prelu, _) = &layer else { panic!("{layer}") };
    let slopes = prelu.alpha.val().grad(&gradients).unwrap();
    assert_eq!(slopes.into_data().try_to_vec::<f32>().unwrap(), [0.0, -8.0, 0.0, 0.0]);
}

#[test]
#[should_panic(expected = "a PReLU of 3 channels got a tensor of [2, 3, 4]: its channels are \
                           the last dimension (Channels::First after a convolution)")]
fn channels_of_another_dimension_are_refused() {
    let layer = Activation::PRelu.init(Channels::Last(3), &Device::default());
    layer.forward(Tensor::<3>::ones([2, 3, 4], &Device::default()));
}

#[test]
fn only_the_learnable_ones_have_parameters() {
    for activation in Activation::built_in() {
        let count = activation.init(Channels::Last(5), &Device::default()).num_params();
        let expected = match activation {
            Activation::LearnableGelu | Activation::Xielu => 10,
            Activation::LearnableSwish | Activation::PRelu => 5,
            _ => 0,
        };
        assert_eq!(count, expected, "{activation}");
    }
}

/// Returns the names of the layer's parameters in records.
fn paths(layer: &ActivationLayer) -> Vec<String> {
    struct Paths(Vec<String>, Vec<String>);
    impl ModuleVisitor for Paths {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.0.push(name.into());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.0.pop();
        }

        fn visit_float<const D: usize>(&mut self, _param: &Param<Tensor<D>>) {
            self.1.push(self.0.join("."));
        }
    }
    let mut visitor = Paths(Vec::new(), Vec::new());
    layer.visit(&mut visitor);
    visitor.1
}

#[test]
fn what_is_learned_is_recorded_under_the_names_of_its_module() {
    let device = Device::default();
    let learned = Activation::custom_learned("scaled", &[2.0], |x, c| x * c[0].clone());
    for (activation, expected) in [
        (Activation::LearnableGelu, ["mean", "log_standard_deviation"].as_slice()),
        (Activation::LearnableSwish, &["beta"]),
        (Activation::Xielu, &["alpha_p", "alpha_n"]),
        (Activation::PRelu, &["alpha"]),
        (learned, &["constants.0"]),
        (Activation::Gelu, &[]),
    ] {
        assert_eq!(paths(&activation.init(Channels::Last(3), &device)), expected, "{activation}");
    }
}

#[test]
fn a_record_of_the_module_loads_into_the_layer_and_back() {
    let device = Device::default();
    let x = Tensor::<2>::from_floats([[-1.0, 0.5, 2.0]], &device);
    let config = XieluConfig::new().with_channels(Channels::Last(3));
    let trained = config.clone().with_alpha_p(1.5).with_alpha_n(2.5).init(&device);
    let expected = trained.forward(x.clone()).into_data();
    let fresh = Activation::Xielu.init(Channels::Last(3), &device);
    assert_ne!(fresh.forward(x.clone()).into_data(), expected);
    let layer = fresh.load_record(trained.into_record());
    layer.forward(x.clone()).into_data().assert_eq(&expected, true);
    let back = config.init(&device).load_record(layer.into_record());
    back.forward(x).into_data().assert_eq(&expected, true);
}

/// Returns whether all of the layer's parameters are trained.
fn trains(layer: &ActivationLayer) -> bool {
    struct Visitor(bool);
    impl ModuleVisitor for Visitor {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0 &= param.val().is_require_grad();
        }
    }
    let mut visitor = Visitor(true);
    layer.visit(&mut visitor);
    visitor.0
}

#[test]
fn what_a_module_can_do_reaches_the_module_within() {
    let device = Device::default();
    let x = Tensor::<2>::ones([8, 64], &device.clone().autodiff());
    let soi = Activation::Soi.init(Channels::Shared, &device).train();
    let drawn = |layer: &ActivationLayer| {
        layer.forward(x.clone()).into_data().iter::<f32>().any(|y| y == 0.0)
    };
    assert!(drawn(&soi) && !drawn(&soi.valid()) && !drawn(&soi.clone().freeze()));
    assert!(drawn(&soi.freeze().unfreeze().train()));
    let burns = BurnActivation::from(PReluConfig::new().init(&device));
    for layer in [
        Activation::LearnableGelu.init(Channels::Last(64), &device),
        Activation::LearnableSwish.init(Channels::Last(64), &device),
        Activation::Xielu.init(Channels::Last(64), &device),
        Activation::PRelu.init(Channels::Last(64), &device),
        ActivationLayer::from(burns),
    ] {
        assert_eq!(layer.devices(), core::slice::from_ref(&device));
        let trained = layer.train();
        assert!(trains(&trained) && !trains(&trained.valid()), "{trained}");
        assert!(!trains(&trained.clone().freeze()) && trains(&trained.clone().freeze().unfreeze()));
        assert!(trains(&trained.fork(&device)));
    }
}

#[test]
fn layers_of_burns_keep_weights_and_names_in_records() {
    let device = Device::default();
    let x = Tensor::<2>::from_floats([[-1.0, 0.5, 2.0]], &device);
    let prelu = |at| PReluConfig::new().with_num_parameters(3).with_alpha(at).init(&device);
    let swiglu = || SwiGluConfig::new(3, 3).init(&device);
    let layers: [[BurnActivation; 2]; 2] =
        [[prelu(0.75).into(), prelu(0.0).into()], [swiglu().into(), swiglu().into()]];
    for [burns, others] in layers {
        let expected = burns.forward(x.clone()).into_data();
        let same = |y: Tensor<2>| y.into_data().assert_eq(&expected, true);
        let layer = ActivationLayer::from(burns.clone());
        assert!(layer.activation().is_none() && layer.unit().is_none());
        same(layer.forward(x.clone()));
        let loaded = ActivationLayer::from(others.clone()).load_record(burns.into_record());
        same(loaded.forward(x.clone()));
        same(others.load_record(layer.into_record()).forward(x.clone()));
    }
}

#[test]
fn display_names_the_activation_and_its_channels() {
    let device = Device::default();
    let shown = |layer: ActivationLayer| layer.to_string();
    let init = |activation: Activation| shown(activation.init(Channels::Last(2), &device));
    assert_eq!(init(Activation::Elu { alpha: 0.5 }), "ActivationLayer {activation: elu:0.5}");
    assert_eq!(init(Activation::custom("square", |x| x)), "ActivationLayer {activation: square}");
    assert_eq!(init(Activation::Soi), "ActivationLayer {activation: soi}");
    assert_eq!(
        init(Activation::LearnableGelu),
        "ActivationLayer {activation: learnable-gelu, channels: Last(2), params: 4}"
    );
    assert_eq!(
        init(Activation::LearnableSwish),
        "ActivationLayer {activation: learnable-swish, channels: Last(2), params: 2}"
    );
    assert_eq!(
        init(Activation::Xielu),
        "ActivationLayer {activation: xielu, channels: Last(2), params: 4}"
    );
    assert_eq!(
        init(Activation::PRelu),
        "ActivationLayer {activation: prelu, channels: Last(2), params: 2}"
    );
    let swiglu = BurnActivation::from(SwiGluConfig::new(2, 3).init(&device));
    assert_eq!(shown(swiglu.into()), "ActivationLayer {activation: SwiGlu, params: 12}");
}
