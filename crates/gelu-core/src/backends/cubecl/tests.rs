//! Tests that need a tensor of the backend itself: for its layout, and for shapes that the
//! functions above the backend would refuse.

use super::{launch, layout::MemoryOrder, numbers};
use crate::random::{Draw, words};
use crate::{ActivationOps, GateHalf, Unit};
use burn_core::backend::ops::{FloatTensorOps, IntTensorOps};
use burn_core::backend::{Backend, TensorMetadata};
use burn_core::tensor::{DType, FloatDType, IntDType, TensorData};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::ops::{into_data_sync, permute};
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice, cubecl};
use cubecl::ir::AddressType;
use gelu_kernels::random::philox;

const DRAW: Draw = Draw { seed: 0x1234_5678_9abc_def0, step: 0xfeed_0000_0007 };

/// Returns the words of [`DRAW`] as a tensor.
fn key() -> CubeTensor {
    CubeBackend::int_from_data(TensorData::from(words(DRAW)), &CubeDevice::default())
}

/// Returns a tensor of this shape, with elements that are all different.
fn rows(shape: &[usize]) -> CubeTensor {
    let count = shape.iter().product::<usize>();
    let values: Vec<f32> = (0..count).map(|index| (index as f32 * 0.37).sin() * 4.0).collect();
    CubeBackend::float_from_data(TensorData::new(values, shape), &CubeDevice::default())
}

/// Returns the same tensor in two layouts: row-major, and as a convolution leaves it, with the
/// second axis innermost.
fn channels_last(shape: [usize; 4]) -> (CubeTensor, CubeTensor) {
    let plain = rows(&shape);
    let axes = [0, 2, 3, 1];
    let dense = burn_cubecl::kernel::into_contiguous(permute(plain.clone(), &axes));
    (plain, permute(dense, &[0, 3, 1, 2]))
}

fn values(x: CubeTensor) -> Vec<f32> {
    into_data_sync(x).iter::<f32>().collect()
}

fn assert_same_and_laid_out_like(x: &CubeTensor, plain: CubeTensor, result: CubeTensor) {
    assert_eq!((result.shape(), result.meta.strides()), (x.shape(), x.meta.strides()));
    assert_eq!(values(result), values(plain));
}

#[test]
fn results_lie_as_their_inputs_do() {
    let dropout = || Some((key(), 1 << 31));
    for shape in [[2, 3, 4, 5], [3, 8, 2, 4]] {
        let (plain, x) = channels_last(shape);
        let (plain_dy, dy) = channels_last(shape);
        let bias = rows(&shape[3..]);
        // These clones keep the operations from working in place.
        let held = (x.clone(), dy.clone(), plain.clone(), plain_dy.clone());
        let result = launch::map(x.clone(), Unit::Gelu);
        assert_same_and_laid_out_like(&x, launch::map(plain.clone(), Unit::Gelu), result);
        let result = launch::scale(x.clone(), dy.clone(), Unit::Gelu, false);
        let expected = launch::scale(plain.clone(), plain_dy.clone(), Unit::Gelu, false);
        assert_same_and_laid_out_like(&x, expected, result);
        for dropout in [None, dropout()] {
            let result = launch::step(x.clone(), bias.clone(), Unit::Silu, dropout.clone());
            let expected = launch::step(plain.clone(), bias.clone(), Unit::Silu, dropout.clone());
            assert_same_and_laid_out_like(&x, expected, result);
            let (x, dy, bias) = (x.clone(), dy.clone(), bias.clone());
            let result =
                launch::step_backward(x.clone(), bias.clone(), dy, Unit::Silu, dropout.clone());
            let (plain, dy) = (plain.clone(), plain_dy.clone());
            let expected = launch::step_backward(plain, bias, dy, Unit::Silu, dropout);
            assert_same_and_laid_out_like(&x, expected, result);
        }
        let result = launch::dropout(x.clone(), key(), 1 << 31);
        assert_same_and_laid_out_like(&x, launch::dropout(plain.clone(), key(), 1 << 31), result);
        let result = launch::let_through(x.clone(), dy.clone(), key());
        let expected = launch::let_through(plain.clone(), plain_dy.clone(), key());
        assert_same_and_laid_out_like(&x, expected, result);
        drop(held);
    }
}

#[test]
fn results_in_their_inputs_memory_lie_as_before() {
    let (plain, x) = channels_last([2, 3, 4, 5]);
    let expected = values(launch::map(plain, Unit::Silu));
    let strides = x.meta.strides().clone();
    let x = launch::map(x, Unit::Identity);
    let result = launch::map(x, Unit::Silu);
    assert_eq!(*result.meta.strides(), strides);
    assert_eq!(values(result), expected);
}

