use crate::kernels::written::with_room;
use std::cell::Cell;

thread_local! {
    /// The scratch memory stays allocated between calls, because fresh memory costs more than the work on it.
    static SCRATCH: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Calls `work` with `length` numbers of arbitrary content. They begin at the start of a cache line, so that no
/// vector crosses two lines.
///
/// # Panics
///
/// If there is not enough memory.
pub(crate) fn with_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    const LINE: usize = 64;
    const NUMBERS: usize = LINE / size_of::<f32>();
    let mut scratch = SCRATCH.take();
    let room = length + NUMBERS;
    if scratch.len() < room {
        scratch = with_room(room);
        scratch.resize(room, 0.0);
    }
    let start = scratch.as_ptr().align_offset(LINE).min(NUMBERS);
    let result = work(&mut scratch[start..start + length]);
    SCRATCH.set(scratch);
    result
}
