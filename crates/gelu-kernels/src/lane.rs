//! A type that is computed in.

use crate::functions::Function;
#[cfg(feature = "loops")]
use crate::functions::Kind;
#[cfg(feature = "loops")]
use crate::places::{GateLoop, Loop, Of};
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// A type that is computed in: `f32` or `f64`. No other type can be one.
pub trait Lane:
    Copy
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
    /// 0.
    const ZERO: Self;

    /// The nearest number.
    fn of(number: f64) -> Self;

    /// √x, correctly rounded.
    fn root(self) -> Self;

    /// 0 in place of a subnormal number. A moment that only decays would end as one and stay: the
    /// last ones times 0.9 are rounded to themselves, and x86 processors take some hundred times as
    /// long over each.
    fn flushed(self) -> Self;

    /// A function; `FUSED` where a multiply-add is one instruction.
    #[doc(hidden)]
    fn value<F: Function, const FUSED: bool>(self, parameter: f64) -> Self;

    /// Its derivative.
    #[doc(hidden)]
    fn derivative<F: Function, const FUSED: bool>(self, parameter: f64) -> Self;

    /// The loop over slices. Two types have loops of their own here, so that no other crate compiles
    /// all functions again.
    #[cfg(feature = "loops")]
    #[doc(hidden)]
    fn loop_of(kind: Kind, of: Of) -> Loop<Self>;

    /// That of a gate's function and its derivative together, if it has one.
    #[cfg(feature = "loops")]
    #[doc(hidden)]
    fn gate_loop_of(kind: Kind) -> Option<GateLoop<Self>>;
}
