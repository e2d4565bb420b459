//! A chunk of a pass, in strips that stay in the first cache level.

use super::Pass;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::level::Work;
use crate::places::Places;
use crate::random::philox;
use crate::storage::Storage;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers a strip works on at a time where it does more than call the function.
const STRIP: usize = 1024;

/// A chunk of a pass, worked through from its start to its end.
pub(super) struct Strips<'a, S: Storage> {
    pub(super) pass: &'a Pass<S>,
    pub(super) kernel: Kernel<S::Lane>,
    pub(super) derivative: bool,
    /// Those of the chunk.
    pub(super) places: Places<S>,
    /// How many numbers are before it.
    pub(super) start: usize,
}

impl<S: Storage> Work for (Strips<'_, S>, &mut [S::Lane]) {
    type Output = ();

    /// Does the work, and adds each column's results to the sums, if there are any.
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (strips, sums) = self;
        let Strips { pass, places, .. } = &strips;
        if pass.is_direct() {
            strips.directly();
            return;
        }
        let mut done = 0;
        while done < places.length {
            let length = STRIP.min(places.length - done);
            strips.strip(done, length, sums);
            done += length;
        }
    }
}

impl<S: Storage> Strips<'_, S> {
    /// The function alone, on numbers that are computed in their own type.
    #[inline(always)]
    fn directly(&self) {
        let Places { x, dy, out, length } = self.places;
        // SAFETY: `Pass::run` made the places of slices that are borrowed meanwhile, and no other
        // thread has this chunk of them. The types are one.
        unsafe { self.kernel.run(Places { x: x.cast(), dy: dy.cast(), out: out.cast(), length }) };
    }

    /// Elements `done..done + length` of the chunk, at most [`STRIP`]: widened, with bias and dropout. Each number is
    /// touched once before the function and once after it.
    #[inline(always)]
    fn strip(&self, done: usize, length: usize, sums: &mut [S::Lane]) {
        let mut lanes = [const { MaybeUninit::uninit() }; STRIP];
        self.widen(done, &mut lanes[..length]);
        let mut factors = [const { MaybeUninit::uninit() }; STRIP];
        let dy: *const S::Lane = if S::DIRECT {
            self.places.dy.wrapping_add(done).cast()
        } else {
            if self.derivative {
                // SAFETY: as for `directly`; this borrow ends before anything is written.
                let dy = unsafe { core::slice::from_raw_parts(self.places.dy.add(done), length) };
                factors.iter_mut().zip(dy).for_each(|(factor, dy)| _ = factor.write(dy.widen()));
            }
            factors.as_ptr().cast()
        };
        let out = lanes.as_mut_ptr().cast();
        // SAFETY: the arrays are of this function alone and as long as that, with what the function reads
        // written; else as for `directly`. What is an output afterwards was an input and is written.
        let values: &[S::Lane] = unsafe {
            self.kernel.run(Places { x: out, dy, out, length });
            core::slice::from_raw_parts(out, length)
        };
        self.finish(done, values, sums);
    }

    /// Inputs from `done` on, with bias.
    #[inline(always)]
    fn widen(&self, done: usize, lanes: &mut [MaybeUninit<S::Lane>]) {
        let bias = &self.pass.bias;
        // SAFETY: as for `directly`; this borrow ends before anything is written.
        let x = unsafe { core::slice::from_raw_parts(self.places.x.add(done), lanes.len()) };
        if bias.is_empty() {
            lanes.iter_mut().zip(x).for_each(|(lane, x)| _ = lane.write(x.widen()));
            return;
        }
        for_each_row(self.start + done, x.len(), bias.len(), |inside, columns| {
            let inputs = x[inside.clone()].iter().zip(&bias[columns]);
            for (lane, (x, &bias)) in lanes[inside].iter_mut().zip(inputs) {
                lane.write(x.widen() + bias);
            }
        });
    }

    /// Writes the function's values from `done` on, after dropout, and adds them to the sums.
    #[inline(always)]
    fn finish(&self, done: usize, values: &[S::Lane], sums: &mut [S::Lane]) {
        let Some(mask) = self.pass.mask else {
            return self.write(done, values, &[0; STRIP], sums, |value, _| value);
        };
        let mut numbers = [0; STRIP];
        let start = (self.start + done) as u64;
        philox::fill(self.kernel.level(), mask.stream(), start, &mut numbers[..values.len()]);
        let (threshold, scale) = (mask.threshold(), S::Lane::of(f64::from(mask.scale())));
        // A choice, not a product: what is dropped is 0 even if it was NaN or infinite.
        self.write(done, values, &numbers, sums, |value, number| {
            if number >= threshold { value * scale } else { S::Lane::ZERO }
        });
    }

    /// Writes what is kept of each value, by the number that was drawn for it.
    #[inline(always)]
    fn write(
        &self,
        done: usize,
        values: &[S::Lane],
        numbers: &[u32; STRIP],
        sums: &mut [S::Lane],
        kept: impl Fn(S::Lane, u32) -> S::Lane,
    ) {
        let places = self.places.out.wrapping_add(done).cast::<MaybeUninit<S>>();
        let length = values.len();
        // SAFETY: as for `directly`. Nothing else reads or writes there now.
        let out = unsafe { core::slice::from_raw_parts_mut(places, length) };
        let values = |inside: Range<usize>| values[inside.clone()].iter().zip(&numbers[inside]);
        if sums.is_empty() {
            for (out, (&value, &number)) in out.iter_mut().zip(values(0..length)) {
                out.write(S::narrow(kept(value, number)));
            }
            return;
        }
        for_each_row(self.start + done, length, sums.len(), |inside, columns| {
            let places = out[inside.clone()].iter_mut().zip(&mut sums[columns]);
            for ((out, sum), (&value, &number)) in places.zip(values(inside)) {
                let value = kept(value, number);
                *sum += value;
                out.write(S::narrow(value));
            }
        });
    }
}

/// Splits `start..start + length` at the ends of rows of `columns`: calls `work` with each part,
/// counted from `start`, and with the columns it covers.
#[inline(always)]
fn for_each_row(
    start: usize,
    length: usize,
    columns: usize,
    mut work: impl FnMut(Range<usize>, Range<usize>),
) {
    let mut at = 0;
    let mut column = start % columns;
    while at < length {
        let count = (columns - column).min(length - at);
        work(at..at + count, column..column + count);
        at += count;
        column = 0;
    }
}
