mod layout;

use crate::flex::{Stored, contiguous, elements, elements_mut, laid_out, tensor};
use crate::random::{draw_of, mask_of};
use crate::{ActivationOps, GateHalf, Unit};
use alloc::vec::Vec;
use burn_core::backend::{
    Flex,
    tensor::{FloatTensor, IntTensor},
};
use burn_core::tensor::DType;
use burn_flex::FlexTensor;
use burn_std::{bf16, f16};
use gelu_kernels::random::{Draw, Mask};
use gelu_kernels::{Halves, Pass};
use layout::{at_start, dense, same_order};

/// Evaluates an expression with `$type` as the type of a tensor's elements.
macro_rules! by_dtype {
    ($x:ident, $type:ident => $work:expr) => {
        match $x.dtype() {
            DType::F32 => by_dtype!(@ f32, $type => $work),
            DType::F64 => by_dtype!(@ f64, $type => $work),
            DType::F16 => by_dtype!(@ f16, $type => $work),
            DType::BF16 => by_dtype!(@ bf16, $type => $work),
            dtype => panic!("an activation needs a float tensor, got {dtype:?}"),
        }
    };
    (@ $element:ident, $type:ident => $work:expr) => {{
        type $type = $element;
        $work
    }};
}

impl ActivationOps for Flex {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        by_dtype!(x, E => map(&Pass::<E>::new(unit), dense(x)))
    }

    fn activation_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        by_dtype!(x, E => scale::<E>(x, dy, unit))
    }

    fn bias_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        by_dtype!(x, E => step::<E>(x, bias, unit, None))
    }

    fn bias_activation_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        by_dtype!(x, E => step_backward::<E>(x, bias, dy, unit, None))
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> FloatTensor<Self> {
        let mask = Some(mask_of::<Self>(key, threshold));
        by_dtype!(x, E => step::<E>(x, bias, unit, mask))
    }

    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let mask = Some(mask_of::<Self>(key, threshold));
        by_dtype!(x, E => step_backward::<E>(x, bias, dy, unit, mask))
    }

    fn dropout(x: FloatTensor<Self>, key: IntTensor<Self>, threshold: u32) -> FloatTensor<Self> {
        let mask = mask_of::<Self>(key, threshold);
        by_dtype!(x, E => {
            // Masks count elements in row-major order.
            map(&Pass::<E>::new(Unit::Identity).with(&[], Some(mask)), contiguous(x))
        })
    }

    fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
        by_dtype!(x, E => gated::<E>(x, unit, gate))
    }

    fn gated_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        gate: GateHalf,
    ) -> FloatTensor<Self> {
        by_dtype!(x, E => gated_backward::<E>(x, dy, unit, gate))
    }

    fn gated_pair(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        by_dtype!(gate, E => gated_pair::<E>(gate, value, unit))
    }

    fn gated_pair_backward(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        by_dtype!(gate, E => gated_pair_backward::<E>(gate, value, dy, unit))
    }

    fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
        let draw = draw_of::<Self>(key);
        by_dtype!(x, E => let_through::<E>(x.clone(), x, draw))
    }

    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        let draw = draw_of::<Self>(key);
        by_dtype!(x, E => let_through::<E>(x, dy, draw))
    }
}

/// Returns `dy·unit′(x)`, in the memory order of `x` and `dy` if they have the same order.
fn scale<E: Stored>(x: FlexTensor, dy: FlexTensor, unit: Unit) -> FlexTensor {
    let (x, dy) = (dense(x), dense(dy));
    let (x, dy) = match same_order(x.layout(), dy.layout()) {
        true => (x, dy),
        false => (contiguous(x), contiguous(dy)),
    };
    scaled(&Pass::<E>::new(unit), x, dy).0
}

/// Returns `unit(x + bias)` with dropout. Masks and columns count in row-major order.
fn step<E: Stored>(x: FlexTensor, bias: FlexTensor, unit: Unit, mask: Option<Mask>) -> FlexTensor {
    let bias = contiguous(bias);
    map(&Pass::<E>::new(unit).with(elements(&bias), mask), contiguous(x))
}

/// Returns the gradients of [`step`] for `x` and for `bias`.
fn step_backward<E: Stored>(
    x: FlexTensor,
    bias: FlexTensor,
    dy: FlexTensor,
    unit: Unit,
    mask: Option<Mask>,
) -> (FlexTensor, FlexTensor) {
    let bias = contiguous(bias);
    let pass = Pass::<E>::new(unit).with(elements(&bias), mask);
    let (dx, sums) = scaled(&pass, contiguous(x), contiguous(dy));
    (dx, tensor(sums, bias.layout().shape().clone()))
}

/// Returns `unit(gate)·value` for the halves of the last dimension.
fn gated<E: Stored>(x: FlexTensor, unit: Unit, gate: GateHalf) -> FlexTensor {
    let x = contiguous(x);
    let (mut shape, halves) = (x.layout().shape().clone(), Halves::of(x.layout().shape(), gate));
    if let Some(last) = shape.last_mut() {
        *last = halves.columns();
    }
    tensor(gelu_kernels::gated(unit, halves, elements::<E>(&x)), shape)
}

/// Returns the gradient of [`gated`].
fn gated_backward<E: Stored>(
    x: FlexTensor,
    dy: FlexTensor,
    unit: Unit,
    gate: GateHalf,
) -> FlexTensor {
    let (x, dy) = (contiguous(x), contiguous(dy));
    let shape = x.layout().shape().clone();
    let halves = Halves::of(&shape, gate);
    tensor(gelu_kernels::gated_backward(unit, halves, elements::<E>(&x), elements(&dy)), shape)
}

