//! The part of a product that stays in registers while its sums grow. LLVM makes of it what one would
//! write by hand: each vector of a tile is a register, each multiply-add one instruction.

/// Rows of two vectors. What is in it is summed in one order, number by number, so that its bits are the same
/// for tiles of any shape.
pub(crate) type Tile<const ROWS: usize, const LANES: usize> = [[[f32; LANES]; 2]; ROWS];

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
