//! A function of a vector, recorded into the kernel that is being built.

use crate::arithmetic::lanes::{Brief, Lanes, Precision};
use crate::composed::Of;
use burn_cubecl::cubecl;
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::Arithmetic;
use gelu_kernels::functions::{Function, Job, Kind};

type Register<P, N> = NativeExpand<Vector<P, N>>;

/// In the arithmetic of the vector's own type.
pub(super) struct OnLanes<'a, P: Precision, N: Size> {
    pub(super) scope: &'a Scope,
    pub(super) x: Register<P, N>,
    pub(super) parameter: NativeExpand<P>,
    pub(super) of: Of,
}

impl<P: Precision, N: Size> Job for OnLanes<'_, P, N> {
    type Output = Register<P, N>;

    fn run<F: Function>(self) -> Self::Output {
        let x = Lanes::new(self.scope, self.x);
        let y = recorded::<F, _>(self.of, x.clone(), self.parameter);
        y.nan_where(&x).into_inner()
    }
}

/// For results that are rounded to 16 bits.
struct OnBrief<'a, N: Size>(OnLanes<'a, f32, N>);

impl<N: Size> Job for OnBrief<'_, N> {
    type Output = Register<f32, N>;

    fn run<F: Function>(self) -> Self::Output {
        let OnLanes { scope, x, parameter, of } = self.0;
        let y = recorded::<F, _>(of, Brief::new(scope, x), parameter).into_inner();
        Lanes::new(scope, y).nan_where(&Lanes::new(scope, x)).into_inner()
    }
}

/// A function of what is read from a tensor of type `F`, in f32.
pub(super) fn on_type<F: Float, N: Size>(
    scope: &Scope,
    x: Register<f32, N>,
    parameter: NativeExpand<f32>,
    kind: Kind,
    of: Of,
) -> Register<f32, N> {
    let on_lanes = OnLanes { scope, x, parameter, of };
    match F::elem_type(scope).size() {
        2 => kind.with(OnBrief(on_lanes)),
        _ => kind.with(on_lanes),
    }
}

fn recorded<F: Function, A: Arithmetic>(of: Of, x: A, parameter: A::Parameter) -> A {
    match of {
        Of::Value => F::value(x, parameter),
        Of::Derivative => F::derivative(x, parameter),
        Of::SecondDerivative => F::second_derivative(x, parameter),
    }
}
