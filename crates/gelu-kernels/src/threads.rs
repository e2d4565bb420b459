//! Sharing the work of a loop between threads. Where the division of the work changes results, divide it by its
//! size alone, never by the number of threads or by which of them spin.
//!
//! ```
//! use gelu_kernels::threads::{self, Chunks, PARALLEL, Threads};
//!
//! let numbers: Vec<u64> = (0..100_000).collect();
//! let (chunks, threads) = (Chunks::new(100_000, 0), Threads::for_work(100_000, PARALLEL));
//! let sums = threads::map(chunks.count(), threads, |index| -> u64 {
//!     numbers[chunks.range(index)].iter().sum()
//! });
//! assert_eq!(sums.iter().sum::<u64>(), 4_999_950_000);
//! ```

#[cfg(feature = "rayon")]
use crate::shared_slice::SharedSlice;
use alloc::vec::Vec;
use core::ops::Range;

/// The number of elements that a thread processes at a time: four slices of them fit the second-level cache. It is
/// a multiple of the four numbers that Philox computes at once.
const CHUNK: usize = 1 << 14;

/// The length from which on several threads are used. Below it, waking them takes longer than the work
/// (`cargo bench --bench kernels`).
pub const PARALLEL: usize = 1 << 16;

/// The same length for work that takes no longer than a copy. Below it two threads are no faster than one: 2¹⁶
/// numbers take two threads 14 µs and one thread 7 µs (the same benchmark, `relu`).
pub const PARALLEL_COPY: usize = 1 << 22;

/// The threads that do some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Threads {
    /// The calling thread alone.
    Caller,
    /// This crate's threads, which spin between kernels, or Rayon's while those are busy.
    #[cfg(feature = "rayon")]
    Spinning,
    /// Rayon's threads, for work of milliseconds that is worth the time to wake them.
    #[cfg(feature = "rayon")]
    Pool,
}

impl Threads {
    /// Returns the threads for work of this size, if several threads pay off from `threshold` on. Threads that
    /// already spin pay off from an eighth of `threshold`.
    pub fn for_work(size: usize, threshold: usize) -> Self {
        #[cfg(feature = "rayon")]
        {
            let threads = available();
            match size {
                _ if threads == 1 || size < threshold / 8 => Self::Caller,
                _ if size >= threshold.saturating_mul(16) => Self::Pool,
                _ if size >= threshold || crate::team::is_active(threads, size) => Self::Spinning,
                _ => Self::Caller,
            }
        }
        #[cfg(not(feature = "rayon"))]
        {
            let _ = (size, threshold);
            Self::Caller
        }
    }

    /// Returns Rayon's threads if `pays` is true and there are several, and the caller otherwise.
    pub fn if_worth(pays: bool) -> Self {
        #[cfg(feature = "rayon")]
        if pays && available() > 1 {
            return Self::Pool;
        }
        let _ = pays;
        Self::Caller
    }

    /// Returns the number of threads.
    pub fn count(self) -> usize {
        #[cfg(feature = "rayon")]
        if self != Self::Caller {
            return available();
        }
        1
    }

    /// Returns whether there are several threads.
    pub fn are_several(self) -> bool {
        self != Self::Caller
    }
}

/// Returns the number of threads in the Rayon pool of this thread. A forked process only has the thread that
/// forked: the other threads exist in its parent only, and waiting for them would never end.
#[cfg(feature = "rayon")]
fn available() -> usize {
    if crate::fork::is_forked() { 1 } else { rayon::current_num_threads() }
}

/// Returns the results of `work` for each of `0..count`, in this order.
pub fn map<T: Send>(count: usize, threads: Threads, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    #[cfg(feature = "rayon")]
    if threads != Threads::Caller && count > 1 && available() > 1 {
        let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let shared = SharedSlice::new(&mut results);
        share(count, threads, &|index| {
            let result = work(index);
            // SAFETY: each index comes once.
            let slot = unsafe { shared.range(index..index + 1) };
            slot[0] = Some(result);
        });
        return results.into_iter().flatten().collect();
    }
    let _ = threads;
    (0..count).map(work).collect()
}

/// Calls `work` with each of `0..count`. It is not generic, because Rayon's code would otherwise be a tenth of what
/// a crate with many kinds of work compiles.
#[cfg(feature = "rayon")]
fn share(count: usize, threads: Threads, work: &(dyn Fn(usize) + Sync)) {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    let is_done = threads == Threads::Spinning && crate::team::each(count, available(), work);
    if !is_done {
        (0..count).into_par_iter().for_each(work);
    }
}

/// Consecutive ranges that threads process a slice in. They depend on the slice's length alone.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    length: usize,
    size: usize,
}

impl Chunks {
    /// Divides `0..length` into ranges. Only the last one may be shorter than `least`.
    pub fn new(length: usize, least: usize) -> Self {
        Self { length, size: CHUNK.max(least.next_multiple_of(4)) }
    }

    /// Returns the number of ranges.
    pub fn count(self) -> usize {
        self.length.div_ceil(self.size)
    }

    /// Returns one of the ranges.
    pub fn range(self, index: usize) -> Range<usize> {
        index * self.size..((index + 1) * self.size).min(self.length)
    }
}
