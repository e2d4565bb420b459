//! Records a function of a vector into the kernel that is being built.

use crate::arithmetic::lanes::{Brief, Lanes, Precision};
use burn_cubecl::cubecl;
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::functions::{Function, Job, Kind};

type Register<P, N> = NativeExpand<Vector<P, N>>;

/// The function or a derivative of it, in the arithmetic of the vector's own type.
pub(super) struct OnLanes<'a, P: Precision, N: Size, const ORDER: u8> {
    pub(super) scope: &'a Scope,
    pub(super) x: Register<P, N>,
    pub(super) parameter: NativeExpand<P>,
}

impl<P: Precision, N: Size, const ORDER: u8> Job for OnLanes<'_, P, N, ORDER> {
    type Output = Register<P, N>;

    fn run<F: Function>(self) -> Self::Output {
        let x = Lanes::new(self.scope, self.x);
        let y = F::of_order::<_, ORDER>(x.clone(), self.parameter);
        y.nan_where(&x).into_inner()
    }
}

/// The function or a derivative of it, for results that are rounded to 16 bits.
struct OnBrief<'a, N: Size, const ORDER: u8>(OnLanes<'a, f32, N, ORDER>);

impl<N: Size, const ORDER: u8> Job for OnBrief<'_, N, ORDER> {
    type Output = Register<f32, N>;

    fn run<F: Function>(self) -> Self::Output {
        let OnLanes { scope, x, parameter } = self.0;
        let y = F::of_order::<_, ORDER>(Brief::new(scope, x), parameter).into_inner();
        Lanes::new(scope, y).nan_where(&Lanes::new(scope, x)).into_inner()
    }
}

/// Returns the function or derivative at `x` in f32, where `x` was read from a tensor of type `F`.
pub(super) fn on_type<F: Float, N: Size, const ORDER: u8>(
    scope: &Scope,
    x: Register<f32, N>,
    parameter: NativeExpand<f32>,
    kind: Kind,
) -> Register<f32, N> {
    let on_lanes = OnLanes::<_, _, ORDER> { scope, x, parameter };
    match F::elem_type(scope).size() {
        2 => kind.with(OnBrief(on_lanes)),
        _ => kind.with(on_lanes),
    }
}
