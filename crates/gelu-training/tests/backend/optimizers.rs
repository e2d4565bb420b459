//! Compares with PyTorch's optimisers in f64, whose weights `optimizers.py` writes to
//! `optimizers.csv`.

use super::sixteen_bits::recorded;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_optim::{LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource};
use gelu_training::{Adam, AdamConfig, AdamWConfig, EpsilonPlace, SgdConfig, SgdState};

const SIZE: usize = 5;
const STEPS: usize = 6;

/// Returns the weights after every step.
fn expected(optimizer: &str) -> Vec<Vec<f64>> {
    let lines = include_str!("optimizers.csv").lines();
    let rows = lines.filter_map(|line| line.strip_prefix(&format!("{optimizer},")));
    let rows = rows.map(|row| {
        let (_, weights) = row.split_once(',').unwrap();
        weights.split(' ').map(|weight| weight.parse().unwrap()).collect()
    });
    let rows: Vec<Vec<f64>> = rows.collect();
    assert_eq!(rows.len(), STEPS, "{optimizer}");
    rows
}

fn tensor(values: impl Iterator<Item = f64>, dtype: DType, device: &Device) -> Tensor<1> {
    let data = TensorData::new(values.collect::<Vec<f64>>(), [SIZE]).convert_dtype(dtype);
    Tensor::from_data(data, (device, dtype))
}

#[track_caller]
fn assert_near(found: &Tensor<1>, expected: &[f64], bound: f64) {
    let found: Vec<f64> = found.to_data().iter::<f64>().collect();
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= bound, "{found:?}, PyTorch has {expected:?}");
    }
}

/// Trains as the script does, and checks every step.
fn assert_trains_as_pytorchs<O: Optimizer>(name: &str, rate: LearningRate, optimizer: O) {
    let device = Device::default();
    for (dtype, bound) in [(DType::F64, 1e-13), (DType::F32, 1e-6)] {
        if !device.supports_dtype(dtype) {
            println!("{device:?} has no {dtype:?}");
            continue;
        }
        let mut weight = tensor((0..SIZE).map(|i| (i as f64).cos()), dtype, &device);
        let mut state = None;
        for (step, expected) in (1..).zip(expected(name)) {
            let gradient = (0..SIZE).map(|i| (1.7 * step as f64 + i as f64).sin() / (1 + i) as f64);
            let gradient = tensor(gradient, dtype, &device);
            (weight, state) = optimizer.step(rate, weight, gradient, state);
            assert_near(&weight, &expected, bound);
        }
    }
}

#[test]
fn adam_steps_as_pytorchs() {
    assert_trains_as_pytorchs("adam", 0.1, AdamConfig::new().build());
    let config = AdamConfig::new().with_beta_1(0.5).with_beta_2(0.9).with_epsilon(1e-3);
    assert_trains_as_pytorchs("adam-other-betas", 0.01, config.build());
}

#[test]
fn decays_and_greatest_moments_are_pytorchs() {
    let adam = AdamConfig::new();
    assert_trains_as_pytorchs("adam-penalty", 0.1, adam.clone().with_weight_decay(0.05).build());
    let amsgrad = adam.with_beta_2(0.9).with_amsgrad(true);
    assert_trains_as_pytorchs("amsgrad", 0.1, amsgrad.build());
    let adamw = AdamWConfig::new();
    assert_trains_as_pytorchs("adamw", 0.1, adamw.build());
    let amsgrad = adamw.with_beta_2(0.9).with_amsgrad(true).with_weight_decay(0.2);
    assert_trains_as_pytorchs("adamw-amsgrad", 0.1, amsgrad.build());
}

#[test]
fn adam_with_epsilon_inside_the_root_steps_as_its_definition() {
    let config = AdamConfig::new().with_epsilon(1e-2).with_epsilon_place(EpsilonPlace::Inside);
    assert_trains_as_pytorchs("adam-inside", 0.1, config.build());
}

#[test]
fn sgd_steps_as_pytorchs() {
    assert_trains_as_pytorchs("sgd", 0.1, SgdConfig::new().build());
    let config = SgdConfig::new().with_weight_decay(0.05);
    assert_trains_as_pytorchs("sgd-nesterov", 0.1, config.clone().with_nesterov(true).build());
    let dampened = config.clone().with_dampening(0.3).build();
    assert_trains_as_pytorchs("sgd-dampened", 0.1, dampened);
    assert_trains_as_pytorchs("sgd-plain", 0.1, config.with_momentum(0.0).build());
}

