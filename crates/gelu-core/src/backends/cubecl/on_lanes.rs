use crate::arithmetic::lanes::{Lanes, Precision};
use crate::composed::Of;
use burn_cubecl::cubecl;
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::functions::{Function, Job};

/// A function of a vector, recorded into the kernel that is being built.
pub(super) struct OnLanes<'a, P: Precision, N: Size> {
    pub(super) scope: &'a Scope,
    pub(super) x: NativeExpand<Vector<P, N>>,
    pub(super) parameter: NativeExpand<P>,
    pub(super) of: Of,
}

impl<P: Precision, N: Size> Job for OnLanes<'_, P, N> {
    type Output = NativeExpand<Vector<P, N>>;

    fn run<F: Function>(self) -> Self::Output {
        let x = Lanes::new(self.scope, self.x);
        match self.of {
            Of::Value => F::value(x, self.parameter).into_inner(),
            Of::Derivative => F::derivative(x, self.parameter).into_inner(),
            Of::SecondDerivative => F::second_derivative(x, self.parameter).into_inner(),
        }
    }
}
