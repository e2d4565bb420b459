use super::matrix::Matrix;
use super::softmax::softmax;
use super::{CausalAttention, Part, Sizes};
use crate::kernels::tile::{self, Tiled};
use gelu_kernels::Level;
use gelu_kernels::SharedSlice;

/// Returns the length of the scratch memory that a head needs.
pub(super) fn scratch(of: &CausalAttention, level: Level) -> usize {
    let [rows, lanes] = tile::sizes(level);
    let sizes = Sizes::of(of, rows, lanes);
    sizes.places * (of.size + sizes.features) + (of.size + rows) * sizes.columns
}

/// The work on one head of one sequence.
pub(super) struct Head<'a> {
    pub(super) of: CausalAttention,
    pub(super) sequence: usize,
    pub(super) head: usize,
    pub(super) qkv: &'a [f32],
    pub(super) out: &'a SharedSlice<'a, f32>,
    pub(super) weights: &'a SharedSlice<'a, f32>,
    pub(super) scratch: &'a mut [f32],
}

impl Tiled for Head<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { of, sequence, head, qkv, out, weights, mut scratch } = self;
        let sizes = Sizes::of(&of, ROWS, LANES);
        let at = |part: Part, place| &qkv[of.at(sequence, place, part, head)..][..of.size];
        let rows = |part: Part| (0..of.length).map(move |place| at(part, place));
        let mut queries = Matrix::lent(&mut scratch, sizes.places, of.size);
        queries.fill(rows(Part::Query));
        let mut keys = Matrix::lent(&mut scratch, of.size, sizes.columns);
        keys.fill_transposed(of.length, |place| at(Part::Key, place));
        let mut values = Matrix::lent(&mut scratch, sizes.places, sizes.features);
        values.fill(rows(Part::Value));
        let mut scores = Matrix::lent(&mut scratch, ROWS, sizes.columns);
        let scale = of.scale();
        for first in (0..of.length).step_by(ROWS) {
            let seen = (first + ROWS).min(of.length);
            for column in (0..seen).step_by(2 * LANES) {
                let mut tile = queries.times::<FUSED, ROWS, LANES>(first, &keys, column, of.size);
                let numbers = tile.as_flattened_mut().as_flattened_mut();
                numbers.iter_mut().for_each(|score| *score *= scale);
                scores.set(0, column, &tile);
            }
            for place in first..seen {
                softmax::<FUSED>(scores.row_mut(place - first), place + 1);
                let start = of.weights_at(sequence, head) + place * of.length;
                // SAFETY: only one thread works on a head.
                let weights = unsafe { weights.uninit_range(start..start + of.length) };
                weights.write_copy_of_slice(&scores.row(place - first)[..of.length]);
            }
            for feature in (0..of.size).step_by(2 * LANES) {
                let tile = scores.times::<FUSED, ROWS, LANES>(0, &values, feature, seen);
                let count = (of.size - feature).min(2 * LANES);
                for (place, tile) in (first..seen).zip(&tile) {
                    let start = of.output_at(sequence, place, head) + feature;
                    // SAFETY: as above.
                    let out = unsafe { out.uninit_range(start..start + count) };
                    out.write_copy_of_slice(&tile.as_flattened()[..count]);
                }
            }
        }
    }
}
