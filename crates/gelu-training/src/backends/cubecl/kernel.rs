//! The work of one unit of a kernel: it reads a vector of each tensor, computes in f32, and writes
//! the results.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]
#![allow(clippy::too_many_arguments, reason = "a kernel takes its tensors and numbers one by one")]

use burn_cubecl::cubecl;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};

/// Computes a step of Adam. `out` is the parameter's memory or the gradient's. Moments are f32 for all parameter types,
/// because 16 bits cannot hold the square of a small gradient. `maximum` is AMSGrad's. With `numbers`, the kernel reads
/// the numbers that change from step to step there, from `first` on, in the order of [`crate::AdamStep::changing`].
#[cube(launch_unchecked)]
pub(super) fn adam<F: Float, N: Size>(
    parameter: LinearView<'_, Vector<F, N>>,
    gradient: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    mut moment_1: LinearViewMut<'_, Vector<f32, N>>,
    mut moment_2: LinearViewMut<'_, Vector<f32, N>>,
    maximum: ComptimeOption<LinearViewMut<'_, Vector<f32, N>>>,
    rate: f32,
    beta_1: f32,
    rest_1: f32,
    beta_2: f32,
    rest_2: f32,
    epsilon: f32,
    epsilon_of_zero: f32,
    penalty: f32,
    kept: f32,
    kept_against: f32,
    numbers: ComptimeOption<&Tensor<f32>>,
    first: u32,
    #[comptime] inside: bool,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let mut rate = rate;
    let mut epsilon = epsilon;
    let mut epsilon_of_zero = epsilon_of_zero;
    let mut kept = kept;
    let mut kept_against = kept_against;
    #[comptime]
    if let ComptimeOption::Some(numbers) = numbers {
        let first = first as usize;
        rate = numbers[first];
        epsilon = numbers[first + 1];
        epsilon_of_zero = numbers[first + 2];
        kept = numbers[first + 3];
        kept_against = numbers[first + 4];
    }
    let w = Vector::<f32, N>::cast_from(parameter.read(ABSOLUTE_POS));
    let g = Vector::<f32, N>::cast_from(gradient.read(ABSOLUTE_POS)) + w * Vector::new(penalty);
    let m = moment_1.read(ABSOLUTE_POS);
    let v = moment_2.read(ABSOLUTE_POS);
    let m = m * Vector::new(beta_1) + g * Vector::new(rest_1);
    let v = v * Vector::new(beta_2) + g * g * Vector::new(rest_2);
    moment_1.write(ABSOLUTE_POS, m);
    moment_2.write(ABSOLUTE_POS, v);
    let mut root = v;
    #[comptime]
    if let ComptimeOption::Some(mut maximum) = maximum {
        let before = maximum.read(ABSOLUTE_POS);
        root = select_many(before.less_than(&v), v, before);
        maximum.write(ABSOLUTE_POS, root);
    }
    let zero = Vector::new(0.0f32);
    let is_above_zero = zero.less_than(&root);
    let epsilon = select_many(is_above_zero, Vector::new(epsilon), Vector::new(epsilon_of_zero));
    let divisor = if comptime!(inside) { (root + epsilon).sqrt() } else { root.sqrt() + epsilon };
    let (kept, against) = (Vector::new(kept), Vector::new(kept_against));
    let descends = m.less_than(&zero);
    let kept = select_many(
        w.less_than(&zero),
        select_many(descends, kept, against),
        select_many(descends, against, kept),
    );
    let w = w * kept - m * Vector::new(rate) / divisor;
    out.write(ABSOLUTE_POS, Vector::cast_from(w));
}

/// Computes a step of SGD; see [`adam`]. The numbers are in the order of [`crate::SgdStep::changing`].
#[cube(launch_unchecked)]
pub(super) fn sgd<F: Float, N: Size>(
    parameter: LinearView<'_, Vector<F, N>>,
    gradient: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    mut velocity: LinearViewMut<'_, Vector<f32, N>>,
    rate: f32,
    momentum: f32,
    taken_up: f32,
    weight_decay: f32,
    numbers: ComptimeOption<&Tensor<f32>>,
    first: u32,
    #[comptime] nesterov: bool,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let mut rate = rate;
    let mut taken_up = taken_up;
    #[comptime]
    if let ComptimeOption::Some(numbers) = numbers {
        let first = first as usize;
        rate = numbers[first];
        taken_up = numbers[first + 1];
    }
    let w = Vector::<f32, N>::cast_from(parameter.read(ABSOLUTE_POS));
    let g = Vector::<f32, N>::cast_from(gradient.read(ABSOLUTE_POS));
    let v = velocity.read(ABSOLUTE_POS);
    let g = g + w * Vector::new(weight_decay);
    let v = v * Vector::new(momentum) + g * Vector::new(taken_up);
    let direction = if comptime!(nesterov) { g + v * Vector::new(momentum) } else { v };
    let w = w - direction * Vector::new(rate);
    velocity.write(ABSOLUTE_POS, v);
    out.write(ABSOLUTE_POS, Vector::cast_from(w));
}
