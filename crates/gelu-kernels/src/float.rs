//! f32 and f64 as what is computed in.

use crate::arithmetic::{Double, Rounded};
use crate::functions::Function;
#[cfg(feature = "loops")]
use crate::functions::Kind;
use crate::lane::Lane;
#[cfg(feature = "loops")]
use crate::places::{GateLoop, Loop, Of};
use crate::root;
#[cfg(feature = "loops")]
use crate::{elementwise, gate_loop};

impl Lane for f32 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn of(number: f64) -> Self {
        number as Self
    }

    #[inline(always)]
    fn root(self) -> Self {
        root::single(self)
    }

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
    }

    #[inline(always)]
    fn value<F: Function, const FUSED: bool>(self, parameter: f64) -> Self {
        if FUSED {
            F::fused(self, parameter)
        } else {
            F::value(Rounded(f64::from(self)), parameter).0 as f32
        }
    }

    #[inline(always)]
    fn derivative<F: Function, const FUSED: bool>(self, parameter: f64) -> Self {
        if FUSED {
            F::fused_derivative(self, parameter)
        } else {
            F::derivative(Rounded(f64::from(self)), parameter).0 as f32
        }
    }

    #[cfg(feature = "loops")]
    fn loop_of(kind: Kind, of: Of) -> Loop<Self> {
        elementwise::pick(kind, of)
    }

    #[cfg(feature = "loops")]
    fn gate_loop_of(kind: Kind) -> Option<GateLoop<Self>> {
        gate_loop::pick(kind)
    }
}

impl Lane for f64 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn of(number: f64) -> Self {
        number
    }

    #[inline(always)]
    fn root(self) -> Self {
        root::double(self)
    }

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
    }

    #[inline(always)]
    fn value<F: Function, const FUSED: bool>(self, parameter: f64) -> Self {
        F::value(Double(self), parameter).0
    }

    #[inline(always)]
    fn derivative<F: Function, const FUSED: bool>(self, parameter: f64) -> Self {
        F::derivative(Double(self), parameter).0
    }

    #[cfg(feature = "loops")]
    fn loop_of(kind: Kind, of: Of) -> Loop<Self> {
        elementwise::pick(kind, of)
    }

    #[cfg(feature = "loops")]
    fn gate_loop_of(kind: Kind) -> Option<GateLoop<Self>> {
        gate_loop::pick(kind)
    }
}
