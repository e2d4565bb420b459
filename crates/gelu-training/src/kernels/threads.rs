use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Elements that a thread works on at a time: four slices of them fit the second cache level.
pub(super) const CHUNK: usize = 1 << 14;

/// From this length on several threads are used; below, waking them takes longer than the work.
const PARALLEL: usize = 1 << 16;

/// Whether the work on so many elements is worth several threads.
pub(super) fn pays(length: usize) -> bool {
    cfg!(feature = "rayon") && length >= PARALLEL && threads() > 1
}

#[cfg(feature = "rayon")]
fn threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "rayon"))]
fn threads() -> usize {
    1
}

/// Calls `work` with each part of `data`, all of one size but perhaps the last, and its number, on
/// all threads there are.
pub(super) fn for_each_part(
    data: &mut [f32],
    size: usize,
    work: impl Fn(usize, &mut [f32]) + Send + Sync,
) {
    let size = size.max(1);
    #[cfg(feature = "rayon")]
    if threads() > 1 && data.len() > size {
        use rayon::prelude::*;
        data.par_chunks_mut(size).enumerate().for_each(|(index, part)| work(index, part));
        return;
    }
    data.chunks_mut(size).enumerate().for_each(|(index, part)| work(index, part));
}

/// What `work` gives for each of `0..count`, in their order, on several threads if the work on
/// `elements` numbers in all is worth them.
pub(super) fn map_each<T: Send>(
    count: usize,
    elements: usize,
    work: impl Fn(usize) -> T + Send + Sync,
) -> Vec<T> {
    #[cfg(feature = "rayon")]
    if pays(elements) {
        use rayon::prelude::*;
        return (0..count).into_par_iter().map(work).collect();
    }
    let _ = elements;
    (0..count).map(work).collect()
}

/// A part of a matrix in memory, rows and columns of it, that nobody may have written yet.
pub(super) struct Block<'a> {
    pub(super) start: *mut f32,
    pub(super) size: [usize; 2],
    pub(super) stride: usize,
    _data: PhantomData<&'a mut [f32]>,
}

impl Block<'_> {
    /// Rows and columns.
    pub(super) fn size(&self) -> [usize; 2] {
        self.size
    }
}

/// The start of a matrix whose blocks threads take.
struct Start(*mut f32);

// SAFETY: each thread takes other blocks of it.
#[allow(unsafe_code, reason = "blocks of a matrix are no slices of its memory")]
unsafe impl Sync for Start {}

/// Calls `work` with each block of a matrix of `size`, and its first row and column: all of `side`
/// rows and columns at most, and as equal as they get. Several threads are used if `operations` are
/// worth them.
///
/// # Panics
///
/// If `data` is not the matrix's.
pub(super) fn for_each_block(
    data: &mut [MaybeUninit<f32>],
    size: [usize; 2],
    side: usize,
    operations: usize,
    work: impl Fn(Block<'_>, usize, usize) + Send + Sync,
) {
    /// Below, waking the threads takes longer than they save.
    const PARALLEL: usize = 1 << 22;
    assert_eq!(data.len(), size[0] * size[1], "as many numbers as the matrix has");
    let counts = size.map(|length| length.div_ceil(side));
    let range = |axis: usize, index: usize| {
        let [start, end] = [index, index + 1].map(|index| index * size[axis] / counts[axis]);
        (start, end - start)
    };
    let start = Start(data.as_mut_ptr().cast());
    let each = |index: usize| {
        let (row, height) = range(0, index / counts[1]);
        let (column, width) = range(1, index % counts[1]);
        // By reference, so that it is the whole of it that threads share.
        let Start(start) = &start;
        let start = start.wrapping_add(row * size[1] + column);
        let block = Block { start, size: [height, width], stride: size[1], _data: PhantomData };
        work(block, row, column);
    };
    let count = counts[0] * counts[1];
    #[cfg(feature = "rayon")]
    if operations >= PARALLEL && count > 1 && threads() > 1 {
        use rayon::prelude::*;
        (0..count).into_par_iter().for_each(each);
        return;
    }
    let _ = (operations, PARALLEL);
    (0..count).for_each(each);
}
