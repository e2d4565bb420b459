//! Tensors of any layout, type and ownership give the results of the kernels.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::tensor::{DType, Device, Tensor, TensorData};
use gelu_core::Activation;
use gelu_core::functional::{self, Unit};

#[test]
fn flex_computes_the_bits_of_the_kernels() {
    let device = Device::flex();
    let x: Vec<f32> = (0..=u32::MAX).step_by(1_048_573).map(f32::from_bits).collect();
    let dy: Vec<f32> = (0..x.len()).map(|i| (i % 7) as f32 - 3.0).collect();
    let tensor =
        |numbers: &[f32]| Tensor::<1>::from_data(TensorData::from(numbers), (&device, DType::F32));
    let bits = |numbers: &[f32]| {
        numbers.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<_>>()
    };
    for unit in Unit::ALL {
        let mut expected = [x.clone(), x.clone()];
        // A parameter is rounded to the tensor's type.
        let rounded = Unit::from_parts(unit.kind(), f64::from(unit.parameter() as f32));
        gelu_kernels::forward(rounded, &x, &mut expected[0]);
        gelu_kernels::backward(rounded, &x, &dy, &mut expected[1]);
        let got = [
            functional::unit(tensor(&x), unit),
            functional::unit_backward(tensor(&x), tensor(&dy), unit),
        ];
        for (got, expected) in got.into_iter().zip(expected) {
            let got = got.into_data().try_to_vec::<f32>().unwrap();
            assert!(bits(&got) == bits(&expected), "{unit}");
        }
    }
}

#[test]
fn any_layout_and_rank_gives_the_same_as_a_plain_tensor() {
    let device = Device::default();
    let plain: Vec<f32> = (0..24).map(|i| i as f32 * 0.5 - 6.0).collect();
    let x = Tensor::<3>::from_data(TensorData::new(plain, [2, 3, 4]), &device);
    for activation in Activation::built_in() {
        let activation = &activation;
        let whole = activation.forward(x.clone());
        let transposed = activation.forward(x.clone().swap_dims(0, 2)).swap_dims(0, 2);
        transposed.into_data().assert_eq(&whole.clone().into_data(), true);
        let sliced = activation.forward(x.clone().slice([0..2, 1..3, 0..4]));
        sliced.into_data().assert_eq(&whole.clone().slice([0..2, 1..3, 0..4]).into_data(), true);
        let empty = activation.forward(Tensor::<3>::zeros([0, 3, 4], &device));
        assert_eq!(empty.dims(), [0, 3, 4]);
    }
}

#[test]
fn shared_tensors_are_not_overwritten() {
    let x = Tensor::<1>::from_floats([-1.0, 2.0], &Device::default());
    let _ = Activation::Gelu.forward(x.clone());
    assert_eq!(x.into_data().try_to_vec::<f32>().unwrap(), [-1.0, 2.0]);
}

#[test]
fn gradient_is_the_same_with_gradient_checkpointing() {
    let slope = |device: Device| {
        let x = Tensor::<1>::from_floats([-2.0, -0.5, 1.5], &device).require_grad();
        let y = Activation::Gelu.forward(Activation::GeluTanh.forward(x.clone()) * 2.0);
        x.grad(&y.sum().backward()).unwrap().into_data().try_to_vec::<f32>().unwrap()
    };
    let device = Device::default().autodiff();
    assert_eq!(slope(device.clone()), slope(device.gradient_checkpointing()));
}