#[test]
fn tensors_of_different_layouts_meet_at_their_indices() {
    let (plain, x) = channels_last([2, 3, 4, 5]);
    assert!(MemoryOrder::of(&[&x]).is_some() && MemoryOrder::of(&[&plain]).is_none());
    let expected = values(launch::scale(plain.clone(), plain.clone(), Unit::Gelu, false));
    assert_eq!(values(launch::scale(x.clone(), plain.clone(), Unit::Gelu, false)), expected);
    assert_eq!(values(launch::scale(plain, x, Unit::Gelu, false)), expected);
}

#[test]
#[should_panic(expected = "of the shape and type of its input, [2, 3]")]
fn gradient_of_another_shape_is_refused() {
    CubeBackend::activation_backward(rows(&[2, 3]), rows(&[3]), Unit::Gelu);
}

#[test]
#[should_panic(expected = "has to be of its shape and type, [2, 2] F32, and is [2, 3] F32")]
fn gradient_of_a_gated_unit_of_another_shape_is_refused() {
    CubeBackend::gated_backward(rows(&[2, 4]), rows(&[2, 3]), Unit::Gelu, GateHalf::First);
}

#[test]
#[should_panic(expected = "as many numbers as the last dimension of its input, [2, 3]")]
fn bias_of_another_length_is_refused() {
    CubeBackend::bias_activation(rows(&[2, 3]), rows(&[4]), Unit::Gelu);
}

#[test]
#[should_panic(expected = "what a stochastic map lets through has to be of the shape")]
fn gradient_of_a_stochastic_map_of_another_shape_is_refused() {
    CubeBackend::stochastic_map_backward(rows(&[2, 3]), rows(&[2]), key());
}

#[test]
fn bias_is_added_in_f32_whatever_the_type() {
    // Next to −3, f16 numbers are 2⁻⁹ apart. A 16-bit sum would lose half of such a step, which
    // changes Φ by 0.3%. The expected value is 0.5*math.erfc((3 - 2**-10)/math.sqrt(2)) in Python.
    let device = CubeDevice::default();
    if !CubeBackend::supports_dtype(&device, DType::F16) {
        eprintln!("skipped: the device has no f16");
        return;
    }
    let half = |value: f32| {
        let x = CubeBackend::float_from_data(TensorData::new(vec![value], [1]), &device);
        CubeBackend::float_cast(x, FloatDType::F16)
    };
    let y = launch::step(half(-3.0), half(2f32.powi(-10)), Unit::NormalCdf, None);
    let exact = 0.001_354_232_353_911_218;
    let relative = f64::from(values(y)[0]) / exact - 1.0;
    assert!(relative.abs() <= 0.501 * 2f64.powi(-10), "off by {relative:e}");
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn far_block(out: &mut Tensor<u32>, key: &Tensor<i32>, block_low: u32, block_high: u32) {
    // Where addresses have 32 bits, the upper part is 0 anyway.
    let block = block_high as usize * 65536usize * 65536usize + block_low as usize;
    let stream = numbers::stream::<i32>(key);
    let words = numbers::words(block, &stream);
    #[unroll]
    for word in 0..4usize {
        out[word] = words.extract(word);
    }
}

#[test]
fn counter_goes_on_above_32_bits_where_addresses_do() {
    let device = CubeDevice::default();
    let client = device.client();
    for (address, block) in [(AddressType::U32, 0xfedc_ba98), (AddressType::U64, 0x3_0000_0005)] {
        if !client.properties().supports_address(address) {
            eprintln!("skipped: the device has no addresses of type {address:?}");
            continue;
        }
        let out = client.empty(16);
        // SAFETY: one unit writes four numbers, and the memory holds four.
        #[allow(unsafe_code, reason = "a kernel is launched")]
        unsafe {
            far_block::launch_unchecked(
                &client,
                CubeCount::Static(1, 1, 1),
                CubeDim::new_1d(1),
                address,
                TensorArg::from_raw_parts(out.clone(), [1].into(), [4].into()),
                CubeBackend::int_cast(key(), IntDType::I32).into_tensor_arg(),
                block as u32,
                (block >> 32) as u32,
            );
        }
        let numbers = client.read_one_unchecked(out);
        let expected = philox::blocks::<1>(DRAW.stream(), block);
        assert_eq!(u32::from_bytes(&numbers), expected.map(|word| word[0] as u32));
    }
}
