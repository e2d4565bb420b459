//! The loop over a slice, compiled for each function and each level.

use crate::functions::{Function, Job, Kind};
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::places::{Loop, Of, Places};
use core::marker::PhantomData;

/// How many numbers are loaded, worked on and stored together: two registers of the widest kind.
pub(crate) const BLOCK: usize = 32;

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
/// As for `Kernel::run`.
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
        while length - start >= BLOCK {
            prefetch::<E, DERIVATIVE>(self.places, start);
            // SAFETY: the block lies within the places, as `Kernel::run` was promised.
            unsafe {
                let dy = if DERIVATIVE { dy.add(start) } else { dy };
                let results = self.block::<FUSED>(x.add(start), dy);
                out.add(start).cast::<[E; BLOCK]>().write_unaligned(results);
            }
            start += BLOCK;
        }
        let count = length - start;
        if count == 0 {
            return;
        }
        // The rest is copied, so that there are as many.
        let (mut padded_x, mut padded_dy) = ([E::ZERO; BLOCK], [E::ZERO; BLOCK]);
        // SAFETY: the rest lies within the places, and is shorter than a block.
        unsafe {
            core::ptr::copy_nonoverlapping(x.add(start), padded_x.as_mut_ptr(), count);
            if DERIVATIVE {
                core::ptr::copy_nonoverlapping(dy.add(start), padded_dy.as_mut_ptr(), count);
            }
            let results = self.block::<FUSED>(padded_x.as_ptr(), padded_dy.as_ptr());
            core::ptr::copy_nonoverlapping(results.as_ptr(), out.add(start), count);
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

/// Fetches what comes a page later: the processor's own prefetching stops at a page's end.
#[inline(always)]
fn prefetch<E, const DERIVATIVE: bool>(places: Places<E>, start: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        let (ahead, line) = (4096 / size_of::<E>(), 64 / size_of::<E>());
        for within in (0..BLOCK).step_by(line) {
            let at = start + ahead + within;
            // SAFETY: prefetching never faults, whatever the address.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(places.x.wrapping_add(at).cast());
                _mm_prefetch::<_MM_HINT_ET0>(places.out.wrapping_add(at).cast_const().cast());
                if DERIVATIVE {
                    _mm_prefetch::<_MM_HINT_T0>(places.dy.wrapping_add(at).cast());
                }
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (places, start);
}
