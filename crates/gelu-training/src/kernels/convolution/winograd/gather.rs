use super::squares::SQUARE;
use super::transform::{kernel, plus, vector};
use crate::kernels::tile::Tiled;
use std::ops::Range;

/// Adds the sums of all groups for some channels and one vector of outputs, and transforms them back.
pub(super) struct Gather<'a> {
    /// The sums of each group.
    pub(super) sums: &'a [Vec<f32>],
    /// The index of the vector of outputs.
    pub(super) vector: usize,
    pub(super) channels: Range<usize>,
    pub(super) depth: usize,
    /// The weights of these outputs.
    pub(super) result: &'a mut [f32],
}

impl Tiled for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { sums, vector: index, channels, depth, result } = self;
        let (panel, half) = (index / 2, index % 2 * LANES);
        let count = channels.len();
        for (index, channel) in channels.enumerate() {
            let mut numbers = [[[0.0; LANES]; 4]; 4];
            for sums in sums {
                for line in 0..4 {
                    for column in 0..4 {
                        let number = panel * SQUARE + 4 * line + column;
                        let start = (number * count + index) * 2 * LANES + half;
                        numbers[line][column] = plus(numbers[line][column], vector(sums, start));
                    }
                }
            }
            let mut down = [[[0.0; LANES]; 4]; 3];
            for column in 0..4 {
                let [a, b, c, d] = numbers;
                let found = kernel([a[column], b[column], c[column], d[column]]);
                for line in 0..3 {
                    down[line][column] = found[line];
                }
            }
            let found = down.map(kernel);
            for (lane, result) in result.chunks_exact_mut(depth).enumerate() {
                let result = &mut result[9 * channel..][..9];
                for line in 0..3 {
                    for column in 0..3 {
                        result[3 * line + column] = found[line][column][lane];
                    }
                }
            }
        }
    }
}
