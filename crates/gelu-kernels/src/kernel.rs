//! A function's loops over slices, compiled for each function and each level.

use crate::checks::expect_length;
use crate::float::Float;
use crate::functions::{Function, Job, Kind, Unit};
use crate::level::{Compiled, Level};
use crate::prefetch;
use core::marker::PhantomData;

/// How many numbers are loaded, worked on and stored together: two registers of the widest kind.
const BLOCK: usize = 32;

/// What a loop computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `out = f(x)`
    Value,
    /// `out = dy·f′(x)`
    Derivative,
    /// The first as a gated unit computes it.
    GateValue,
    /// The second as a gated unit computes it.
    GateDerivative,
    /// Both at once, for SiLU and two forms of GELU: `values = f(x)` and `out = dy·f′(x)`. The compiler finds
    /// what the two formulas have in common, an exponential, and computes it once.
    GateBoth,
}

/// Where a loop reads and writes. `out` may be `x` or `dy`, and `values` may be `x`; each element is read
/// before it is written.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<E> {
    /// The inputs.
    pub x: *const E,
    /// The factors, only for derivatives.
    pub dy: *const E,
    /// The results.
    pub out: *mut E,
    /// The function's values, only where both are computed.
    pub values: *mut E,
    /// How many there are of each.
    pub length: usize,
}

impl<E> Arguments<E> {
    /// Those of a function alone.
    pub(crate) fn new(x: *const E, out: *mut E, length: usize) -> Self {
        Self { x, dy: x, out, values: out, length }
    }

    /// As another type.
    pub(crate) fn cast<F>(self) -> Arguments<F> {
        let Self { x, dy, out, values, length } = self;
        let [x, dy] = [x, dy].map(<*const E>::cast);
        Arguments { x, dy, out: out.cast(), values: values.cast(), length }
    }

    /// Those from one on.
    fn from(self, start: usize) -> Self {
        let [x, dy] = [self.x, self.dy].map(|place| place.wrapping_add(start));
        let [out, values] = [self.out, self.values].map(|place| place.wrapping_add(start));
        Self { x, dy, out, values, length: self.length - start }
    }
}

/// A loop over slices of whole blocks, in code for a level; the number is the function's parameter.
pub(crate) type Loop<E> = unsafe fn((Arguments<E>, f64));

/// A function's loop for a level; `None` if the two of a gate have no loop in common.
pub(crate) fn pick<E: Float>(kind: Kind, quantity: Quantity, level: Level) -> Option<Loop<E>> {
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

    /// # Safety
    ///
    /// As for [`Kernel::run`], of whole blocks.
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
            // Read at once: builds with debug assertions check every read through a pointer.
            // SAFETY: the block lies within the arguments, as the caller promised.
            let x = unsafe { x.add(start).cast::<[E; BLOCK]>().read_unaligned() };
            let dy = match OF {
                VALUE => x,
                // SAFETY: as above.
                _ => unsafe { dy.add(start).cast::<[E; BLOCK]>().read_unaligned() },
            };
            // One loop that the compiler vectorises, into arrays that nothing else points to.
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

/// A function or its derivative on slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel<E> {
    quantity: Quantity,
    parameter: f64,
    run: Loop<E>,
}

impl<E: Float> Kernel<E> {
    pub(crate) fn new(quantity: Quantity, unit: Unit, level: Level) -> Self {
        Self::try_new(quantity, unit, level).expect("only both at once may have no loop")
    }

    /// `None` if there is no such loop.
    fn try_new(quantity: Quantity, unit: Unit, level: Level) -> Option<Self> {
        let run = E::loop_of(unit.kind(), quantity, level)?;
        Some(Self { quantity, parameter: unit.parameter(), run })
    }

    /// # Safety
    ///
    /// The arguments must be valid to read or write for their length, what is written touched by nothing else,
    /// and `dy` and `values` be there where the quantity needs them.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, arguments: Arguments<E>) {
        let rest = arguments.length % BLOCK;
        let whole = Arguments { length: arguments.length - rest, ..arguments };
        // SAFETY: as the caller promises.
        unsafe {
            if whole.length > 0 {
                (self.run)((whole, self.parameter));
            }
            if rest > 0 {
                self.run_rest(arguments.from(whole.length));
            }
        }
    }

    /// Less than a block, copied into a whole one, so that loops are compiled for whole blocks alone.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn run_rest(&self, arguments: Arguments<E>) {
        let Arguments { x, dy, out, values, length } = arguments;
        // SAFETY: as the caller promises; the blocks are this function's.
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

    /// The function of numbers, in their place.
    #[inline(always)]
    pub(crate) fn replace(&self, numbers: &mut [E]) {
        let out = numbers.as_mut_ptr();
        // SAFETY: the slice is borrowed for this call, and all reads and writes are in it.
        unsafe { self.run(Arguments::new(out, out, numbers.len())) };
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
        unsafe { self.run(Arguments { dy: out, ..Arguments::new(x.as_ptr(), out, x.len()) }) };
    }
}

/// A block that begins with so many numbers and ends in zeros.
///
/// # Safety
///
/// They must be readable, and no more than a block.
unsafe fn padded<E: Float>(numbers: *const E, count: usize) -> [E; BLOCK] {
    let mut block = [E::ZERO; BLOCK];
    // SAFETY: as the caller promises; the block is new.
    unsafe { core::ptr::copy_nonoverlapping(numbers, block.as_mut_ptr(), count) };
    block
}

/// A gate's function and its derivative, both at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GateKernel<E> {
    /// One loop for both, of the gates that are in use.
    Both(Kernel<E>),
    /// The function and its derivative.
    Each(Kernel<E>, Kernel<E>),
}

impl<E: Float> GateKernel<E> {
    pub(crate) fn new(unit: Unit, level: Level) -> Self {
        let kernel = |quantity| Kernel::new(quantity, unit, level);
        match Kernel::try_new(Quantity::GateBoth, unit, level) {
            Some(both) => Self::Both(both),
            None => Self::Each(kernel(Quantity::GateValue), kernel(Quantity::GateDerivative)),
        }
    }

    /// The gates become the function of them, the factors are multiplied by its derivative at them.
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
                // SAFETY: both are borrowed for this call, and as long as that.
                unsafe { both.run(Arguments { x, dy, out: dy, values: x, length }) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The bits of a gate's value and scaled derivative, by one loop and by one for each.
    fn assert_the_same<E: Float>(unit: Unit, level: Level, length: usize, bits: fn(E) -> u64) {
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
