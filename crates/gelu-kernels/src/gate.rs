//! The stochastic map, whose mean is the GELU.

use crate::checks::expect_length;
use crate::disjoint::Disjoint;
use crate::functions::Unit;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::places::Of;
use crate::random::{Draw, philox, uniform};
use crate::storage::Storage;
use crate::threads::for_each_chunk;
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
pub fn gate<'a, S: Storage>(
    x: &[S],
    y: &[S],
    out: &'a mut [MaybeUninit<S>],
    draw: Draw,
) -> &'a mut [S] {
    for (argument, found) in [("y", y.len()), ("out", out.len())] {
        expect_length(argument, found, x.len(), format_args!("as many as `x`"));
    }
    let level = Level::best();
    let kernel = Kernel::new(Of::Value, Unit::NormalCdf.kind(), 0.0, level);
    let places = Disjoint::of_unwritten(out);
    for_each_chunk(x.len(), 0, |range| {
        // SAFETY: chunks do not overlap.
        let out = unsafe { places.unwritten_part(range.clone()) };
        level.run(Gate { x: &x[range.clone()], y: &y[range.clone()], out, range, draw, kernel });
    });
    // SAFETY: the chunks are all of the slice, and each has been written.
    unsafe { out.assume_init_mut() }
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
            self.kernel.replace(&mut probabilities[..x.len()]);
            let mut numbers = [0; DRAWN];
            let start = (self.range.start + index * DRAWN) as u64;
            let stream = self.draw.stream();
            philox::fill(self.kernel.level(), stream, start, &mut numbers[..x.len()]);
            for (((out, y), number), probability) in
                out.iter_mut().zip(y).zip(numbers).zip(probabilities)
            {
                let open = S::Lane::of(f64::from(uniform(number))) < probability;
                out.write(if open { *y } else { nothing });
            }
        }
    }
}