/// Tests a weight with the reverse memory order, as after a transposition.
#[test]
fn transposed_weights_and_gradients_are_stepped_element_by_element() {
    let device = Device::default();
    let ramp = |shape: [usize; 2]| {
        Tensor::<1, burn::tensor::Int>::arange(0..6, &device).float().reshape::<2, _>(shape)
    };
    let adam = AdamConfig::new().build();
    let (turned, _) = adam.step(0.1, ramp([2, 3]).transpose(), ramp([3, 2]) - 2.5, None);
    let (plain, _) = adam.step(0.1, ramp([2, 3]), (ramp([3, 2]) - 2.5).transpose(), None);
    turned.into_data().assert_eq(&plain.transpose().into_data(), true);
}

/// A step does not change a gradient or a state that another tensor shares.
#[test]
fn shared_tensors_are_not_written_to() {
    let device = Device::default();
    let gradient = tensor([0.5; SIZE].into_iter(), DType::F32, &device);
    let weight = tensor([1.0; SIZE].into_iter(), DType::F32, &device);
    let sgd = SgdConfig::new().build();
    let (_, state) = sgd.step(0.1, weight.clone(), gradient.clone(), None);
    let kept = state.clone().unwrap().velocity;
    sgd.step(0.1, weight.clone(), gradient.clone(), state);
    assert_near(&gradient, &[0.5; SIZE], 0.0);
    assert_near(&weight, &[1.0; SIZE], 0.0);
    assert_near(&kept, &[0.5; SIZE], 0.0);
}

#[test]
fn velocity_is_recorded_under_burns_name_and_read_back() {
    let device = Device::default();
    let velocity = tensor((0..SIZE).map(|i| i as f64), DType::F32, &device);
    let mut sink = StateSink::default();
    SgdState { velocity: velocity.clone() }.state_flatten("7", &mut sink);
    let names: Vec<&str> = sink.tensors.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["7.momentum.velocity"]);
    let mut source = StateSource::default();
    sink.tensors.into_iter().for_each(|(name, data)| source.insert_tensor(name, data));
    let read = SgdState::<1>::state_unflatten("7", &mut source, &device).unwrap();
    read.velocity.into_data().assert_eq(&velocity.into_data(), true);
    assert!(SgdState::<1>::state_unflatten("8", &mut source, &device).is_none());
}

/// Burn's own optimisers and these load each other's records, continue in the same way, and clip in
/// the same way.
#[test]
fn records_are_burns() {
    use burn::module::{Module, Param};
    use burn::optim::{decay::WeightDecayConfig, momentum::MomentumConfig};
    use burn_optim::GradientsParams;
    use burn_optim::grad_clipping::GradientClippingConfig;

    #[derive(Module, Debug)]
    struct Weight {
        weight: Param<Tensor<1>>,
    }

    let device = Device::default().autodiff();
    // The weights have both signs, and steps lead towards 0 and away from it.
    let step = |optimizer: &mut ModuleOptimizer, model: Weight| {
        let weight = model.weight.val();
        let loss = ((weight.clone() - 0.6) * (weight - 0.3)).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        optimizer.step(0.05, model, gradients)
    };
    let clipping = Some(GradientClippingConfig::Norm(0.7));
    let dampened = |by| MomentumConfig::new().with_dampening(by).with_nesterov(true);
    let penalty = Some(WeightDecayConfig::new(0.1));
    let adam = (AdamConfig::new(), burn_optim::AdamConfig::new().with_epsilon(1e-8));
    let adamw = (
        AdamWConfig::new().with_weight_decay(0.5),
        burn_optim::AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.5),
    );
    let sgd = (
        SgdConfig::new().with_nesterov(true),
        burn_optim::SgdConfig::new().with_momentum(Some(dampened(0.0))),
    );
    let pairs: [(ModuleOptimizer, ModuleOptimizer); 8] = [
        (adam.0.init(), adam.1.init()),
        (
            adam.0.clone().with_weight_decay(0.1).with_grad_clipping(clipping.clone()).init(),
            adam.1
                .clone()
                .with_weight_decay(penalty.clone())
                .with_grad_clipping(clipping.clone())
                .init(),
        ),
        (adam.0.with_amsgrad(true).init(), adam.1.with_amsgrad(true).init()),
        (adamw.0.init(), adamw.1.init()),
        (
            adamw.0.clone().with_amsgrad(true).with_grad_clipping(clipping.clone()).init(),
            adamw.1.clone().with_amsgrad(true).with_grad_clipping(clipping.clone()).init(),
        ),
        (
            adamw.0.with_cautious_weight_decay(true).init(),
            adamw.1.with_cautious_weight_decay(true).init(),
        ),
        (sgd.0.init(), sgd.1.init()),
        (
            sgd.0
                .with_dampening(0.2)
                .with_weight_decay(0.1)
                .with_grad_clipping(clipping.clone())
                .init(),
            burn_optim::SgdConfig::new()
                .with_momentum(Some(dampened(0.2)))
                .with_weight_decay(penalty)
                .with_gradient_clipping(clipping)
                .init(),
        ),
    ];
    for (place, (ours, burns)) in pairs.into_iter().enumerate() {
        for (mut first, second) in [(ours.clone(), burns.clone()), (burns, ours)] {
            let start = Tensor::from_floats([1.0, -0.5, 0.25], &device);
            let mut one = Weight { weight: Param::from_tensor(start) };
            for _ in 0..3 {
                one = step(&mut first, one);
            }
            let (mut two, mut second) = (one.clone(), second.load_record(first.to_record()));
            for _ in 0..3 {
                (one, two) = (step(&mut first, one), step(&mut second, two));
                let [one, two] = [&one, &two].map(|model| model.weight.val().into_data());
                let pairs = one.iter::<f64>().zip(two.iter::<f64>());
                let off = pairs.map(|(one, two)| (one - two).abs()).fold(0.0, f64::max);
                // Burn stores its decays in f32.
                assert!(off < 1e-5, "{place}: {one} {two}");
            }
        }
    }
}

