//! Compares optimisers of 16-bit parameters with the same steps in f64, in which only the parameter is
//! rounded.

use burn::tensor::{DType, Device, Tensor, TensorData, bf16, f16};
use burn_optim::{Optimizer, RecordState, StateSink, StateSource};
use gelu_training::{AdamConfig, AdamState, EpsilonPlace, SgdConfig, SgdState};

const SIZE: usize = 6;
const STEPS: usize = 1_000;
const RATE: f64 = 0.03;

/// Sizes of gradients, from those that vanish to those that overflow when squared.
const GRADIENTS: [f64; 5] = [0.0, 1e-8, 1e-3, 0.5, 100.0];

/// A 16-bit type, and the spacing of its numbers from 1 on.
#[derive(Clone, Copy, Debug)]
struct Narrow {
    dtype: DType,
    spacing: f64,
}

impl Narrow {
    fn of(device: &Device) -> impl Iterator<Item = Self> {
        let types = [(DType::F16, 2f64.powi(-10)), (DType::BF16, 2f64.powi(-7))];
        types.into_iter().filter_map(move |(dtype, spacing)| {
            if !device.supports_dtype(dtype) {
                println!("skipped: {device:?} has no {dtype:?}");
                return None;
            }
            Some(Self { dtype, spacing })
        })
    }

    fn rounded(self, value: f64) -> f64 {
        match self.dtype {
            DType::F16 => f16::from_f64(value).to_f64(),
            _ => bf16::from_f64(value).to_f64(),
        }
    }

    fn tensor(self, values: [f64; SIZE], device: &Device) -> Tensor<1> {
        let data = TensorData::new(values.to_vec(), [SIZE]).convert_dtype(self.dtype);
        Tensor::from_data(data, (device, self.dtype))
    }
}

