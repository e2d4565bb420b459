//! The part of a product that stays in registers while its sums grow. LLVM compiles it like hand-written
//! code: each vector of a tile is a register, and each multiply-add is one instruction.

use gelu_kernels::{Level, Work};

/// A tile: rows of two vectors each. Each element is summed in a fixed order, so results are bit-identical
/// for tiles of any shape.
pub(crate) type Tile<const ROWS: usize, const LANES: usize> = [[[f32; LANES]; 2]; ROWS];

/// [`Work`] on tiles of `ROWS` rows of two vectors of `LANES` numbers; see [`sizes`].
pub(crate) trait Tiled {
    type Output;

    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) -> Self::Output;
}

/// Returns the number of rows of a tile, and half its number of columns: what fits a level's registers next
/// to the factors. AVX-512 has enough registers for twelve rows, but LLVM puts tiles of 256 or more numbers
/// in memory, which is eight times as slow.
pub(crate) fn sizes(level: Level) -> [usize; 2] {
    match (level.fuses(), level.lanes()) {
        (true, 16) => [6, 16],
        (true, _) => [6, 8],
        (false, _) => [2, 8],
    }
}

/// Does the work in code compiled for this level and its tile sizes.
pub(crate) fn run<W: Tiled>(level: Level, work: W) -> W::Output {
    level.run(OfLevel(work))
}

struct OfLevel<W>(W);

impl<W: Tiled> Work for OfLevel<W> {
    type Output = W::Output;

    /// Both sizes are constants, because no level has code for the tiles of another.
    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> W::Output {
        match FUSED {
            true => match LANES {
                16 => self.0.run::<FUSED, 6, 16>(),
                _ => self.0.run::<FUSED, 6, 8>(),
            },
            false => self.0.run::<FUSED, 2, 8>(),
        }
    }
}

/// Returns `Σ left(i, k, row)·right(i, k)` over `i` and `k` in the two ranges of `depth`, for each row of a
/// tile.
#[inline(always)]
pub(crate) fn product<const FUSED: bool, const ROWS: usize, const LANES: usize>(
    depth: [usize; 2],
    left: impl Fn(usize, usize, usize) -> f32,
    right: impl Fn(usize, usize) -> [[f32; LANES]; 2],
) -> Tile<ROWS, LANES> {
    let mut sums = [[[0.0; LANES]; 2]; ROWS];
    for i in 0..depth[0] {
        for k in 0..depth[1] {
            let right = right(i, k);
            for (row, sums) in sums.iter_mut().enumerate() {
                let left = left(i, k, row);
                for half in 0..2 {
                    for lane in 0..LANES {
                        let sum: &mut f32 = &mut sums[half][lane];
                        let right = right[half][lane];
                        *sum = if FUSED { left.mul_add(right, *sum) } else { left * right + *sum };
                    }
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sizes;

    impl Tiled for Sizes {
        type Output = [usize; 2];

        fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) -> [usize; 2] {
            [ROWS, LANES]
        }
    }

    #[test]
    fn work_is_compiled_for_the_sizes_that_are_announced() {
        for level in Level::available() {
            assert_eq!(run(level, Sizes), sizes(level), "{level:?}");
        }
    }
}
