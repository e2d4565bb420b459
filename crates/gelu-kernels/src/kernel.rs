//! Loops over slices, compiled for each function and each level.

use crate::checks::expect_length;
use crate::float::Float;
use crate::functions::{Function, Job, Kind, Unit};
use crate::level::{Compiled, Level};
use crate::prefetch;
use core::marker::PhantomData;

/// The number of elements that are loaded, processed and stored together: two registers of the widest kind.
const BLOCK: usize = 32;

/// The result of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Writes `out = f(x)`.
    Value,
    /// Writes `out = dy·f′(x)`.
    Derivative,
    /// Writes `out = f(x)`, with the form of `f` that gated units use.
    GateValue,
    /// Writes `out = dy·f′(x)`, with the form of `f` that gated units use.
    GateDerivative,
    /// Writes both, `values = f(x)` and `out = dy·f′(x)`, for SiLU and two forms of GELU. The compiler finds
    /// the exponential that both formulas share, and computes it once.
    GateBoth,
}

/// The memory that a loop reads and writes. `out` may be `x` or `dy`, and `values` may be `x`, because the
/// loop reads each element before it writes it.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<E> {
    /// The inputs.
    pub x: *const E,
    /// The factors; only derivatives use them.
    pub dy: *const E,
    /// The results.
    pub out: *mut E,
    /// The function's values; only used where a loop computes both quantities.
    pub values: *mut E,
    /// The length of each of the arrays.
    pub length: usize,
}

impl<E> Arguments<E> {
    /// Returns the arguments of a loop that computes a function's values.
    pub(crate) fn new(x: *const E, out: *mut E, length: usize) -> Self {
        Self { x, dy: x, out, values: out, length }
    }

    /// Returns the same arguments with pointers to another type.
    pub(crate) fn cast<F>(self) -> Arguments<F> {
        let Self { x, dy, out, values, length } = self;
        let [x, dy] = [x, dy].map(<*const E>::cast);
        Arguments { x, dy, out: out.cast(), values: values.cast(), length }
    }

    /// Returns the arguments for the elements from `start` on.
    fn from(self, start: usize) -> Self {
        let [x, dy] = [self.x, self.dy].map(|place| place.wrapping_add(start));
        let [out, values] = [self.out, self.values].map(|place| place.wrapping_add(start));
        Self { x, dy, out, values, length: self.length - start }
    }
}

/// A loop over slices of whole blocks, compiled for one level. The number is the function's parameter.
pub(crate) type Loop<E> = unsafe fn((Arguments<E>, f64));

/// A type whose loops over slices this crate compiles, so that other crates need not compile all functions again.
pub trait Loops: Float {
    /// Returns the loop, or `None` if there is none.
    #[doc(hidden)]
    fn loop_of(kind: Kind, quantity: Quantity, level: Level) -> Option<Loop<Self>>;
}

impl Loops for f32 {
    fn loop_of(kind: Kind, quantity: Quantity, level: Level) -> Option<Loop<Self>> {
        pick(kind, quantity, level)
    }
}

impl Loops for f64 {
    fn loop_of(kind: Kind, quantity: Quantity, level: Level) -> Option<Loop<Self>> {
        pick(kind, quantity, level)
    }
}

/// Returns a function's loop for a level, or `None` if the function has no loop for both quantities of a gate.
fn pick<E: Float>(kind: Kind, quantity: Quantity, level: Level) -> Option<Loop<E>> {
    Some(match quantity {
        Quantity::Value => kind.with(Pick::<E, VALUE>::of(level)),
        Quantity::Derivative => kind.with(Pick::<E, DERIVATIVE>::of(level)),
        Quantity::GateValue => kind.with_gate(Pick::<E, VALUE>::of(level)),
        Quantity::GateDerivative => kind.with_gate(Pick::<E, DERIVATIVE>::of(level)),
        Quantity::GateBoth => return kind.with_common_gate(Pick::<E, BOTH>::of(level)),
    })
}

const VALUE: u8 = 0;
const DERIVATIVE: u8 = 1;
const BOTH: u8 = 2;

struct Pick<E, const OF: u8>(Level, PhantomData<E>);

impl<E, const OF: u8> Pick<E, OF> {
    fn of(level: Level) -> Self {
        Self(level, PhantomData)
    }
}

impl<E: Float, const OF: u8> Job for Pick<E, OF> {
    type Output = Loop<E>;

