//! How work is shared out among threads. Where that would change a bit, its parts depend on the sizes alone,
//! never on how many threads there are or which of them spin.

#[cfg(any(feature = "gemm", feature = "rayon"))]
use crate::disjoint::Disjoint;
use alloc::vec::Vec;
#[cfg(feature = "gemm")]
use core::mem::MaybeUninit;
use core::ops::Range;

/// Numbers that a thread works on at a time: four slices of them fit the second cache level. A multiple
/// of the four that Philox gives at once.
const CHUNK: usize = 1 << 14;

/// From this length on several threads are used: below, waking them takes longer than the work
/// (`cargo bench --bench kernels`).
pub(crate) const PARALLEL: usize = 1 << 16;

/// From this length on for what takes no longer than a copy: two threads are no faster at less, 2¹⁶ numbers take
/// them 14 µs and one 7 (the same benchmark, `relu`).
#[cfg(feature = "loops")]
pub(crate) const PARALLEL_COPY: usize = 1 << 22;

/// Multiplications from which on a product uses several threads: below, waking them takes longer than they
/// save.
#[cfg(feature = "gemm")]
pub(crate) const PARALLEL_PRODUCT: usize = 1 << 22;

/// Which threads do some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// The one that has it.
    Own,
    /// Those that [spin](crate::team) while one kernel follows another, and Rayon's where they are busy.
    #[cfg(feature = "rayon")]
    Team,
    /// Rayon's: work of milliseconds, for which they do not mind to be woken.
    #[cfg(feature = "rayon")]
    Rayons,
}

impl Threads {
    /// Those for work of a size that is worth waking threads from a `threshold` on. From an eighth of it on it is
    /// worth those that spin.
    pub(crate) fn worth(size: usize, threshold: usize) -> Self {
        #[cfg(feature = "rayon")]
        {
            let threads = available();
            match size {
                _ if threads == 1 || size < threshold / 8 => Self::Own,
                _ if size >= threshold.saturating_mul(16) => Self::Rayons,
                _ if size >= threshold || crate::team::is_active(threads, size) => Self::Team,
                _ => Self::Own,
            }
        }
        #[cfg(not(feature = "rayon"))]
        {
            let _ = (size, threshold);
            Self::Own
        }
    }

    /// Those for work that is worth being woken if it `pays`.
    #[cfg(feature = "loops")]
    pub(crate) fn if_it(pays: bool) -> Self {
        #[cfg(feature = "rayon")]
        if pays && available() > 1 {
            return Self::Rayons;
        }
        let _ = pays;
        Self::Own
    }

    /// How many there are.
    #[cfg(feature = "gemm")]
    pub(crate) fn count(self) -> usize {
        #[cfg(feature = "rayon")]
        if self != Self::Own {
            return available();
        }
        1
    }

    /// Whether there are several.
    #[cfg(feature = "gemm")]
    pub(crate) fn are_several(self) -> bool {
        self != Self::Own
    }
}

/// How many threads the Rayon pool has that this thread belongs to. A process that was forked has none but the one
/// that forked: those of its parent are not there, and to wait for them would never end.
#[cfg(feature = "rayon")]
fn available() -> usize {
    if crate::fork::is_forked() { 1 } else { rayon::current_num_threads() }
}

/// What `work` gives for each of `0..count`, in their order.
pub(crate) fn each<T: Send>(
    count: usize,
    threads: Threads,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    #[cfg(feature = "rayon")]
    if threads != Threads::Own && count > 1 && available() > 1 {
        let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let places = Disjoint::of(&mut results);
        share_out(count, threads, &|index| {
            let result = work(index);
            // SAFETY: each number comes once.
            let place = unsafe { places.part(index..index + 1) };
            place[0] = Some(result);
        });
        return results.into_iter().flatten().collect();
    }
    let _ = threads;
    (0..count).map(work).collect()
}

/// Calls `work` with each of `0..count`. Compiled once: Rayon's code would be a tenth of what a crate with many
/// kinds of work compiles.
#[cfg(feature = "rayon")]
fn share_out(count: usize, threads: Threads, work: &(dyn Fn(usize) + Sync)) {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    let is_done = threads == Threads::Team && crate::team::each(count, available(), work);
    if !is_done {
        (0..count).into_par_iter().for_each(work);
    }
}

/// What `work` gives for each of `0..count`, in their order, on several threads if the work on
/// `elements` numbers in all is worth them.
#[cfg(all(feature = "loops", feature = "std"))]
pub(crate) fn map_each<T: Send>(
    count: usize,
    elements: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    each(count, Threads::worth(elements, PARALLEL), work)
}

/// Calls `work` for consecutive ranges of `0..length`, none shorter than `least` but the last,
/// and returns what it gave, in their order.
pub(crate) fn for_each_chunk<T: Send>(
    length: usize,
    least: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    for_each_chunk_on(Threads::worth(length, PARALLEL), length, least, work)
}

/// As [`for_each_chunk`], on these threads.
pub(crate) fn for_each_chunk_on<T: Send>(
    threads: Threads,
    length: usize,
    least: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let chunk = CHUNK.max(least.next_multiple_of(4));
    let range = |index: usize| index * chunk..((index + 1) * chunk).min(length);
    each(length.div_ceil(chunk), threads, |index| work(range(index)))
}

/// Calls `work` with each part of `data`, all of one size but perhaps the last, and its number, on several
/// threads if the work on so many numbers is worth them.
#[cfg(feature = "gemm")]
pub(crate) fn for_each_part(
    data: &mut [f32],
    size: usize,
    work: impl Fn(usize, &mut [f32]) + Sync,
) {
    let (size, length) = (size.max(1), data.len());
    let parts = Disjoint::of(data);
    each(length.div_ceil(size), Threads::worth(length, PARALLEL), |index| {
        // SAFETY: the parts of different numbers do not overlap.
        work(index, unsafe { parts.part(index * size..((index + 1) * size).min(length)) });
    });
}

/// Calls `work` with some channels of a picture's result, for all pictures and channels of `[channels,
/// plane]`: the picture, the channels, and the numbers to write. They begin at multiples of `rows`; all
/// channels of a picture are one part, unless there are few pictures. Each number is worth `depth` operations.
#[cfg(feature = "gemm")]
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
    let threads = Threads::worth(length.saturating_mul(depth), PARALLEL_PRODUCT);
    let pictures = length / size;
    let parts = match threads.are_several() {
        true => ENOUGH.div_ceil(pictures).min(channels.div_ceil(rows)),
        false => 1,
    };
    let border = |part: usize| (part * channels.div_ceil(rows) / parts * rows).min(channels);
    let whole = Disjoint::of_unwritten(results);
    each(pictures * parts, threads, |index| {
        let (picture, part) = (index / parts, index % parts);
        let channels = border(part)..border(part + 1);
        let range = picture * size + channels.start * plane..picture * size + channels.end * plane;
        // SAFETY: the parts of different pictures or channels do not overlap.
        work(picture, channels, unsafe { whole.unwritten_part(range) });
    });
}

/// Calls `work` with each block of a matrix of `size`, its rows and its columns: all of `side` rows and
/// columns at most, and as equal as they get. If `operations` are worth several threads, they are used, and
/// blocks are halved until there are some for each of a few.
#[cfg(feature = "gemm")]
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
    let threads = Threads::worth(operations, PARALLEL_PRODUCT);
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
    each(counts[0] * counts[1], threads, |index| {
        work(range(0, index / counts[1]), range(1, index % counts[1]));
    });
}
