//! The loop over a slice, compiled for each function and each level.

use crate::functions::{Function, Job, Kind};
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::places::{BLOCK, Loop, Of, Places};
use crate::prefetch;
use core::marker::PhantomData;

/// A function's loop.
pub(crate) fn pick<E: Lane>(kind: Kind, of: Of) -> Loop<E> {
    match of {
        Of::Value => kind.with(Compiled::<E, false>(PhantomData)),
        Of::Derivative => kind.with(Compiled::<E, true>(PhantomData)),
        Of::Gate => kind.with_gate(Compiled::<E, false>(PhantomData)),
        Of::GateDerivative => kind.with_gate(Compiled::<E, true>(PhantomData)),
    }
}

/// The loop of a function.
struct Compiled<E, const DERIVATIVE: bool>(PhantomData<E>);

impl<E: Lane, const DERIVATIVE: bool> Job for Compiled<E, DERIVATIVE> {
    type Output = Loop<E>;

    fn run<F: Function>(self) -> Self::Output {
        apply::<E, F, DERIVATIVE>
    }
}

/// # Safety
///
/// As for `Kernel::run`, of whole blocks.
unsafe fn apply<E: Lane, F: Function, const DERIVATIVE: bool>(
    level: Level,
    places: Places<E>,
    parameter: f64,
) {
    level.run(Elementwise::<E, F, DERIVATIVE> { places, parameter, _function: PhantomData });
}

struct Elementwise<E, F, const DERIVATIVE: bool> {
    places: Places<E>,
    parameter: f64,
    _function: PhantomData<F>,
}

impl<E: Lane, F: Function, const DERIVATIVE: bool> Work for Elementwise<E, F, DERIVATIVE> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Places { x, dy, out, length } = self.places;
        let mut start = 0;
        while start < length {
            prefetch::to_read::<BLOCK, E>(x.wrapping_add(start));
            prefetch::to_write::<BLOCK, E>(out.wrapping_add(start));
            if DERIVATIVE {
                prefetch::to_read::<BLOCK, E>(dy.wrapping_add(start));
            }
            // SAFETY: the block lies within the places, as the caller of `apply` promised.
            unsafe {
                let dy = if DERIVATIVE { dy.add(start) } else { dy };
                let results = self.block::<FUSED>(x.add(start), dy);
                out.add(start).cast::<[E; BLOCK]>().write_unaligned(results);
            }
            start += BLOCK;
        }
    }
}

impl<E: Lane, F: Function, const DERIVATIVE: bool> Elementwise<E, F, DERIVATIVE> {
    /// One block, in one loop that the compiler vectorises, into an array that nothing else points
    /// to.
    ///
    /// # Safety
    ///
    /// `BLOCK` numbers must be readable at `x`, and for a derivative at `dy`.
    #[inline(always)]
    unsafe fn block<const FUSED: bool>(&self, x: *const E, dy: *const E) -> [E; BLOCK] {
        // Read at once: builds with debug assertions check every read through a pointer.
        // SAFETY: as the caller promises.
        let x = unsafe { x.cast::<[E; BLOCK]>().read_unaligned() };
        let dy = match DERIVATIVE {
            // SAFETY: as the caller promises.
            true => unsafe { dy.cast::<[E; BLOCK]>().read_unaligned() },
            false => x,
        };
        let mut results = [E::ZERO; BLOCK];
        for (i, result) in results.iter_mut().enumerate() {
            *result = if DERIVATIVE {
                x[i].derivative::<F, FUSED>(self.parameter) * dy[i]
            } else {
                x[i].value::<F, FUSED>(self.parameter)
            };
        }
        results
    }
}
