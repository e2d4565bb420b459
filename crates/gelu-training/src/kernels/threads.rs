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