/// A record of Adam has no greatest moment.
#[test]
fn amsgrad_goes_on_from_a_record_of_adams() {
    let device = Device::default();
    let [weight, gradient] = [1.0, 0.5].map(|x| tensor([x; SIZE].into_iter(), DType::F32, &device));
    let (weight, state) = AdamConfig::new().build().step(0.1, weight, gradient.clone(), None);
    let state = state.unwrap();
    assert!(state.max_moment_2.is_none());
    let amsgrad = AdamConfig::new().with_amsgrad(true).build();
    let (_, state) = amsgrad.step(0.1, weight, gradient, Some(state));
    let state = state.unwrap();
    let greatest = state.max_moment_2.unwrap().into_data();
    greatest.assert_eq(&state.moment_2.into_data(), true);
}

/// The gradients 10, 0 and 0 give the first moments 1, 0.9 and 0.81, the second ones 10, 9 and 8.1, and so the greatest
/// is 10 whatever comes after the first step.
#[test]
fn the_greatest_moment_outlives_a_record_and_a_move() {
    let device = Device::default();
    let of = |x: f64| tensor([x; SIZE].into_iter(), DType::F32, &device);
    let amsgrad = AdamConfig::new().with_beta_2(0.9).with_amsgrad(true).build();
    let (weight, state) = amsgrad.step(0.1, of(1.0), of(10.0), None);
    let (weight, state) = amsgrad.step(0.1, weight, of(0.0), state);
    let before = weight.to_data().iter::<f64>().next().unwrap();
    let corrected = |moment: f64| moment / (1.0 - 0.9f64.powi(3));
    let expected = before - 0.1 * corrected(0.81) / corrected(10.0).sqrt();
    for state in [recorded(state.as_ref().unwrap()), Adam::to_device(state.unwrap(), &device)] {
        let (weight, _) = amsgrad.step(0.1, weight.clone(), of(0.0), Some(state));
        assert_near(&weight, &[expected; SIZE], 1e-6);
    }
}

#[test]
#[should_panic(expected = "has to be in [0, 1), got 1")]
fn impossible_momentum_is_refused() {
    SgdConfig::new().with_momentum(1.0).build();
}

#[test]
#[should_panic(expected = "decays of Adam's moments have to be in [0, 1), got 0.9 and 1.5")]
fn impossible_decay_is_refused() {
    AdamConfig::new().with_beta_2(1.5).build();
}

#[test]
#[should_panic(expected = "weight decay has to be finite and not negative, got -0.1")]
fn impossible_weight_decay_is_refused() {
    AdamWConfig::new().with_weight_decay(-0.1).build();
}
