//! The division of products and images into blocks that threads share. Where the division changes results, blocks
//! depend on the sizes alone, never on the number of threads.

use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, PARALLEL, Threads};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The number of multiplications from which on a product uses several threads. Below it, waking them takes longer
/// than they save.
pub(crate) const PARALLEL_PRODUCT: usize = 1 << 22;

/// Calls `work` with the index of each part of `data` and the part itself. All parts have `size` elements, except
/// possibly the last. Uses several threads if that pays off for this many elements.
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

/// Calls `work` for all images and channels of `[channels, plane]` results, with an image, some of its channels,
/// and the memory for their results. Each range of channels begins at a multiple of `rows`. It contains all
/// channels of an image unless there are few images. `depth` is the number of operations per element.
pub(crate) fn for_each_channel_part(
    results: &mut [MaybeUninit<f32>],
    [channels, plane]: [usize; 2],
    rows: usize,
    depth: usize,
    work: impl Fn(usize, Range<usize>, &mut [MaybeUninit<f32>]) + Sync,
) {
    /// The number of parts that a few threads can share evenly.
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
        // SAFETY: the parts of different images or channels do not overlap.
        work(picture, channels, unsafe { whole.uninit_range(range) });
    });
}

/// Calls `work` with the rows and columns of each block of a matrix of `size`. Blocks have at most `side` rows and
/// columns, and are as equal as possible. Uses several threads if that pays off for this many operations, and then
/// halves blocks until a few threads have enough of them.
pub(crate) fn for_each_block(
    size: [usize; 2],
    side: usize,
    operations: usize,
    work: impl Fn(Range<usize>, Range<usize>) + Sync,
) {
    /// The number of blocks that a few threads can share evenly.
    const ENOUGH: usize = 4;
    /// The smallest number of rows or columns of a block. A smaller block would not be worth its overhead. If both
    /// of a block's sides are this small, gemm also adds up 512 or more terms in another order.
    const LEAST: usize = 64;
    let threads = Threads::for_work(operations, PARALLEL_PRODUCT);
    // For a single row or column, gemm adds up some numbers in another order than their neighbours.
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
