//! How threads share the work of a loop. Where that would change a bit, divide the work by its size alone, never by
//! how many threads there are or which of them spin.
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

/// Numbers that a thread works on at a time: four slices of them fit the second cache level. A multiple
/// of the four that Philox gives at once.
const CHUNK: usize = 1 << 14;

/// From this length on several threads are used: below, waking them takes longer than the work
/// (`cargo bench --bench kernels`).
pub const PARALLEL: usize = 1 << 16;

/// From this length on for what takes no longer than a copy: two threads are no faster at less, 2¹⁶ numbers take
/// them 14 µs and one 7 (the same benchmark, `relu`).
pub const PARALLEL_COPY: usize = 1 << 22;

/// Which threads do some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Threads {
    /// The calling thread alone.
    Caller,
    /// This crate's threads, which spin while one kernel follows another, and Rayon's where those are busy.
    #[cfg(feature = "rayon")]
    Spinning,
    /// Rayon's: for work of milliseconds, which is worth waking them.
    #[cfg(feature = "rayon")]
    Pool,
}

impl Threads {
    /// Those for work of a size, if several threads are worth waking from `threshold` on. Threads that spin are
    /// worth an eighth of that.
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

    /// Rayon's if they are worth waking, else the caller.
    pub fn if_worth(pays: bool) -> Self {
        #[cfg(feature = "rayon")]
        if pays && available() > 1 {
            return Self::Pool;
        }
        let _ = pays;
        Self::Caller
    }

    /// How many there are.
    pub fn count(self) -> usize {
        #[cfg(feature = "rayon")]
        if self != Self::Caller {
            return available();
        }
        1
    }

    /// Whether there are several.
    pub fn are_several(self) -> bool {
        self != Self::Caller
    }
}

/// How many threads the Rayon pool has that this thread belongs to. A process that was forked has none but the one
/// that forked: those of its parent are not there, and to wait for them would never end.
#[cfg(feature = "rayon")]
fn available() -> usize {
    if crate::fork::is_forked() { 1 } else { rayon::current_num_threads() }
}

/// What `work` returns for each of `0..count`, in their order.
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

/// Calls `work` with each of `0..count`. Compiled once: Rayon's code would be a tenth of what a crate with many
/// kinds of work compiles.
#[cfg(feature = "rayon")]
fn share(count: usize, threads: Threads, work: &(dyn Fn(usize) + Sync)) {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    let is_done = threads == Threads::Spinning && crate::team::each(count, available(), work);
    if !is_done {
        (0..count).into_par_iter().for_each(work);
    }
}

/// The consecutive ranges that threads work through a slice in: they depend on its length alone.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    length: usize,
    size: usize,
}

impl Chunks {
    /// Of `0..length`; none but the last is shorter than `least`.
    pub fn new(length: usize, least: usize) -> Self {
        Self { length, size: CHUNK.max(least.next_multiple_of(4)) }
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.length.div_ceil(self.size)
    }

    /// One of them.
    pub fn range(self, index: usize) -> Range<usize> {
        index * self.size..((index + 1) * self.size).min(self.length)
    }
}
