//! The stochastic map, whose mean is the GELU.

use crate::checks::expect_length;
use crate::float::Float;
use crate::functions::Unit;
use crate::kernel::{Kernel, Quantity};
use crate::level::{Level, Work};
use crate::random::{Draw, philox, uniform};
use crate::shared_slice::SharedSlice;
use crate::storage::Storage;
use crate::threads::{self, Chunks, PARALLEL, Threads};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

/// The number of elements that are processed together: few enough for a processor's first-level cache.
const BLOCK: usize = 1024;

/// Returns `y` where the random number of `draw` is below Φ(x), and 0 elsewhere. Numbers are compared
/// in the float type of `S`.
///
/// # Panics
///
/// If the lengths differ.
pub fn stochastic_map<S: Storage>(x: &[S], y: &[S], draw: Draw) -> Vec<S> {
    let length = x.len();
    expect_length("y", y.len(), length, format_args!("as many as `x`"));
    let level = Level::best();
    let kernel = Kernel::new(Quantity::Value, Unit::NormalCdf, level);
    let mut out = Vec::with_capacity(length);
    let results = SharedSlice::uninit(&mut out.spare_capacity_mut()[..length]);
    let (chunks, threads) = (Chunks::new(length, 0), Threads::for_work(length, PARALLEL));
    threads::map(chunks.count(), threads, |index| {
        let range = chunks.range(index);
        // SAFETY: chunks do not overlap.
        let out = unsafe { results.uninit_range(range.clone()) };
        let (x, y) = (&x[range.clone()], &y[range.clone()]);
        level.run(Chunk { x, y, out, range, draw, kernel, level });
    });
    // SAFETY: the chunks cover the whole slice, and the work above has written each chunk.
    unsafe { out.set_len(length) };
    out
}

struct Chunk<'a, S: Storage> {
    x: &'a [S],
    y: &'a [S],
    out: &'a mut [MaybeUninit<S>],
    /// The position of the slices in the tensor.
    range: Range<usize>,
    draw: Draw,
    kernel: Kernel<S::Float>,
    level: Level,
}

impl<S: Storage> Work for Chunk<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let nothing = S::narrow(S::Float::ZERO);
        let blocks = self.x.chunks(BLOCK).zip(self.y.chunks(BLOCK)).zip(self.out.chunks_mut(BLOCK));
        for (index, ((x, y), out)) in blocks.enumerate() {
            let mut probabilities = [S::Float::ZERO; BLOCK];
            let widened = probabilities.iter_mut().zip(x);
            widened.for_each(|(probability, x)| *probability = x.widen());
            self.kernel.replace(&mut probabilities[..x.len()]);
            let mut numbers = [0; BLOCK];
            let start = (self.range.start + index * BLOCK) as u64;
            let stream = self.draw.stream();
            philox::fill(self.level, stream, start, &mut numbers[..x.len()]);
            for (((out, y), number), probability) in
                out.iter_mut().zip(y).zip(numbers).zip(probabilities)
            {
                let is_let_through = S::Float::from_f64(f64::from(uniform(number))) < probability;
                out.write(if is_let_through { *y } else { nothing });
            }
        }
    }
}
