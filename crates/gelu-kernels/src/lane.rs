//! A type that is computed in, and the loops over slices of it.

use crate::functions::{Function, Kind};
use crate::level::Level;
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
    #[doc(hidden)]
    fn loop_of(kind: Kind, of: Of) -> Loop<Self>;
}

/// A loop over slices, in code for a level, for a function with this parameter.
pub(crate) type Loop<E> = unsafe fn(Level, Places<E>, f64);

/// Which of a function's loops.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// `out = f(x)`
    Value,
    /// `out = dy·f′(x)`
    Derivative,
    /// The first as a gated unit computes it.
    Gate,
    /// The second as a gated unit computes it.
    GateDerivative,
}

/// Where a function reads and writes. `out` may be `x` or `dy`; each element is read before it is
/// written.
#[derive(Clone, Copy, Debug)]
pub struct Places<E> {
    /// The inputs.
    pub x: *const E,
    /// Only for a derivative.
    pub dy: *const E,
    /// The results.
    pub out: *mut E,
    /// How many there are of each.
    pub length: usize,
}

/// A function or its derivative on slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel<E> {
    level: Level,
    parameter: f64,
    run: Loop<E>,
}

impl<E: Lane> Kernel<E> {
    pub(crate) fn new(of: Of, kind: Kind, parameter: f64, level: Level) -> Self {
        Self { level, parameter, run: E::loop_of(kind, of) }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// # Safety
    ///
    /// The places must be valid to read or write for their length, `out` touched by nothing else,
    /// and `dy` be there for a derivative.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, places: Places<E>) {
        // SAFETY: as the caller promises.
        unsafe { (self.run)(self.level, places, self.parameter) };
    }

    /// The function of numbers, in their place.
    #[inline(always)]
    pub(crate) fn replace(&self, numbers: &mut [E]) {
        let out = numbers.as_mut_ptr();
        // SAFETY: the slice is borrowed for this call, and no derivative reads `dy` elsewhere.
        unsafe { self.run(Places { x: out, dy: out, out, length: numbers.len() }) };
    }

    /// Factors times the derivative at `x`, in their place.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline(always)]
    pub(crate) fn scale(&self, x: &[E], factors: &mut [E]) {
        assert_eq!(x.len(), factors.len(), "a factor for every input");
        let out = factors.as_mut_ptr();
        // SAFETY: the slices are borrowed for this call, and are as long as each other.
        unsafe { self.run(Places { x: x.as_ptr(), dy: out, out, length: x.len() }) };
    }
}
