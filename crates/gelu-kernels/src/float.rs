//! f32 and f64, the types of all computation.

use crate::arithmetic::{Double, Rounded};
use crate::functions::Function;
use crate::sealed::Sealed;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// A type that computation is done in: `f32` or `f64`.
pub trait Float:
    Sealed
    + Copy
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// The number 0.
    const ZERO: Self;

    /// Returns the nearest number of this type.
    fn from_f64(number: f64) -> Self;

    /// Returns the function `F` of this number. `FUSED` says that a multiply-add is one instruction.
    #[doc(hidden)]
    fn value<F: Function, const FUSED: bool>(self, parameter: f64) -> Self;

    /// Returns the derivative of `F` at this number.
    #[doc(hidden)]
    fn derivative<F: Function, const FUSED: bool>(self, parameter: f64) -> Self;
}

impl Float for f32 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn from_f64(number: f64) -> Self {
        number as Self
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
}

impl Float for f64 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn from_f64(number: f64) -> Self {
        number
    }

    #[inline(always)]
    fn value<F: Function, const FUSED: bool>(self, parameter: f64) -> Self {
        F::value(Double(self), parameter).0
    }

    #[inline(always)]
    fn derivative<F: Function, const FUSED: bool>(self, parameter: f64) -> Self {
        F::derivative(Double(self), parameter).0
    }
}