    fn run<F: Function>(self) -> Loop<E> {
        self.0.compiled::<Elementwise<E, F, OF>>()
    }
}

struct Elementwise<E, F, const OF: u8>(PhantomData<(E, F)>);

impl<E: Float, F: Function, const OF: u8> Compiled for Elementwise<E, F, OF> {
    type Arguments = (Arguments<E>, f64);

    /// Runs the loop over whole blocks.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::run`]. The length has to be a multiple of the block.
    #[inline(always)]
    unsafe fn run<const FUSED: bool>((arguments, parameter): (Arguments<E>, f64)) {
        let Arguments { x, dy, out, values, length } = arguments;
        let mut start = 0;
        while start < length {
            prefetch::to_read::<BLOCK, E>(x.wrapping_add(start));
            prefetch::to_write::<BLOCK, E>(out.wrapping_add(start));
            match OF {
                VALUE => {}
                _ => prefetch::to_read::<BLOCK, E>(dy.wrapping_add(start)),
            }
            // Reads a whole block at once, because builds with debug assertions check every read through a
            // pointer.
            // SAFETY: the block lies within the arguments, as the caller guarantees.
            let x = unsafe { x.add(start).cast::<[E; BLOCK]>().read_unaligned() };
            let dy = match OF {
                VALUE => x,
                // SAFETY: as above.
                _ => unsafe { dy.add(start).cast::<[E; BLOCK]>().read_unaligned() },
            };
            // The compiler vectorises this loop because nothing else points to its arrays.
            let (mut results, mut both) = ([E::ZERO; BLOCK], [E::ZERO; BLOCK]);
            for (i, result) in results.iter_mut().enumerate() {
                match OF {
                    VALUE => *result = x[i].value::<F, FUSED>(parameter),
                    DERIVATIVE => *result = x[i].derivative::<F, FUSED>(parameter) * dy[i],
                    _ => {
                        both[i] = x[i].value::<F, FUSED>(parameter);
                        *result = x[i].derivative::<F, FUSED>(parameter) * dy[i];
                    }
                }
            }
            // SAFETY: as above.
            unsafe {
                out.add(start).cast::<[E; BLOCK]>().write_unaligned(results);
                if OF == BOTH {
                    values.add(start).cast::<[E; BLOCK]>().write_unaligned(both);
                }
            }
            start += BLOCK;
        }
    }
}

/// A loop that computes a function or its derivative on slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel<E> {
    quantity: Quantity,
    parameter: f64,
    run: Loop<E>,
}

impl<E: Loops> Kernel<E> {
    pub(crate) fn new(quantity: Quantity, unit: Unit, level: Level) -> Self {
        Self::try_new(quantity, unit, level).expect("only both at once may have no loop")
    }

    /// Returns `None` if there is no loop for this quantity.
    fn try_new(quantity: Quantity, unit: Unit, level: Level) -> Option<Self> {
        let run = E::loop_of(unit.kind(), quantity, level)?;
        Some(Self { quantity, parameter: unit.parameter(), run })
    }

    /// Runs the loop.
    ///
    /// # Safety
    ///
    /// The arguments must be valid for reads or writes of their length, and nothing else may access what the
    /// loop writes. `dy` and `values` must be valid if the quantity uses them.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, arguments: Arguments<E>) {
        let rest = arguments.length % BLOCK;
        let whole = Arguments { length: arguments.length - rest, ..arguments };
        // SAFETY: the caller upholds the safety contract of this function.
        unsafe {
            if whole.length > 0 {
                (self.run)((whole, self.parameter));
            }
            if rest > 0 {
                self.run_rest(arguments.from(whole.length));
            }
        }
    }

    /// Runs the loop on less than a block. It copies the elements into a whole block, so that loops are
    /// compiled for whole blocks only.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_rest(&self, arguments: Arguments<E>) {
        let Arguments { x, dy, out, values, length } = arguments;
        // SAFETY: the caller upholds the safety contract, and the blocks are local variables.
        unsafe {
            let mut numbers = padded(x, length);
            let is_value = matches!(self.quantity, Quantity::Value | Quantity::GateValue);
            let mut factors = if is_value { numbers } else { padded(dy, length) };
            let (x, dy) = (numbers.as_mut_ptr(), factors.as_mut_ptr());
            let block = Arguments { x, dy, out: dy, values: x, length: BLOCK };
            (self.run)((block, self.parameter));
            core::ptr::copy_nonoverlapping(dy, out, length);
            if self.quantity == Quantity::GateBoth {
                core::ptr::copy_nonoverlapping(x, values, length);
            }
        }
    }

    /// Replaces each of `numbers` by its function value.
    #[inline(always)]
    pub(crate) fn replace(&self, numbers: &mut [E]) {
        let out = numbers.as_mut_ptr();
        // SAFETY: the slice is borrowed for this call, and all reads and writes are within it.
        unsafe { self.run(Arguments::new(out, out, numbers.len())) };
    }

    /// Multiplies each of `factors` by the derivative at `x`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline(always)]
    pub(crate) fn scale(&self, x: &[E], factors: &mut [E]) {
        expect_length("gradient", factors.len(), x.len(), format_args!("one for each of `x`"));
        let out = factors.as_mut_ptr();
        // SAFETY: the slices are borrowed for this call, and have the same length.
        unsafe { self.run(Arguments { dy: out, ..Arguments::new(x.as_ptr(), out, x.len()) }) };
    }
}

