use super::{narrowed, widened};
use crate::{ActivationOps, GateHalf, Unit};
use alloc::vec;
use burn_core::backend::{Backend, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::Slice;

/// Returns `unit(gate)·value` for the halves of the last dimension; see
/// [`ActivationOps`](crate::ActivationOps).
pub(crate) fn gated<B: ActivationOps>(
    x: FloatTensor<B>,
    unit: Unit,
    gate: GateHalf,
) -> FloatTensor<B> {
    let dtype = x.dtype();
    let (gate, value) = halves::<B>(widened::<B>(x), gate);
    narrowed::<B>(product::<B>(gate, value, unit), dtype)
}

/// Returns `unit(gate)·value` of two tensors.
pub(crate) fn gated_pair<B: ActivationOps>(
    gate: FloatTensor<B>,
    value: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    let dtype = gate.dtype();
    narrowed::<B>(product::<B>(widened::<B>(gate), widened::<B>(value), unit), dtype)
}

fn product<B: ActivationOps>(
    gate: FloatTensor<B>,
    value: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    B::float_mul(B::activation(gate, unit), value)
}

/// Returns the gradient of [`gated`] for `x`, given the gradient `dy` of its result.
pub(crate) fn gated_backward<B: ActivationOps>(
    x: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
    half: GateHalf,
) -> FloatTensor<B> {
    let (dtype, axis) = (x.dtype(), x.shape().num_dims() - 1);
    let (gate, value) = halves::<B>(widened::<B>(x), half);
    let (dgate, dvalue) = gradients::<B>(gate, value, widened::<B>(dy), unit);
    let dx = match half {
        GateHalf::First => vec![dgate, dvalue],
        GateHalf::Last => vec![dvalue, dgate],
    };
    narrowed::<B>(B::float_cat(dx, axis), dtype)
}

/// Returns the gradients of [`gated_pair`] for gate and value, given the gradient `dy` of its
/// result.
pub(crate) fn gated_pair_backward<B: ActivationOps>(
    gate: FloatTensor<B>,
    value: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let dtype = gate.dtype();
    let (dgate, dvalue) =
        gradients::<B>(widened::<B>(gate), widened::<B>(value), widened::<B>(dy), unit);
    (narrowed::<B>(dgate, dtype), narrowed::<B>(dvalue, dtype))
}

fn gradients<B: ActivationOps>(
    gate: FloatTensor<B>,
    value: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let dvalue = B::float_mul(dy.clone(), B::activation(gate.clone(), unit));
    (B::activation_backward(gate, B::float_mul(dy, value), unit), dvalue)
}

/// Returns the gate and the value of `x`.
fn halves<B: Backend>(x: FloatTensor<B>, gate: GateHalf) -> (FloatTensor<B>, FloatTensor<B>) {
    let shape = x.shape();
    let (axis, whole) = (shape.num_dims() - 1, shape[shape.num_dims() - 1]);
    let half = |x: FloatTensor<B>, from: usize| {
        let mut slices = vec![Slice::full(); axis + 1];
        slices[axis] = Slice::from(from..from + whole / 2);
        B::float_slice(x, &slices)
    };
    let (first, last) = (half(x.clone(), 0), half(x, whole / 2));
    match gate {
        GateHalf::First => (first, last),
        GateHalf::Last => (last, first),
    }
}
