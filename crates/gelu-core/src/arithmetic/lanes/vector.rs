//! The operations on vectors in a kernel.

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
pub(super) fn inverse_sqrt<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    x.inverse_sqrt()
}

#[cube]
pub(super) fn exp<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    x.exp()
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

/// Tests the bits of the number in f32, because shader compilers assume that a number equals itself.
#[cube]
pub(super) fn is_nan<F: Float, N: Size>(x: Vector<F, N>) -> Vector<bool, N> {
    let bits = Vector::<u32, N>::reinterpret(Vector::<f32, N>::cast_from(x));
    Vector::new(0x7F80_0000u32).less_than(&(bits & Vector::new(0x7FFF_FFFFu32)))
}

#[cube]
pub(super) fn choose<F: Float, N: Size>(
    condition: Vector<bool, N>,
    then: Vector<F, N>,
    otherwise: Vector<F, N>,
) -> Vector<F, N> {
    select_many(condition, then, otherwise)
}

/// Returns `2^(bias − n − 127)`, or 0 where that is below all normal numbers. The integer n < 256 is in the last
/// bits of `sum`.
#[cube]
pub(super) fn biased_power<N: Size>(sum: Vector<f32, N>, #[comptime] bias: u32) -> Vector<f32, N> {
    let halvings = Vector::<i32, N>::reinterpret(sum) << Vector::new(23i32);
    let exponent = Vector::<i32, N>::new(comptime!((bias << 23) as i32)) - halvings;
    Vector::<f32, N>::reinterpret(exponent.max(Vector::new(0i32)))
}

/// Returns `2^(exponent − 127)`.
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
