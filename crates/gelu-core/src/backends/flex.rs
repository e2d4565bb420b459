use crate::math::slice;
use crate::unit::Job;
use crate::{ActivationOps, Unit};
use burn_core::backend::{Flex, tensor::FloatTensor};
use burn_core::tensor::DType;
use burn_std::{bf16, f16};

impl ActivationOps for Flex {
    fn activation(mut x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        if !x.is_contiguous() {
            x = x.to_contiguous();
        }
        match x.dtype() {
            DType::F32 => unit.with_value(Map(x.storage_mut())),
            DType::F64 => update(x.storage_mut(), |v: f64| unit.value(v)),
            DType::F16 => unit.with_value(MapHalf(x.storage_mut::<f16>())),
            DType::BF16 => unit.with_value(MapHalf(x.storage_mut::<bf16>())),
            dtype => panic!("an activation needs a float tensor, got {dtype:?}"),
        }
        x
    }

    fn activation_backward(
        x: FloatTensor<Self>,
        mut dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        let x = if x.is_contiguous() { x } else { x.to_contiguous() };
        if !dy.is_contiguous() {
            dy = dy.to_contiguous();
        }
        match x.dtype() {
            DType::F32 => unit.with_derivative(Scale(dy.storage_mut(), x.storage())),
            DType::F64 => {
                let pairs = dy.storage_mut::<f64>().iter_mut().zip(x.storage::<f64>());
                pairs.for_each(|(dy, &x)| *dy *= unit.derivative(x));
            }
            DType::F16 => unit.with_derivative(ScaleHalf(dy.storage_mut::<f16>(), x.storage())),
            DType::BF16 => unit.with_derivative(ScaleHalf(dy.storage_mut::<bf16>(), x.storage())),
            dtype => panic!("an activation needs a float tensor, got {dtype:?}"),
        }
        dy
    }
}

fn update<T: Copy>(values: &mut [T], f: impl Fn(T) -> T) {
    values.iter_mut().for_each(|value| *value = f(*value));
}

struct Map<'a>(&'a mut [f32]);

impl Job for Map<'_> {
    type Output = ();

    fn run(self, f: impl Fn(f64) -> f64 + Copy) {
        slice::map(self.0, f);
    }
}

struct Scale<'a>(&'a mut [f32], &'a [f32]);

impl Job for Scale<'_> {
    type Output = ();

    fn run(self, f: impl Fn(f64) -> f64 + Copy) {
        slice::scale(self.0, self.1, f);
    }
}

/// A 16-bit float. Its values go through f64, so that the result is rounded once.
trait Half: Copy {
    fn widen(self) -> f64;
    fn round(value: f64) -> Self;
}

impl Half for f16 {
    fn widen(self) -> f64 {
        self.to_f64()
    }

    fn round(value: f64) -> Self {
        Self::from_f64(value)
    }
}

impl Half for bf16 {
    fn widen(self) -> f64 {
        self.to_f64()
    }

    fn round(value: f64) -> Self {
        Self::from_f64(value)
    }
}

struct MapHalf<'a, T>(&'a mut [T]);

impl<T: Half> Job for MapHalf<'_, T> {
    type Output = ();

    fn run(self, f: impl Fn(f64) -> f64 + Copy) {
        update(self.0, |value| T::round(f(value.widen())));
    }
}

struct ScaleHalf<'a, T>(&'a mut [T], &'a [T]);

impl<T: Half> Job for ScaleHalf<'_, T> {
    type Output = ();

    fn run(self, f: impl Fn(f64) -> f64 + Copy) {
        let pairs = self.0.iter_mut().zip(self.1);
        pairs.for_each(|(dy, x)| *dy = T::round(dy.widen() * f(x.widen())));
    }
}