/// Returns `unit(gate)·value` of two tensors.
fn gated_pair<E: Stored>(gate: FlexTensor, value: FlexTensor, unit: Unit) -> FlexTensor {
    let (gate, value) = (contiguous(gate), contiguous(value));
    let values = gelu_kernels::gated_pair(unit, elements::<E>(&gate), elements(&value));
    tensor(values, gate.layout().shape().clone())
}

/// Returns the gradients of [`gated_pair`] for gate and value.
fn gated_pair_backward<E: Stored>(
    gate: FlexTensor,
    value: FlexTensor,
    dy: FlexTensor,
    unit: Unit,
) -> (FlexTensor, FlexTensor) {
    let [gate, value, dy] = [gate, value, dy].map(contiguous);
    let [gates, values, dy] = [&gate, &value, &dy].map(|x| elements::<E>(x));
    let (dgates, dvalues) = gelu_kernels::gated_pair_backward(unit, gates, values, dy);
    let shape = gate.layout().shape();
    (tensor(dgates, shape.clone()), tensor(dvalues, shape.clone()))
}

/// Returns `y` where the random number of `draw` is below Φ(x), and 0 elsewhere.
fn let_through<E: Stored>(x: FlexTensor, y: FlexTensor, draw: Draw) -> FlexTensor {
    let (x, y) = (contiguous(x), contiguous(y));
    let values = gelu_kernels::stochastic_map(elements::<E>(&x), elements(&y), draw);
    tensor(values, y.layout().shape().clone())
}

/// Returns a dense tensor after the pass.
fn map<E: Stored>(pass: &Pass<E>, mut x: FlexTensor) -> FlexTensor {
    if x.is_unique() {
        pass.map_in_place(elements_mut(&mut x));
        return x;
    }
    laid_out(pass.map(elements(&x)), at_start(x.layout()))
}

/// Returns a dense `dy` times the pass's derivative at `x`, and the sums over rows.
fn scaled<E: Stored>(pass: &Pass<E>, x: FlexTensor, mut dy: FlexTensor) -> (FlexTensor, Vec<E>) {
    let x = elements::<E>(&x);
    if dy.is_unique() {
        let sums = pass.scale_in_place(x, elements_mut(&mut dy));
        return (dy, sums);
    }
    let (values, sums) = pass.scale(x, elements(&dy));
    (laid_out(values, at_start(dy.layout())), sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::{Shape, TensorData};
    use burn_flex::Layout;

    fn input() -> FlexTensor {
        let values: Vec<f32> = (0..24).map(|i| i as f32 * 0.5 - 6.0).collect();
        FlexTensor::from_data(TensorData::new(values, [2, 3, 4]))
    }

    fn values(x: &FlexTensor) -> Vec<f32> {
        x.to_contiguous().into_data().iter::<f32>().collect()
    }

    #[test]
    fn a_permuted_input_keeps_its_order_in_memory() {
        let permuted = input().permute(&[0, 2, 1]);
        let strides = permuted.layout().strides().to_vec();
        let expected: Vec<f32> =
            values(&permuted).into_iter().map(|x| Unit::Gelu.value(f64::from(x)) as f32).collect();
        for x in [
            permuted.clone(),
            FlexTensor::clone(&permuted).to_contiguous().permute(&[0, 2, 1]).permute(&[0, 2, 1]),
        ] {
            let kept = x.layout().strides().to_vec();
            let y = Flex::activation(x, Unit::Gelu);
            assert_eq!(y.layout().strides(), kept);
            for (y, expected) in values(&y).iter().zip(&expected) {
                assert!((y - expected).abs() <= 1e-6, "{y} {expected}");
            }
        }
        let dx = Flex::activation_backward(permuted.clone(), permuted.clone(), Unit::Identity);
        assert_eq!(dx.layout().strides(), strides);
        assert_eq!(values(&dx), values(&permuted));
    }

    #[test]
    fn gradient_of_another_order_is_brought_to_the_inputs() {
        let x = input().permute(&[2, 1, 0]);
        let dy = FlexTensor::from_data(TensorData::new(values(&x), [4, 3, 2]));
        let dx = Flex::activation_backward(x, dy.clone(), Unit::Identity);
        assert_eq!(values(&dx), values(&dy));
    }

    #[test]
    fn what_is_repeated_or_has_gaps_is_copied() {
        let column = input().narrow(2, 1, 1);
        let expected: Vec<f32> = values(&column).iter().map(|x| x.max(0.0)).collect();
        assert_eq!(values(&Flex::activation(column, Unit::Relu)), expected);
        let flipped = input().with_layout(input().layout().flip(&[2]));
        let expected: Vec<f32> = values(&flipped).iter().map(|x| x.max(0.0)).collect();
        assert_eq!(values(&Flex::activation(flipped, Unit::Relu)), expected);
        let row = FlexTensor::from_data(TensorData::new(alloc::vec![-1.0f32, 2.0], [2]));
        let repeated = row.with_layout(Layout::new(Shape::from([3, 2]), alloc::vec![0, 1], 0));
        assert_eq!(values(&Flex::activation(repeated, Unit::Relu)), [0.0, 2.0, 0.0, 2.0, 0.0, 2.0]);
    }
}
