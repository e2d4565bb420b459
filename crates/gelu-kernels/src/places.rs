//! What a compiled loop is called with.

use crate::level::Level;

/// How many numbers are loaded, worked on and stored together: two registers of the widest kind.
pub(crate) const BLOCK: usize = 32;

/// A loop over slices of whole blocks, in code for a level, for a function with this parameter.
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

impl<E> Places<E> {
    /// Those from one on.
    pub(crate) fn from(self, start: usize) -> Self {
        let Self { x, dy, out, length } = self;
        let [x, dy] = [x, dy].map(|place| place.wrapping_add(start));
        Self { x, dy, out: out.wrapping_add(start), length: length - start }
    }
}

/// Replaces whole blocks of gates by the function of them, and multiplies as many factors by its derivative at
/// them.
pub(crate) type GateLoop<E> = unsafe fn(Level, GatePlaces<E>, f64);

/// Where such a loop reads and writes: two slices that do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct GatePlaces<E> {
    /// The gates.
    pub gates: *mut E,
    /// The factors.
    pub factors: *mut E,
    /// How many there are of each.
    pub length: usize,
}
