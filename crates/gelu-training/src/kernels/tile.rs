//! The part of a product that stays in registers while its sums grow. LLVM makes of it what one would
//! write by hand: each vector of a tile is a register, each multiply-add one instruction.

use gelu_kernels::{Level, Work};

/// Rows of two vectors. What is in it is summed in one order, number by number, so that its bits are the same
/// for tiles of any shape.
pub(crate) type Tile<const ROWS: usize, const LANES: usize> = [[[f32; LANES]; 2]; ROWS];

/// [`Work`] on tiles of `ROWS` rows of two vectors of `LANES` numbers, as [`sizes`] says.
pub(crate) trait Tiled {
    type Output;

    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) -> Self::Output;
}

/// Rows of a tile, and half its columns: what the registers of a level hold of a product, beside
/// what goes into it. AVX-512 has registers for twelve rows, but of a tile of 256 numbers or more LLVM makes
/// memory, eight times as slow.
pub(crate) fn sizes(level: Level) -> [usize; 2] {
    match (level.fuses(), level.lanes()) {
        (true, 16) => [6, 16],
        (true, _) => [6, 8],
        (false, _) => [2, 8],
    }
}

/// Does the work in code compiled for this level and its tiles.
pub(crate) fn run<W: Tiled>(level: Level, work: W) -> W::Output {
    level.run(OfLevel(work))
}

struct OfLevel<W>(W);

impl<W: Tiled> Work for OfLevel<W> {
    type Output = W::Output;

    /// Both are constants: no level has code for another's tiles.
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

/// `Σ left(i, k, row)·right(i, k)` over `i` and `k` in the two ranges of `depth`, for each row of a tile.
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
