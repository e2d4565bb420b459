//! A function's loop with its level and its parameter, on slices.

use crate::functions::{Kind, Unit};
use crate::lane::Lane;
use crate::level::Level;
use crate::places::{GateLoop, GatePlaces, Loop, Of, Places};

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

/// A gate's function and its derivative, both at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GateKernel<E> {
    value: Kernel<E>,
    derivative: Kernel<E>,
    /// Of the gates that are in use: one loop for both computes what they have in common once.
    both: Option<GateLoop<E>>,
}

impl<E: Lane> GateKernel<E> {
    pub(crate) fn new(unit: Unit, level: Level) -> Self {
        let kernel = |of| Kernel::new(of, unit.kind(), unit.parameter(), level);
        Self {
            value: kernel(Of::Gate),
            derivative: kernel(Of::GateDerivative),
            both: E::gate_loop_of(unit.kind()),
        }
    }

    /// The gates become the function of them, the factors are multiplied by its derivative at them.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline(always)]
    pub(crate) fn replace_and_scale(&self, gates: &mut [E], factors: &mut [E]) {
        let Some(both) = self.both else {
            self.derivative.scale(gates, factors);
            self.value.replace(gates);
            return;
        };
        let length = gates.len();
        assert_eq!(length, factors.len(), "a factor for every gate");
        let places =
            GatePlaces { gates: gates.as_mut_ptr(), factors: factors.as_mut_ptr(), length };
        // SAFETY: the slices are borrowed for this call, and are as long as each other.
        unsafe { both(self.value.level, places, self.value.parameter) };
    }
}
