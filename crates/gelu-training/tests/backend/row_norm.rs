//! Compares with Burn's own layers, which are sums and products of tensors with gradients of their
//! own.

use burn::module::Param;
use burn::nn::{LayerNorm, LayerNormConfig, RmsNorm, RmsNormConfig};
use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use gelu_training::layers;

const EPSILON: f64 = 1e-3;

fn wave<const D: usize>(shape: [usize; D], frequency: f64, device: &Device) -> Tensor<D> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| (frequency * i as f64).sin() as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn layer_norm(width: usize, bias: bool, device: &Device) -> LayerNorm {
    let config = LayerNormConfig::new(width).with_epsilon(EPSILON).with_bias(bias);
    let mut layer = config.init(device);
    layer.gamma = Param::from_tensor(wave([width], 0.9, device) + 1.0);
    layer.beta = bias.then(|| Param::from_tensor(wave([width], 0.6, device)));
    layer
}

fn rms_norm(width: usize, device: &Device) -> RmsNorm {
    let mut layer = RmsNormConfig::new(width).with_epsilon(EPSILON).init(device);
    layer.gamma = Param::from_tensor(wave([width], 0.9, device) + 1.0);
    layer
}

#[track_caller]
fn assert_near(what: &str, found: TensorData, expected: TensorData, tolerance: f64) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let pairs = found.iter::<f64>().zip(expected.iter::<f64>());
    for (place, (f, e)) in pairs.enumerate() {
        assert!((f - e).abs() <= tolerance * (1.0 + e.abs()), "{what} {place}: {f}, not {e}");
    }
}

/// Asserts that the result and the gradients for the input and γ are those of Burn's layer.
fn assert_is_burns<const D: usize>(
    what: &str,
    gamma: &Param<Tensor<1>>,
    shape: [usize; D],
    ours: impl Fn(Tensor<D>) -> Tensor<D>,
    burns: impl Fn(Tensor<D>) -> Tensor<D>,
) {
    let device = gamma.val().device();
    let results = |forward: &dyn Fn(Tensor<D>) -> Tensor<D>| {
        let x = (wave(shape, 0.37, &device) * 2.0 + 3.0).require_grad();
        let y = forward(x.clone());
        let gradients = (y.clone() * wave(shape, 0.71, &device)).sum().backward();
        let of_gamma = gamma.val().grad(&gradients).unwrap().into_data();
        [y.into_data(), x.grad(&gradients).unwrap().into_data(), of_gamma]
    };
    let (found, expected) = (results(&ours), results(&burns));
    for ((part, found), expected) in ["result", "input", "γ"].into_iter().zip(found).zip(expected)
    {
        assert_near(&format!("{what}, {part}"), found, expected, 3e-5);
    }
}

#[test]
fn norms_of_any_shape_are_burns() {
    let device = Device::default().autodiff();
    for (rows, width) in [(1, 1), (3, 7), (5, 128), (700, 33)] {
        for bias in [true, false] {
            let layer = layer_norm(width, bias, &device);
            let ours = |x| layers::layer_norm(&layer, EPSILON, x);
            let what = format!("layer norm of {rows} rows of {width}, bias {bias}");
            assert_is_burns(&what, &layer.gamma, [rows, width], ours, |x| layer.forward(x));
        }
        let layer = rms_norm(width, &device);
        let what = format!("root mean square norm of {rows} rows of {width}");
        let ours = |x| layers::rms_norm(&layer, x);
        assert_is_burns(&what, &layer.gamma, [rows, width], ours, |x| layer.forward(x));
    }
    let layer = layer_norm(6, true, &device);
    let ours = |x| layers::layer_norm(&layer, EPSILON, x);
    assert_is_burns("rank 4", &layer.gamma, [2, 3, 4, 6], ours, |x| layer.forward(x));
}

#[test]
fn other_types_are_normalised_too() {
    let device = Device::default();
    let types = [(FloatDType::F64, 1e-6), (FloatDType::F16, 2e-2)];
    for (dtype, tolerance) in
        types.into_iter().filter(|(dtype, _)| device.supports_dtype(DType::from(*dtype)))
    {
        let (mut layer, mut rms) = (layer_norm(9, true, &device), rms_norm(9, &device));
        let x = wave([4, 9], 0.37, &device) * 2.0 + 3.0;
        let expected = [layer.forward(x.clone()), rms.forward(x.clone())].map(Tensor::into_data);
        layer.gamma = layer.gamma.map(|gamma| gamma.cast(dtype));
        layer.beta = layer.beta.map(|beta| beta.map(|beta| beta.cast(dtype)));
        rms.gamma = rms.gamma.map(|gamma| gamma.cast(dtype));
        let x = x.cast(dtype);
        let found = [layers::layer_norm(&layer, EPSILON, x.clone()), layers::rms_norm(&rms, x)];
        for (found, expected) in found.into_iter().zip(expected) {
            assert_eq!(found.dtype(), DType::from(dtype));
            assert_near(&format!("{dtype:?}"), found.into_data(), expected, tolerance);
        }
    }
}

/// The squares overflow f16. Compares with the same layers in f32, on the same rounded numbers.
#[test]
fn sixteen_bits_are_normalised_and_differentiated_as_32_are() {
    let device = Device::default().autodiff();
    if !device.supports_dtype(DType::F16) {
        return println!("skipped: {device:?} has no f16");
    }
    let run = |dtype: FloatDType, centred: bool| {
        let narrow = |gamma: Tensor<1>| gamma.cast(FloatDType::F16).cast(dtype);
        let x = (wave([4, 9], 0.37, &device) * 900.0).cast(FloatDType::F16);
        let x = x.cast(dtype).detach().require_grad();
        let y = match centred {
            true => {
                let mut layer = layer_norm(9, false, &device);
                layer.gamma = layer.gamma.map(narrow);
                layers::layer_norm(&layer, EPSILON, x.clone())
            }
            false => {
                let mut layer = rms_norm(9, &device);
                layer.gamma = layer.gamma.map(narrow);
                layers::rms_norm(&layer, x.clone())
            }
        };
        assert_eq!(y.dtype(), DType::from(dtype));
        let dy = wave([4, 9], 0.71, &device).cast(dtype) * 1000.0;
        let gradients = (y.clone() * dy).sum().backward();
        [y.into_data(), x.grad(&gradients).unwrap().into_data()]
    };
    for centred in [true, false] {
        let [found, expected] = [FloatDType::F16, FloatDType::F32].map(|dtype| run(dtype, centred));
        for (found, expected) in found.into_iter().zip(expected) {
            assert_near(&format!("centred: {centred}"), found, expected, 2e-3);
        }
    }
}

#[test]
#[should_panic(expected = "a norm of 4 numbers got 3")]
fn other_inputs_are_refused() {
    let device = Device::default();
    layers::rms_norm(&rms_norm(4, &device), Tensor::<2>::zeros([2, 3], &device));
}
