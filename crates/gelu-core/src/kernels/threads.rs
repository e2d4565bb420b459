use alloc::vec::Vec;
use core::ops::Range;

/// Work for one thread at a time; a multiple of the four numbers that Philox gives at once.
const CHUNK: usize = 1 << 14;

/// From this length on several threads are used: below, waking them takes longer than the work
/// (`cargo bench -p benches --bench kernels`).
#[cfg(feature = "rayon")]
const PARALLEL: usize = 1 << 16;

/// Calls `work` for consecutive ranges of `0..length`, none shorter than `least` but the last,
/// and returns what it gave, in their order. The ranges depend on the lengths alone.
pub(super) fn for_each_chunk<T: Send>(
    length: usize,
    least: usize,
    work: impl Fn(Range<usize>) -> T + Send + Sync,
) -> Vec<T> {
    let chunk = CHUNK.max(least.next_multiple_of(4));
    let range = |index: usize| index * chunk..((index + 1) * chunk).min(length);
    let chunks = 0..length.div_ceil(chunk);
    #[cfg(feature = "rayon")]
    if length >= PARALLEL && rayon::current_num_threads() > 1 {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        return chunks.into_par_iter().map(|index| work(range(index))).collect();
    }
    chunks.map(|index| work(range(index))).collect()
}