/// Returns a block that begins with `count` numbers and ends in zeros.
///
/// # Safety
///
/// `numbers` must be readable for `count` elements, and `count` at most a block.
unsafe fn padded<E: Float>(numbers: *const E, count: usize) -> [E; BLOCK] {
    let mut block = [E::ZERO; BLOCK];
    // SAFETY: the caller upholds the safety contract, and the block is a new array.
    unsafe { core::ptr::copy_nonoverlapping(numbers, block.as_mut_ptr(), count) };
    block
}

/// The loops that compute a gate's function and its derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GateKernel<E> {
    /// One loop for both, which the gates in common use have.
    Both(Kernel<E>),
    /// A loop for the function and a loop for its derivative.
    Each(Kernel<E>, Kernel<E>),
}

impl<E: Loops> GateKernel<E> {
    pub(crate) fn new(unit: Unit, level: Level) -> Self {
        let kernel = |quantity| Kernel::new(quantity, unit, level);
        match Kernel::try_new(Quantity::GateBoth, unit, level) {
            Some(both) => Self::Both(both),
            None => Self::Each(kernel(Quantity::GateValue), kernel(Quantity::GateDerivative)),
        }
    }

    /// Replaces each gate by its function value, and multiplies each factor by the derivative at the gate.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline(always)]
    pub(crate) fn replace_and_scale(&self, gates: &mut [E], factors: &mut [E]) {
        match self {
            Self::Each(value, derivative) => {
                derivative.scale(gates, factors);
                value.replace(gates);
            }
            Self::Both(both) => {
                assert_eq!(gates.len(), factors.len(), "a factor for every gate");
                let (x, dy, length) = (gates.as_mut_ptr(), factors.as_mut_ptr(), gates.len());
                // SAFETY: both slices are borrowed for this call, and have this length.
                unsafe { both.run(Arguments { x, dy, out: dy, values: x, length }) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Asserts that one loop for both quantities and two separate loops give bit-identical results.
    fn assert_the_same<E: Loops>(unit: Unit, level: Level, length: usize, bits: fn(E) -> u64) {
        let number = |i: usize, scale: f64| E::from_f64((i as f64 * 0.737).sin() * scale);
        let gates: Vec<E> = (0..length).map(|i| number(i, 30.0)).collect();
        let factors: Vec<E> = (0..length).map(|i| number(i + 5, 1.5)).collect();
        let (mut values, mut slopes) = (gates.clone(), factors.clone());
        GateKernel::new(unit, level).replace_and_scale(&mut values, &mut slopes);
        let kernel = |quantity| Kernel::new(quantity, unit, level);
        let (mut value, mut slope) = (gates.clone(), factors);
        kernel(Quantity::GateValue).replace(&mut value);
        kernel(Quantity::GateDerivative).scale(&gates, &mut slope);
        for (got, expected) in values.into_iter().zip(value).chain(slopes.into_iter().zip(slope)) {
            assert_eq!(bits(got), bits(expected), "{unit}, {length} numbers, {level:?}");
        }
    }

    #[test]
    fn both_at_once_have_the_bits_of_each_alone() {
        for level in Level::available() {
            for unit in Unit::ALL {
                for length in [0, 1, 31, 32, 33, 1000] {
                    assert_the_same(unit, level, length, |x: f32| x.to_bits().into());
                    assert_the_same(unit, level, length, f64::to_bits);
                }
            }
        }
    }
}
