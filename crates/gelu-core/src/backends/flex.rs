use crate::math::formula::Formula;
use crate::math::kernel::{Pass, for_each_chunk};
use crate::unit::Job;
use crate::{ActivationOps, Draw, Dropout, Unit, composed, dropout, math::philox};
use alloc::vec::Vec;
use burn_core::backend::{Flex, tensor::FloatTensor};
use burn_core::tensor::{DType, Element};
use burn_flex::{FlexTensor, Layout};
use burn_std::{Bytes, Shape, bf16, f16};

impl ActivationOps for Flex {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        match x.dtype() {
            DType::F32 => unit.with_value(Map { x, bias: &[], dropout: None }),
            DType::F64 => mapped(x, |x: f64| unit.value(x)),
            DType::F16 => unit.with_value(MapHalf::<f16>::new(x, None)),
            DType::BF16 => unit.with_value(MapHalf::<bf16>::new(x, None)),
            dtype => panic!("an activation needs a float tensor, got {dtype:?}"),
        }
    }

    fn activation_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        match x.dtype() {
            DType::F32 => unit.with_derivative(Scale { x, dy, bias: &[], dropout: None }).0,
            DType::F64 => scaled(x, dy, |x: f64, dy| dy * unit.derivative(x)),
            DType::F16 => unit.with_derivative(MapHalf::<f16>::new(x, Some(dy))),
            DType::BF16 => unit.with_derivative(MapHalf::<bf16>::new(x, Some(dy))),
            dtype => panic!("an activation needs a float tensor, got {dtype:?}"),
        }
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<Dropout>,
    ) -> FloatTensor<Self> {
        if x.dtype() != DType::F32 {
            return composed::bias_activation_dropout::<Self>(x, bias, unit, dropout);
        }
        let bias = contiguous(bias);
        unit.with_value(Map { x, bias: elements(&bias), dropout })
    }

    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<Dropout>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if x.dtype() != DType::F32 {
            return composed::bias_activation_dropout_backward::<Self>(x, bias, dy, unit, dropout);
        }
        let bias = contiguous(bias);
        let (dx, sums) = unit.with_derivative(Scale { x, dy, bias: elements(&bias), dropout });
        (dx, tensor(sums, bias.layout().shape().clone()))
    }

    fn stochastic_map(x: FloatTensor<Self>, draw: Draw) -> FloatTensor<Self> {
        gated(x.clone(), x, draw)
    }

    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        draw: Draw,
    ) -> FloatTensor<Self> {
        gated(x, dy, draw)
    }
}

/// `y` where the draw's uniform number is below Φ(x), else 0.
fn gated(x: FlexTensor, y: FlexTensor, draw: Draw) -> FlexTensor {
    if x.dtype() != DType::F32 {
        return composed::stochastic_gate::<Flex>(x, y, draw);
    }
    let (mut gate, y) = (contiguous(Flex::activation(x, Unit::NormalCdf)), contiguous(y));
    let gates = elements_mut::<f32>(&mut gate).chunks_mut(DRAWN);
    let mut start = 0;
    for (gates, y) in gates.zip(elements::<f32>(&y).chunks(DRAWN)) {
        let mut numbers = [0; DRAWN];
        philox::fill(draw.stream(), start, &mut numbers[..y.len()]);
        start += y.len() as u64;
        for ((gate, y), number) in gates.iter_mut().zip(y).zip(numbers) {
            *gate = if dropout::uniform(number) < *gate { *y } else { 0.0 };
        }
    }
    gate
}

/// How many random numbers are drawn ahead.
const DRAWN: usize = 1024;

/// The tensor with its elements one behind the other.
fn contiguous(x: FlexTensor) -> FlexTensor {
    if x.layout().contiguous_offsets().is_some() { x } else { x.to_contiguous() }
}

/// The elements of a contiguous tensor.
fn elements<E: Element + bytemuck::Pod>(x: &FlexTensor) -> &[E] {
    x.as_slice().expect("contiguous, and of the type that was matched on")
}

/// The elements of a contiguous tensor, after copying them if they are shared.
fn elements_mut<E: Element + bytemuck::Pod>(x: &mut FlexTensor) -> &mut [E] {
    let (start, end) = x.layout().contiguous_offsets().expect("contiguous");
    &mut x.storage_mut()[start..end]
}

fn tensor<E: Element>(values: Vec<E>, shape: Shape) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(shape), E::dtype())
}

/// `keep·f(x + bias)` in f32.
struct Map<'a> {
    x: FlexTensor,
    bias: &'a [f32],
    dropout: Option<Dropout>,
}

