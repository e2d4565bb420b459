//! A chunk of a pass that does more than call the function, in blocks that stay in the first cache level.

use super::Pass;
use crate::float::Float;
use crate::kernel::{Arguments, Kernel, Quantity};
use crate::level::Work;
use crate::random::philox;
use crate::storage::Storage;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers are worked on at a time.
const BLOCK: usize = 1024;

/// A chunk of a pass, worked through from its start to its end.
pub(super) struct Chunk<'a, S: Storage> {
    pub(super) pass: &'a Pass<S>,
    pub(super) kernel: Kernel<S::Float>,
    pub(super) quantity: Quantity,
    /// Those of the chunk: slices that are borrowed meanwhile, of which no other thread has these ranges.
    pub(super) arguments: Arguments<S>,
    /// How many numbers are before it.
    pub(super) start: usize,
}

impl<S: Storage> Work for (Chunk<'_, S>, &mut [S::Float]) {
    type Output = ();

    /// Does the work, and adds each column's results to the sums, if there are any.
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
    /// Elements `done..done + length` of the chunk, at most [`BLOCK`]: widened, with bias and dropout. Each number is
    /// touched once before the function and once after it.
    #[inline(always)]
    fn block(&self, done: usize, length: usize, sums: &mut [S::Float]) {
        let mut numbers = [const { MaybeUninit::uninit() }; BLOCK];
        self.widen(done, &mut numbers[..length]);
        let mut factors = [const { MaybeUninit::uninit() }; BLOCK];
        let dy: *const S::Float = if S::DIRECT {
            self.arguments.dy.wrapping_add(done).cast()
        } else {
            if self.quantity == Quantity::Derivative {
                // SAFETY: as for the arguments; this borrow ends before anything is written.
                let dy =
                    unsafe { core::slice::from_raw_parts(self.arguments.dy.add(done), length) };
                factors.iter_mut().zip(dy).for_each(|(factor, dy)| _ = factor.write(dy.widen()));
            }
            factors.as_ptr().cast()
        };
        let out = numbers.as_mut_ptr().cast();
        // SAFETY: the arrays are of this function alone and as long as that, with what the function reads
        // written; else as for the arguments. What is an output afterwards was an input and is written.
        let values: &[S::Float] = unsafe {
            self.kernel.run(Arguments { dy, ..Arguments::new(out, out, length) });
            core::slice::from_raw_parts(out, length)
        };
        self.finish(done, values, sums);
    }

    /// Inputs from `done` on, with bias.
    #[inline(always)]
    fn widen(&self, done: usize, numbers: &mut [MaybeUninit<S::Float>]) {
        let bias = &self.pass.bias;
        // SAFETY: as for the arguments; this borrow ends before anything is written.
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
        // A choice, not a product: what is dropped is 0 even if it was NaN or infinite.
        self.write(done, values, &numbers, sums, |value, number| {
            if number >= threshold { value * scale } else { S::Float::ZERO }
        });
    }

    /// Writes what is kept of each value, by the number that was drawn for it.
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
        // SAFETY: as for the arguments. Nothing else reads or writes there now.
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
