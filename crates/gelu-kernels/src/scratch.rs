use std::cell::Cell;
use std::vec::Vec;

thread_local! {
    /// Kept between calls, as fresh memory costs more than the work on it.
    static SCRATCH: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Lends `work` so many numbers, whatever they were before.
pub(crate) fn with_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    let mut scratch = SCRATCH.take();
    if scratch.len() < length {
        scratch.resize(length, 0.0);
    }
    let result = work(&mut scratch[..length]);
    SCRATCH.set(scratch);
    result
}
