use crate::kernels::subnormal::unless_subnormal;
use crate::kernels::tile::Tiled;
use std::ops::Range;

/// Transposes planes, one per output, into panels. A panel holds as many outputs as a tile has columns, next
/// to each other for each pixel. Missing outputs and subnormal numbers become 0.
pub(super) struct Panels<'a> {
    pub(super) planes: &'a [f32],
    pub(super) plane: usize,
    pub(super) panels: &'a mut [f32],
}

impl Tiled for Panels<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { planes, plane, panels } = self;
        let panel = (2 * LANES * plane).max(1);
        for (planes, panel) in planes.chunks(panel).zip(panels.chunks_exact_mut(panel)) {
            transpose::<LANES>(planes, plane, 0..plane, panel);
        }
    }
}

/// Transposes some pixels of one panel.
#[inline(always)]
pub(super) fn transpose<const LANES: usize>(
    planes: &[f32],
    plane: usize,
    pixels: Range<usize>,
    panel: &mut [f32],
) {
    /// The number of outputs that are transposed together, for one vector of pixels at a time.
    const OUTPUTS: usize = 4;
    let (both, outputs) = (2 * LANES, planes.len() / plane);
    let (transposed, vectors) = (outputs / OUTPUTS * OUTPUTS, pixels.len() / LANES * LANES);
    for first in (0..transposed).step_by(OUTPUTS) {
        for pixel in (0..vectors).step_by(LANES) {
            let mut numbers = [[0.0; OUTPUTS]; LANES];
            for output in 0..OUTPUTS {
                let from = &planes[(first + output) * plane + pixels.start + pixel..][..LANES];
                for lane in 0..LANES {
                    numbers[lane][output] = unless_subnormal(from[lane]);
                }
            }
            let to = &mut panel[pixel * both + first..];
            for lane in 0..LANES {
                let to = &mut to[lane * both..][..OUTPUTS];
                for output in 0..OUTPUTS {
                    to[output] = numbers[lane][output];
                }
            }
        }
    }
    for (pixel, to) in panel.chunks_exact_mut(both).enumerate() {
        let rest = if pixel < vectors { transposed } else { 0 };
        for output in rest..outputs {
            to[output] = unless_subnormal(planes[output * plane + pixels.start + pixel]);
        }
        to[outputs..].fill(0.0);
    }
}
