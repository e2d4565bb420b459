use crate::level::Tiled;
use crate::subnormal::unless_subnormal;

/// Turns planes, one for each output, into panels: as many outputs as a tile has columns, one behind the
/// other for each pixel. Missing ones are 0, and so are subnormal numbers.
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
        let both = 2 * LANES;
        let panels = panels.chunks_exact_mut((both * plane).max(1));
        for (planes, panel) in planes.chunks((both * plane).max(1)).zip(panels) {
            let outputs = planes.len() / plane;
            for (pixel, to) in panel.chunks_exact_mut(both).enumerate() {
                if outputs == both {
                    for output in 0..both {
                        to[output] = unless_subnormal(planes[output * plane + pixel]);
                    }
                } else {
                    for output in 0..outputs {
                        to[output] = unless_subnormal(planes[output * plane + pixel]);
                    }
                    to[outputs..].fill(0.0);
                }
            }
        }
    }
}
