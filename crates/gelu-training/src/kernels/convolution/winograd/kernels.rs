//! The 3×3 weights, and their transforms by Winograd's method.

use super::squares::SQUARE;
use super::transform::weights;
use crate::kernels::tile::{self, Tiled};
use gelu_kernels::Level;

/// 3×3 weights, by channel of the result and channel of the image.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Kernels<'a> {
    /// The weights, nine for each pair of channels.
    pub(in super::super) weight: &'a [f32],
    /// The distance between channels of the result, and between channels of the image.
    pub(in super::super) step: [usize; 2],
    /// Whether the weights are rotated by half a turn.
    pub(in super::super) rotated: bool,
}

impl Kernels<'_> {
    /// Returns the weights, by column and line, of one channel of the result and of `count` channels of the
    /// image from `first` on, at most one per lane.
    #[inline(always)]
    fn read<const LANES: usize>(
        &self,
        [output, first]: [usize; 2],
        count: usize,
    ) -> [[[f32; LANES]; 3]; 3] {
        let mut kernels = [[[0.0; LANES]; 3]; 3];
        for lane in 0..count.min(LANES) {
            let start = output * self.step[0] + (first + lane) * self.step[1];
            let kernel = &self.weight[start..start + 9];
            for line in 0..3 {
                for column in 0..3 {
                    kernels[column][line][lane] = kernel[3 * line + column];
                }
            }
        }
        if self.rotated {
            for column in &mut kernels {
                column.reverse();
            }
            kernels.reverse();
        }
        kernels
    }
}

/// The transformed weights, in panels of as many channels of the result as a tile has rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelPanels<'a> {
    pub(super) kernels: Kernels<'a>,
    /// The number of channels of the result and of the image.
    pub(super) channels: [usize; 2],
    pub(super) level: Level,
}

/// Returns the size of a panel's row, in whole vectors.
#[inline(always)]
fn row_size(channels: usize, lanes: usize) -> usize {
    channels.next_multiple_of(lanes)
}

impl KernelPanels<'_> {
    /// Returns the number of panels.
    pub(super) fn count(&self) -> usize {
        self.channels[0].div_ceil(tile::sizes(self.level)[0])
    }

    /// Returns the size of a panel.
    pub(super) fn size(&self) -> usize {
        let [rows, lanes] = tile::sizes(self.level);
        SQUARE * rows * row_size(self.channels[1], lanes)
    }

    /// Writes a panel: by number of the square, row, and channel of the image.
    pub(super) fn write(&self, panel: usize, to: &mut [f32]) {
        tile::run(self.level, Panel { of: self, panel, to });
    }
}

struct Panel<'a> {
    of: &'a KernelPanels<'a>,
    panel: usize,
    to: &'a mut [f32],
}

// This code uses loops, because closures would not be compiled for the level of their caller.
impl Tiled for Panel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { of: KernelPanels { kernels, channels: [outputs, channels], .. }, panel, to } =
            self;
        let size = row_size(*channels, LANES);
        // In this order, a row of the input's gradient finds its weights next to those of the row before.
        for first in (0..*channels).step_by(LANES) {
            for row in 0..ROWS {
                let output = panel * ROWS + row;
                let kernels = match output < *outputs {
                    true => kernels.read::<LANES>([output, first], channels - first),
                    false => [[[0.0; LANES]; 3]; 3],
                };
                let [a, b, c] = [weights(kernels[0]), weights(kernels[1]), weights(kernels[2])];
                for line in 0..4 {
                    let numbers = weights([a[line], b[line], c[line]]);
                    for column in 0..4 {
                        let start = ((4 * line + column) * ROWS + row) * size + first;
                        to[start..start + LANES].copy_from_slice(&numbers[column]);
                    }
                }
            }
        }
    }
}
