//! How products and pictures are divided into blocks that threads share. Where that would change a bit, the blocks
//! depend on the sizes alone, never on the number of threads.

use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, PARALLEL, Threads};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Multiplications from which on a product uses several threads: below, waking them takes longer than they
/// save.
pub(crate) const PARALLEL_PRODUCT: usize = 1 << 22;

/// Calls `work` with each part of `data`, all of one size but perhaps the last, and its number, on several
/// threads if the work on so many numbers is worth them.
pub(crate) fn for_each_part(
    data: &mut [f32],
    size: usize,
    work: impl Fn(usize, &mut [f32]) + Sync,
) {
    let (size, length) = (size.max(1), data.len());
    let parts = SharedSlice::new(data);
    threads::map(length.div_ceil(size), Threads::for_work(length, PARALLEL), |index| {
        // SAFETY: the parts of different numbers do not overlap.
        work(index, unsafe { parts.range(index * size..((index + 1) * size).min(length)) });
    });
}

/// Calls `work` with some channels of a picture's result, for all pictures and channels of `[channels,
/// plane]`: the picture, the channels, and the numbers to write. They begin at multiples of `rows`; all
/// channels of a picture are one part, unless there are few pictures. Each number is worth `depth` operations.
pub(crate) fn for_each_channel_part(
    results: &mut [MaybeUninit<f32>],
    [channels, plane]: [usize; 2],
    rows: usize,
    depth: usize,
    work: impl Fn(usize, Range<usize>, &mut [MaybeUninit<f32>]) + Sync,
) {
    /// Parts there should be for a few threads to share out.
    const ENOUGH: usize = 8;
    if results.is_empty() {
        return;
    }
    let (length, size) = (results.len(), channels * plane);
    let threads = Threads::for_work(length.saturating_mul(depth), PARALLEL_PRODUCT);
    let pictures = length / size;
    let parts = match threads.are_several() {
        true => ENOUGH.div_ceil(pictures).min(channels.div_ceil(rows)),
        false => 1,
    };
    let border = |part: usize| (part * channels.div_ceil(rows) / parts * rows).min(channels);
    let whole = SharedSlice::uninit(results);
    threads::map(pictures * parts, threads, |index| {
        let (picture, part) = (index / parts, index % parts);
        let channels = border(part)..border(part + 1);
        let range = picture * size + channels.start * plane..picture * size + channels.end * plane;
        // SAFETY: the parts of different pictures or channels do not overlap.
        work(picture, channels, unsafe { whole.uninit_range(range) });
    });
}

/// Calls `work` with each block of a matrix of `size`, its rows and its columns: all of `side` rows and
/// columns at most, and as equal as they get. If `operations` are worth several threads, they are used, and
/// blocks are halved until there are some for each of a few.
pub(crate) fn for_each_block(
    size: [usize; 2],
    side: usize,
    operations: usize,
    work: impl Fn(Range<usize>, Range<usize>) + Sync,
) {
    /// Blocks there should be for a few threads to share out.
    const ENOUGH: usize = 4;
    /// A block of fewer rows or columns would be too small to pay; and of one that has no more of both, gemm adds
    /// up 512 terms and more in another order.
    const LEAST: usize = 64;
    let threads = Threads::for_work(operations, PARALLEL_PRODUCT);
    // Of a single row or column gemm adds up some numbers in another order than their neighbours.
    let is_shared = match size.contains(&1) {
        true => operations >= PARALLEL_PRODUCT,
        false => threads.are_several(),
    };
    let mut counts = size.map(|length| length.div_ceil(side));
    while is_shared && counts[0] * counts[1] < ENOUGH {
        let lengths = [0, 1].map(|axis| size[axis] / counts[axis]);
        let longer = usize::from(lengths[1] > lengths[0]);
        let (half, other) = (lengths[longer] / 2, lengths[1 - longer]);
        if half < LEAST || half.max(other) <= LEAST {
            break;
        }
        counts[longer] *= 2;
    }
    let range = |axis: usize, index: usize| {
        let [start, end] = [index, index + 1].map(|index| index * size[axis] / counts[axis]);
        start..end
    };
    threads::map(counts[0] * counts[1], threads, |index| {
        work(range(0, index / counts[1]), range(1, index % counts[1]));
    });
}
