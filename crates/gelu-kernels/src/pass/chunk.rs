//! A chunk of a pass that does more than call the function, in blocks that fit the first-level cache.

use super::Pass;
use crate::float::Float;
use crate::kernel::{Arguments, Kernel, Quantity};
use crate::level::Work;
use crate::random::philox;
use crate::storage::Storage;
use core::mem::MaybeUninit;
use core::ops::Range;

/// The number of elements that are processed at a time.
const BLOCK: usize = 1024;

/// A chunk of a pass, processed from start to end.
pub(super) struct Chunk<'a, S: Storage> {
    pub(super) pass: &'a Pass<S>,
    pub(super) kernel: Kernel<S::Float>,
    pub(super) quantity: Quantity,
    /// The chunk's arguments: ranges of borrowed slices that no other thread uses.
    pub(super) arguments: Arguments<S>,
    /// The number of elements before the chunk.
    pub(super) start: usize,
}

impl<S: Storage> Work for (Chunk<'_, S>, &mut [S::Float]) {
    type Output = ();

    /// Does the work, and adds the results of each column to the sums, if there are any.
    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let (chunk, sums) = self;
        let length = chunk.arguments.length;
        for done in (0..length).step_by(BLOCK) {
            chunk.block(done, BLOCK.min(length - done), sums);
        }
    }
}

impl<S: Storage> Chunk<'_, S> {
    /// Processes elements `done..done + length` of the chunk, at most [`BLOCK`]: widens them, and applies bias,
    /// function and dropout. Each element is touched once before the function and once after it.
    #[inline(always)]
    fn block(&self, done: usize, length: usize, sums: &mut [S::Float]) {
        let mut numbers = [const { MaybeUninit::uninit() }; BLOCK];
        self.widen(done, &mut numbers[..length]);
        let mut factors = [const { MaybeUninit::uninit() }; BLOCK];
        let dy: *const S::Float = if S::DIRECT {
            self.arguments.dy.wrapping_add(done).cast()
        } else {
            if self.quantity == Quantity::Derivative {
                // SAFETY: as for the arguments; this borrow ends before the first write.
                let dy =
                    unsafe { core::slice::from_raw_parts(self.arguments.dy.add(done), length) };
                factors.iter_mut().zip(dy).for_each(|(factor, dy)| _ = factor.write(dy.widen()));
            }
            factors.as_ptr().cast()
        };
        let out = numbers.as_mut_ptr().cast();
        // SAFETY: the arrays are local, have this length, and hold the values that the function reads; everything
        // else is as for the arguments. The output array was an input and is fully written.
        let values: &[S::Float] = unsafe {
            self.kernel.run(Arguments { dy, ..Arguments::new(out, out, length) });
            core::slice::from_raw_parts(out, length)
        };
        self.finish(done, values, sums);
    }

    /// Writes the inputs from `done` on to `numbers`, and adds the bias.
    #[inline(always)]
    fn widen(&self, done: usize, numbers: &mut [MaybeUninit<S::Float>]) {
        let bias = &self.pass.bias;
        // SAFETY: as for the arguments; this borrow ends before the first write.
        let x = unsafe { core::slice::from_raw_parts(self.arguments.x.add(done), numbers.len()) };
        if bias.is_empty() {
            numbers.iter_mut().zip(x).for_each(|(number, x)| _ = number.write(x.widen()));
            return;
        }
        for_each_row(self.start + done, x.len(), bias.len(), |inside, columns| {
            let inputs = x[inside.clone()].iter().zip(&bias[columns]);
            for (number, (x, &bias)) in numbers[inside].iter_mut().zip(inputs) {
                number.write(x.widen() + bias);
            }
        });
    }

    /// Writes the function's values from `done` on, after dropout, and adds them to the sums.
    #[inline(always)]
    fn finish(&self, done: usize, values: &[S::Float], sums: &mut [S::Float]) {
        let Some(mask) = self.pass.mask else {
            return self.write(done, values, &[0; BLOCK], sums, |value, _| value);
        };
        let mut numbers = [0; BLOCK];
        let start = (self.start + done) as u64;
        philox::fill(self.pass.level, mask.stream(), start, &mut numbers[..values.len()]);
        let (threshold, scale) = (mask.threshold(), S::Float::from_f64(f64::from(mask.scale())));
        // Selects instead of multiplying by 0, so that a dropped element is 0 even if it was NaN or infinite.
        self.write(done, values, &numbers, sums, |value, number| {
            if number >= threshold { value * scale } else { S::Float::ZERO }
        });
    }

    /// Writes `kept(value, number)` for each value, where `number` is the value's random number.
    #[inline(always)]
    fn write(
        &self,
        done: usize,
        values: &[S::Float],
        numbers: &[u32; BLOCK],
        sums: &mut [S::Float],
        kept: impl Fn(S::Float, u32) -> S::Float,
    ) {
        let results = self.arguments.out.wrapping_add(done).cast::<MaybeUninit<S>>();
        let length = values.len();
        // SAFETY: as for the arguments. Nothing else reads or writes there during this call.
        let out = unsafe { core::slice::from_raw_parts_mut(results, length) };
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

/// Splits `start..start + length` at the ends of rows of `columns`. Calls `work` with each piece, counted from
/// `start`, and with the columns that the piece covers.
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
