//! A function's loop with its level and its parameter, on slices.

use crate::checks::expect_length;
use crate::functions::{Kind, Unit};
use crate::lane::Lane;
use crate::level::Level;
use crate::places::{BLOCK, GateLoop, GatePlaces, Loop, Of, Places};

/// A function or its derivative on slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel<E> {
    level: Level,
    parameter: f64,
    /// Whether it reads factors.
    derivative: bool,
    run: Loop<E>,
}

impl<E: Lane> Kernel<E> {
    pub(crate) fn new(of: Of, kind: Kind, parameter: f64, level: Level) -> Self {
        let derivative = matches!(of, Of::Derivative | Of::GateDerivative);
        Self { level, parameter, derivative, run: E::loop_of(kind, of) }
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
        let rest = places.length % BLOCK;
        let whole = Places { length: places.length - rest, ..places };
        // SAFETY: as the caller promises.
        unsafe {
            if whole.length > 0 {
                (self.run)(self.level, whole, self.parameter);
            }
            if rest > 0 {
                self.run_rest(places.from(whole.length));
            }
        }
    }

    /// What is less than a block. It is copied, so that there are as many.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_rest(&self, places: Places<E>) {
        let Places { x, dy, out, length } = places;
        // SAFETY: as the caller promises; the blocks are this function's.
        unsafe {
            let mut numbers = padded(x, length);
            let factors = if self.derivative { padded(dy, length) } else { numbers };
            let place = numbers.as_mut_ptr();
            let block = Places { x: place, dy: factors.as_ptr(), out: place, length: BLOCK };
            (self.run)(self.level, block, self.parameter);
            core::ptr::copy_nonoverlapping(numbers.as_ptr(), out, length);
        }
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
        expect_length("gradient", factors.len(), x.len(), format_args!("one for each of `x`"));
        let out = factors.as_mut_ptr();
        // SAFETY: the slices are borrowed for this call, and are as long as each other.
        unsafe { self.run(Places { x: x.as_ptr(), dy: out, out, length: x.len() }) };
    }
}

/// A block that begins with so many numbers and ends in zeros.
///
/// # Safety
///
/// They must be readable, and no more than a block.
unsafe fn padded<E: Lane>(numbers: *const E, count: usize) -> [E; BLOCK] {
    let mut block = [E::ZERO; BLOCK];
    // SAFETY: as the caller promises; the block is new.
    unsafe { core::ptr::copy_nonoverlapping(numbers, block.as_mut_ptr(), count) };
    block
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
        let (length, parameter) = (gates.len(), self.value.parameter);
        assert_eq!(length, factors.len(), "a factor for every gate");
        let run = |gates: *mut E, factors: *mut E, length| {
            // SAFETY: both are borrowed for this call, as long as that, and whole blocks.
            unsafe { both(self.value.level, GatePlaces { gates, factors, length }, parameter) };
        };
        let (gates, rest) = gates.as_chunks_mut::<BLOCK>();
        let (factors, rest_of_factors) = factors.as_chunks_mut::<BLOCK>();
        run(gates.as_mut_ptr().cast(), factors.as_mut_ptr().cast(), length - rest.len());
        if !rest.is_empty() {
            let mut padded = [[E::ZERO; BLOCK]; 2];
            let [gates, factors] = &mut padded;
            gates[..rest.len()].copy_from_slice(rest);
            factors[..rest.len()].copy_from_slice(rest_of_factors);
            run(gates.as_mut_ptr(), factors.as_mut_ptr(), BLOCK);
            rest.copy_from_slice(&gates[..rest.len()]);
            rest_of_factors.copy_from_slice(&factors[..rest.len()]);
        }
    }
}
