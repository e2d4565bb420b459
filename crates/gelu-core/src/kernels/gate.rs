use super::elementwise::{Kernel, Places};
use super::level::{Level, Work};
use super::storage::{Lane, Storage};
use super::threads::for_each_chunk;
use crate::functions::Unit;
use crate::random::{Draw, philox, uniform};
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers are drawn ahead.
const DRAWN: usize = 1024;

/// `out = y` where the draw's uniform number is below Φ(x), else 0; compared in the type that is
/// computed in. Gives `out` back written.
///
/// # Panics
///
/// If the lengths differ.
pub(crate) fn gate<'a, S: Storage>(
    x: &[S],
    y: &[S],
    out: &'a mut [MaybeUninit<S>],
    draw: Draw,
) -> &'a mut [S] {
    assert_eq!(x.len(), y.len(), "a number to let through for every input");
    assert_eq!(x.len(), out.len(), "a result for every input");
    let level = Level::best();
    let kernel = Kernel::value(Unit::NormalCdf.kind(), 0.0, level);
    let place = Out(out.as_mut_ptr());
    for_each_chunk(x.len(), 0, |range| {
        // SAFETY: chunks are disjoint parts of the slice, which is borrowed for this call.
        let out = unsafe { core::slice::from_raw_parts_mut(place.at(range.start), range.len()) };
        level.run(Gate { x: &x[range.clone()], y: &y[range.clone()], out, range, draw, kernel });
    });
    // SAFETY: the chunks are all of the slice, and each has been written.
    unsafe { out.assume_init_mut() }
}

/// Where threads write.
struct Out<S>(*mut MaybeUninit<S>);

// SAFETY: threads are given disjoint ranges.
unsafe impl<S: Send> Sync for Out<S> {}

impl<S> Out<S> {
    /// # Safety
    ///
    /// The slice must be that long.
    unsafe fn at(&self, index: usize) -> *mut MaybeUninit<S> {
        // SAFETY: as the caller promises.
        unsafe { self.0.add(index) }
    }
}

struct Gate<'a, S: Storage> {
    x: &'a [S],
    y: &'a [S],
    out: &'a mut [MaybeUninit<S>],
    /// Where the slices lie in the tensor.
    range: Range<usize>,
    draw: Draw,
    kernel: Kernel<S::Lane>,
}

impl<S: Storage> Work for Gate<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let nothing = S::narrow(S::Lane::ZERO);
        let parts = self.x.chunks(DRAWN).zip(self.y.chunks(DRAWN)).zip(self.out.chunks_mut(DRAWN));
        for (index, ((x, y), out)) in parts.enumerate() {
            let mut probabilities = [S::Lane::ZERO; DRAWN];
            let widened = probabilities.iter_mut().zip(x);
            widened.for_each(|(probability, x)| *probability = x.widen());
            let place = probabilities.as_mut_ptr();
            // SAFETY: the array is of this function alone and as long as that.
            unsafe { self.kernel.run(Places { x: place, dy: place, out: place, length: x.len() }) };
            let mut numbers = [0; DRAWN];
            let start = (self.range.start + index * DRAWN) as u64;
            philox::fill(self.draw.stream(), start, &mut numbers[..x.len()]);
            for (((out, y), number), probability) in
                out.iter_mut().zip(y).zip(numbers).zip(probabilities)
            {
                let open = S::Lane::of(uniform(number)) < probability;
                out.write(if open { *y } else { nothing });
            }
        }
    }
}