impl Job for Map<'_> {
    type Output = FlexTensor;

    fn run<F: Formula>(self, formula: F) -> FlexTensor {
        let pass = Pass { bias: self.bias, dropout: self.dropout, ..Pass::new(formula) };
        let mut x = contiguous(self.x);
        if x.is_unique() {
            pass.map_in_place(elements_mut(&mut x));
            return x;
        }
        let source = elements(&x);
        let mut values = Vec::with_capacity(source.len());
        pass.map(source, &mut values.spare_capacity_mut()[..source.len()]);
        // SAFETY: `map` has written every one of them.
        #[allow(unsafe_code, reason = "a result is not worth zeroing before it is written")]
        unsafe {
            values.set_len(source.len());
        }
        tensor(values, x.layout().shape().clone())
    }
}

/// `keep·dy·f′(x + bias)` in f32, and its sum over the rows.
struct Scale<'a> {
    x: FlexTensor,
    dy: FlexTensor,
    bias: &'a [f32],
    dropout: Option<Dropout>,
}

impl Job for Scale<'_> {
    type Output = (FlexTensor, Vec<f32>);

    fn run<F: Formula>(self, formula: F) -> Self::Output {
        let pass = Pass { bias: self.bias, dropout: self.dropout, ..Pass::new(formula) };
        let (x, mut dy) = (contiguous(self.x), contiguous(self.dy));
        let x = elements(&x);
        if dy.is_unique() {
            let sums = pass.scale_in_place(x, elements_mut(&mut dy));
            return (dy, sums);
        }
        let mut values = Vec::with_capacity(x.len());
        let sums = pass.scale(x, elements(&dy), &mut values.spare_capacity_mut()[..x.len()]);
        // SAFETY: `scale` has written every one of them.
        #[allow(unsafe_code, reason = "a result is not worth zeroing before it is written")]
        unsafe {
            values.set_len(x.len());
        }
        (tensor(values, dy.layout().shape().clone()), sums)
    }
}

/// Replaces every element.
fn mapped<E>(x: FlexTensor, f: impl Fn(E) -> E + Send + Sync) -> FlexTensor
where
    E: Element + bytemuck::Pod,
{
    let x = contiguous(x);
    let source = elements::<E>(&x);
    let chunks = for_each_chunk(source.len(), 0, |range| {
        source[range].iter().map(|&x| f(x)).collect::<Vec<_>>()
    });
    tensor(chunks.concat(), x.layout().shape().clone())
}

/// Combines every element of `x` with that of `dy`.
fn scaled<E>(x: FlexTensor, dy: FlexTensor, f: impl Fn(E, E) -> E + Send + Sync) -> FlexTensor
where
    E: Element + bytemuck::Pod,
{
    let (x, dy) = (contiguous(x), contiguous(dy));
    let (x, factors) = (elements::<E>(&x), elements::<E>(&dy));
    let chunks = for_each_chunk(x.len(), 0, |range| {
        let pairs = x[range.clone()].iter().zip(&factors[range]);
        pairs.map(|(&x, &dy)| f(x, dy)).collect::<Vec<_>>()
    });
    tensor(chunks.concat(), dy.layout().shape().clone())
}

/// A 16-bit float. Its values go through f64, so that the result is rounded once.
trait Half: Element + bytemuck::Pod {
    fn widen(self) -> f64;
    fn round(value: f64) -> Self;
}

impl Half for f16 {
    fn widen(self) -> f64 {
        self.to_f64()
    }

    fn round(value: f64) -> Self {
        Self::from_f64(sticky(value))
    }
}

impl Half for bf16 {
    fn widen(self) -> f64 {
        self.to_f64()
    }

    fn round(value: f64) -> Self {
        Self::from_f64(sticky(value))
    }
}

/// The value with 20 bits behind the point, the last of them set if anything was cut off. The
/// conversions to 16 bits look at no more, or go through f32; so they round as if they saw all.
fn sticky(value: f64) -> f64 {
    const CUT: u64 = (1 << 32) - 1;
    let bits = value.to_bits();
    f64::from_bits(bits & !CUT | u64::from(bits & CUT != 0) << 32)
}

/// `f(x)`, times `dy` if there is one, on 16-bit floats.
struct MapHalf<T> {
    x: FlexTensor,
    dy: Option<FlexTensor>,
    _type: core::marker::PhantomData<T>,
}

impl<T> MapHalf<T> {
    fn new(x: FlexTensor, dy: Option<FlexTensor>) -> Self {
        Self { x, dy, _type: core::marker::PhantomData }
    }
}

impl<T: Half> Job for MapHalf<T> {
    type Output = FlexTensor;

    fn run<F: Formula>(self, formula: F) -> FlexTensor {
        match self.dy {
            None => mapped(self.x, |x: T| T::round(formula.wide(x.widen()))),
            Some(dy) => {
                scaled(self.x, dy, |x: T, dy| T::round(dy.widen() * formula.wide(x.widen())))
            }
        }
    }
}
