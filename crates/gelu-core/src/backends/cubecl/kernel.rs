//! What one unit of a kernel does: it reads a vector, works on it and writes it.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]
#![allow(clippy::too_many_arguments, reason = "a kernel takes its tensors and numbers one by one")]

use crate::arithmetic::lanes::{Lanes, Precision};
use crate::functions::{Function, Job, Kind, Unit};
use crate::random::philox::{MULTIPLIERS, ROUNDS, WEYL};
use burn_cubecl::cubecl;
use cubecl::ir::{ElemType, Scope};
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};

/// Which random numbers a kernel draws: those of a [`Draw`](crate::random::Draw), in halves.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
pub(super) struct Stream {
    key_low: u32,
    key_high: u32,
    step_low: u32,
    step_high: u32,
}

/// The function.
#[cube]
fn value<N: Size>(x: Vector<f32, N>, parameter: f32, #[comptime] kind: Kind) -> Vector<f32, N> {
    intrinsic!(|scope| kind.with(OnLanes { scope, x, parameter, derivative: false }))
}

/// Its derivative.
#[cube]
fn derivative<N: Size>(
    x: Vector<f32, N>,
    parameter: f32,
    #[comptime] kind: Kind,
) -> Vector<f32, N> {
    intrinsic!(|scope| kind.with(OnLanes { scope, x, parameter, derivative: true }))
}

/// A function of a vector, recorded into the kernel that is being built.
pub(super) struct OnLanes<'a, P: Precision, N: Size> {
    pub(super) scope: &'a Scope,
    pub(super) x: NativeExpand<Vector<P, N>>,
    pub(super) parameter: NativeExpand<P>,
    pub(super) derivative: bool,
}

impl<P: Precision, N: Size> Job for OnLanes<'_, P, N> {
    type Output = NativeExpand<Vector<P, N>>;

    fn run<F: Function>(self) -> Self::Output {
        let x = Lanes::new(self.scope, self.x);
        match self.derivative {
            false => F::value(x, self.parameter).into_inner(),
            true => F::derivative(x, self.parameter).into_inner(),
        }
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn map<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    out.write(ABSOLUTE_POS, Vector::cast_from(value::<N>(x, parameter, kind)));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn scale<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    out.write(ABSOLUTE_POS, Vector::cast_from(dy * derivative::<N>(x, parameter, kind)));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn step<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    stream: Stream,
    threshold: u32,
    scale: f32,
    parameter: f32,
    #[comptime] kind: Kind,
    #[comptime] drops: bool,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let value = value::<N>(biased::<F, N>(x, bias), parameter, kind);
    let kept = kept::<N>(value, stream, threshold, scale, drops);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn step_backward<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    stream: Stream,
    threshold: u32,
    scale: f32,
    parameter: f32,
    #[comptime] kind: Kind,
    #[comptime] drops: bool,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    let slope = dy * derivative::<N>(biased::<F, N>(x, bias), parameter, kind);
    let kept = kept::<N>(slope, stream, threshold, scale, drops);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn gate<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    y: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    stream: Stream,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let probability = value::<N>(x, 0.0f32, comptime!(Unit::NormalCdf.kind()));
    let upper = numbers::<N>(stream) >> Vector::new(8u32);
    let uniform = Vector::<f32, N>::cast_from(upper) * Vector::new(1.0f32 / 16777216.0f32);
    let open = uniform.less_than(&probability);
    let y = Vector::<f32, N>::cast_from(y.read(ABSOLUTE_POS));
    out.write(ABSOLUTE_POS, Vector::cast_from(select_many(open, y, Vector::new(0.0f32))));
}

/// `x + bias` in f32: a 16-bit sum would be rounded a second time, and bf16 has none on Vulkan.
#[cube]
fn biased<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
) -> Vector<f32, N> {
    let bias = bias.read(ABSOLUTE_POS % bias.shape());
    Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS)) + Vector::<f32, N>::cast_from(bias)
}

/// Dropout, if the kernel drops.
#[cube]
fn kept<N: Size>(
    value: Vector<f32, N>,
    stream: Stream,
    threshold: u32,
    scale: f32,
    #[comptime] drops: bool,
) -> Vector<f32, N> {
    if comptime!(drops) {
        let dropped = numbers::<N>(stream).less_than(&Vector::new(threshold));
        select_many(dropped, Vector::new(0.0f32), value * Vector::new(scale))
    } else {
        value
    }
}

/// The random numbers of this unit's elements, counted in row-major order.
#[cube]
fn numbers<N: Size>(stream: Stream) -> Vector<u32, N> {
    let width = N::value().comptime();
    let first = ABSOLUTE_POS * width;
    let mut numbers = Vector::<u32, N>::new(0u32);
    if comptime!(width % 4 == 0) {
        #[unroll]
        for block in 0..comptime!(width / 4) {
            let words = words(first / 4usize + block, &stream);
            #[unroll]
            for word in 0..4usize {
                numbers.insert(comptime!(block * 4 + word), words.extract(word));
            }
        }
    } else {
        #[unroll]
        for lane in 0..width {
            let position = first + lane;
            let words = words(position / 4usize, &stream);
            let word = (position % 4usize) as u32;
            let low = select(word == 0u32, words.extract(0usize), words.extract(1usize));
            let high = select(word == 2u32, words.extract(2usize), words.extract(3usize));
            numbers.insert(lane, select(word < 2u32, low, high));
        }
    }
    numbers
}

/// The four numbers of a block of the stream.
#[cube]
pub(super) fn words(block: usize, stream: &Stream) -> Vector<u32, Const<4>> {
    // The upper half of 64 bits, and 0 where addresses have 32, which no shift by 32 could give.
    let high = (block / 65536usize / 65536usize) as u32;
    philox(block as u32, high, stream)
}

/// One block of Philox4x32-10; see `random::philox`.
#[cube]
fn philox(counter_low: u32, counter_high: u32, stream: &Stream) -> Vector<u32, Const<4>> {
    let mut a = counter_low;
    let mut b = counter_high;
    let mut c = stream.step_low;
    let mut d = stream.step_high;
    let mut key_low = stream.key_low;
    let mut key_high = stream.key_high;
    let left = comptime!(MULTIPLIERS[0]).runtime();
    let right = comptime!(MULTIPLIERS[1]).runtime();
    #[unroll]
    for _ in 0..comptime!(ROUNDS) {
        let first = u32::mul_hi(right, c) ^ b ^ key_low;
        let third = u32::mul_hi(left, a) ^ d ^ key_high;
        b = right * c;
        d = left * a;
        a = first;
        c = third;
        key_low += comptime!(WEYL[0]);
        key_high += comptime!(WEYL[1]);
    }
    let mut words = Vector::<u32, Const<4>>::new(a);
    words.insert(1usize, b);
    words.insert(2usize, c);
    words.insert(3usize, d);
    words
}
