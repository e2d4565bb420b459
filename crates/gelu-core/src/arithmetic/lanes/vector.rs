//! What a kernel does with vectors.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]

use burn_cubecl::cubecl;
use cubecl::prelude::*;

#[cube]
pub(super) fn negative<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    -x
}

#[cube]
pub(super) fn abs<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    x.abs()
}

#[cube]
pub(super) fn sqrt<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    x.sqrt()
}

#[cube]
pub(super) fn floor<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    x.floor()
}

#[cube]
pub(super) fn constant<N: Size>(#[comptime] value: f32) -> Vector<f32, N> {
    Vector::new(value)
}

#[cube]
pub(super) fn double_constant<N: Size>(#[comptime] value: f64) -> Vector<f64, N> {
    Vector::new(value)
}

#[cube]
pub(super) fn broadcast<F: Float, N: Size>(value: F) -> Vector<F, N> {
    Vector::new(value)
}

#[cube]
pub(super) fn below<F: Float, N: Size>(a: Vector<F, N>, b: Vector<F, N>) -> Vector<bool, N> {
    a.less_than(&b)
}

#[cube]
pub(super) fn at_or_below<F: Float, N: Size>(a: Vector<F, N>, b: Vector<F, N>) -> Vector<bool, N> {
    a.less_equal(&b)
}

#[cube]
pub(super) fn choose<F: Float, N: Size>(
    condition: Vector<bool, N>,
    then: Vector<F, N>,
    otherwise: Vector<F, N>,
) -> Vector<F, N> {
    select_many(condition, then, otherwise)
}

/// `2^(exponent − 127)`.
#[cube]
pub(super) fn power_of_two<N: Size>(exponent: Vector<f32, N>) -> Vector<f32, N> {
    Vector::<f32, N>::reinterpret(Vector::<u32, N>::cast_from(exponent) << Vector::new(23u32))
}

#[cube]
pub(super) fn double_power_of_two<N: Size>(exponent: Vector<f64, N>) -> Vector<f64, N> {
    Vector::<f64, N>::cast_from(power_of_two::<N>(Vector::<f32, N>::cast_from(exponent)))
}

#[cube]
pub(super) fn masked<N: Size>(x: Vector<f32, N>, #[comptime] mask: u32) -> Vector<f32, N> {
    Vector::<f32, N>::reinterpret(Vector::<u32, N>::reinterpret(x) & Vector::new(mask))
}

#[cube]
pub(super) fn through_single<N: Size>(x: Vector<f64, N>) -> Vector<f64, N> {
    Vector::<f64, N>::cast_from(Vector::<f32, N>::cast_from(x))
}