fn numbers(tensor: &Tensor<1>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// Returns a gradient of this size. Its sign and fraction change from step to step, except for the
/// first weight, whose gradient is constant.
fn gradient(size: f64, step: usize) -> [f64; SIZE] {
    std::array::from_fn(|i| match i {
        0 => size,
        _ => size * (0.7 * step as f64 * i as f64 + i as f64).sin(),
    })
}

/// Computes the same steps in f64, and compares. `update` receives the step, a weight's gradient and
/// its moments, and returns the number to subtract from the weight.
fn assert_steps_as_in_f64<O: Optimizer, const M: usize>(
    narrow: Narrow,
    size: f64,
    optimizer: &O,
    moments_of: impl Fn(&O::State<1>) -> [Tensor<1>; M],
    update: impl Fn(usize, f64, &mut [f64; M]) -> f64,
) {
    let device = Device::default();
    let mut exact: [f64; SIZE] = std::array::from_fn(|i| narrow.rounded((i as f64).cos()));
    let (mut moments, mut largest) = ([[0.0; M]; SIZE], exact.map(f64::abs));
    let (mut weight, mut state) = (narrow.tensor(exact, &device), None);
    for step in 1..=STEPS {
        let gradient = gradient(size, step);
        (weight, state) = optimizer.step(RATE, weight, narrow.tensor(gradient, &device), state);
        for i in 0..SIZE {
            let change = update(step, narrow.rounded(gradient[i]), &mut moments[i]);
            exact[i] = narrow.rounded(exact[i] - change);
            largest[i] = largest[i].max(exact[i].abs());
        }
    }
    let what = format!("{:?}, gradients of {size:e}", narrow.dtype);
    assert_eq!(weight.dtype(), narrow.dtype);
    for (i, found) in numbers(&weight).into_iter().enumerate() {
        // A sum next to a tie may be rounded in the other direction, once or twice in all these steps.
        let off = (found - exact[i]).abs();
        let allowed = 2.0 * narrow.spacing * largest[i];
        assert!(off <= allowed, "{what}, weight {i}: {found}, not {}", exact[i]);
    }
    for (m, found) in moments_of(&state.unwrap()).iter().enumerate() {
        assert_eq!(found.dtype(), DType::F32, "{what}");
        let largest = moments.iter().map(|of_one| of_one[m].abs()).fold(0.0, f64::max);
        for (i, found) in numbers(found).into_iter().enumerate() {
            let (exact, allowed) = (moments[i][m], 1e-4 * largest);
            assert!(
                (found - exact).abs() <= allowed,
                "{what}, moment {m} of {i}: {found}, {exact}"
            );
        }
    }
}

#[test]
fn adam_steps_16_bit_weights_as_in_f64() {
    for narrow in Narrow::of(&Device::default()) {
        for size in GRADIENTS {
            for place in [EpsilonPlace::Outside, EpsilonPlace::Inside] {
                let adam = AdamConfig::new().with_epsilon_place(place).build();
                let moments =
                    |state: &AdamState<1>| [&state.moment_1, &state.moment_2].map(Clone::clone);
                assert_steps_as_in_f64(narrow, size, &adam, moments, |step, g, [m, v]| {
                    *m = 0.9 * *m + 0.1 * g;
                    *v = 0.999 * *v + 0.001 * g * g;
                    let mean = *m / (1.0 - 0.9f64.powi(step as i32));
                    let square = *v / (1.0 - 0.999f64.powi(step as i32));
                    RATE * mean
                        / match place {
                            EpsilonPlace::Outside => square.sqrt() + 1e-8,
                            EpsilonPlace::Inside => (square + 1e-8).sqrt(),
                        }
                });
            }
        }
    }
}

#[test]
fn sgd_steps_16_bit_weights_as_in_f64() {
    for narrow in Narrow::of(&Device::default()) {
        for size in GRADIENTS {
            let sgd = SgdConfig::new().build();
            let velocity = |state: &SgdState<1>| [state.velocity.clone()];
            assert_steps_as_in_f64(narrow, size, &sgd, velocity, |_, g, [v]| {
                *v = 0.9 * *v + g;
                RATE * *v
            });
        }
    }
}

/// Returns the state after a round trip through a record, whatever the device's default type is.
pub(crate) fn recorded<S: RecordState>(state: &S) -> S {
    let mut sink = StateSink::default();
    state.state_flatten("7", &mut sink);
    let mut source = StateSource::new(sink.scalars.into_iter().collect());
    sink.tensors.into_iter().for_each(|(name, data)| source.insert_tensor(name, data));
    S::state_unflatten("7", &mut source, &Device::default()).unwrap()
}

#[test]
fn moments_are_read_back_to_the_last_digit() {
    let device = Device::default();
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        if !device.supports_dtype(dtype) {
            println!("skipped: {device:?} has no {dtype:?}");
            continue;
        }
        let tensor = |scale: f64| {
            let values: Vec<f64> = (1..=SIZE).map(|i| scale / i as f64).collect();
            let data = TensorData::new(values, [SIZE]).convert_dtype(dtype);
            Tensor::<1>::from_data(data, (&device, dtype))
        };
        let (adam, sgd) = (AdamConfig::new().build(), SgdConfig::new().build());
        let (weight, of_adam) = adam.step(0.1, tensor(1.0), tensor(1e-3), None);
        let (_, of_sgd) = sgd.step(0.1, tensor(1.0), tensor(1e-3), None);
        let (of_adam, of_sgd) = (of_adam.unwrap(), of_sgd.unwrap());
        let (again, sgd_again) = (recorded(&of_adam), recorded(&of_sgd));
        assert_eq!(again.time, 1);
        for (before, after) in [
            (&of_adam.moment_1, &again.moment_1),
            (&of_adam.moment_2, &again.moment_2),
            (&of_sgd.velocity, &sgd_again.velocity),
        ] {
            after.to_data().assert_eq(&before.to_data(), true);
        }
        let [kept, read] = [of_adam, again]
            .map(|state| adam.step(0.1, weight.clone(), tensor(1e-3), Some(state)).0.into_data());
        read.assert_eq(&kept, true);
    }
}

#[test]
fn moments_that_were_kept_in_16_bits_are_gone_on_with() {
    let device = Device::default();
    for narrow in Narrow::of(&device) {
        let of = |value: f64| narrow.tensor([value; SIZE], &device);
        // Burn's own Adam leaves moments of these types.
        let state =
            AdamState { time: 3, moment_1: of(0.25), moment_2: of(0.5), max_moment_2: None };
        let (weight, state) = AdamConfig::new().build().step(RATE, of(1.0), of(0.5), Some(state));
        let state = state.unwrap();
        assert_eq!((state.time, state.moment_1.dtype()), (4, DType::F32));
        assert!(numbers(&state.moment_1).iter().all(|m| (m - 0.275).abs() < 1e-6));
        assert!(numbers(&weight).iter().all(|w| (0.9..1.0).contains(w)), "{weight}");
        let state = Some(SgdState { velocity: of(0.5) });
        let (_, state) = SgdConfig::new().build().step(RATE, of(1.0), of(0.5), state);
        assert!(numbers(&state.unwrap().velocity).iter().all(|v| (v - 0.95).abs() < 1e-6));
    }
}
