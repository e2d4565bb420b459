use super::matrix::Matrix;
use super::{CausalAttention, Part, Sizes};
use crate::kernels::sum::sums_of_row;
use crate::kernels::tile::Tile;
use crate::kernels::tile::{self, Tiled};
use gelu_kernels::Level;
use gelu_kernels::SharedSlice;

/// Returns the length of the scratch memory that a head needs.
pub(super) fn scratch(of: &CausalAttention, level: Level) -> usize {
    let [rows, lanes] = tile::sizes(level);
    let sizes = Sizes::of(of, rows, lanes);
    sizes.places * (3 * sizes.features + 2 * sizes.columns) + of.size * sizes.columns
}

/// The work on one head of one sequence.
pub(super) struct Head<'a> {
    pub(super) of: CausalAttention,
    pub(super) sequence: usize,
    pub(super) head: usize,
    pub(super) qkv: &'a [f32],
    pub(super) weights: &'a [f32],
    pub(super) gradient: &'a [f32],
    pub(super) out: &'a SharedSlice<'a, f32>,
    pub(super) scratch: &'a mut [f32],
}

impl Tiled for Head<'_> {
    type Output = ();

    /// Computes the gradient. With G the gradient of the output, it consists of `dV = Pᵀ·G`, and with
    /// `dS = P∘(G·Vᵀ − rowsum(P∘(G·Vᵀ)))/√size`, `dQ = dS·K` and `dK = dSᵀ·Q`.
    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { of, sequence, head, qkv, weights, gradient, out, mut scratch } = self;
        let sizes = Sizes::of(&of, ROWS, LANES);
        let at = |part: Part, place| &qkv[of.at(sequence, place, part, head)..][..of.size];
        let rows = |part: Part| (0..of.length).map(move |place| at(part, place));
        let mut lent = |rows, stride| Matrix::lent(&mut scratch, rows, stride);
        let mut queries = lent(sizes.places, sizes.features);
        let mut keys = lent(sizes.places, sizes.features);
        let mut outputs = lent(sizes.places, sizes.features);
        let mut values = lent(of.size, sizes.columns);
        let mut p = lent(sizes.places, sizes.columns);
        let mut scores = lent(sizes.places, sizes.columns);
        queries.fill(rows(Part::Query));
        keys.fill(rows(Part::Key));
        values.fill_transposed(of.length, |place| at(Part::Value, place));
        outputs.fill(
            (0..of.length).map(|place| &gradient[of.output_at(sequence, place, head)..][..of.size]),
        );
        let weights = &weights[of.weights_at(sequence, head)..][..of.length * of.length];
        p.fill(weights.chunks_exact(of.length));

        let write = |part, first: usize, feature: usize, tile: &Tile<ROWS, LANES>| {
            let count = (of.size - feature).min(2 * LANES);
            for (place, tile) in (first..of.length).zip(tile) {
                let start = of.at(sequence, place, part, head) + feature;
                // SAFETY: only one thread works on a head.
                let out = unsafe { out.uninit_range(start..start + count) };
                out.write_copy_of_slice(&tile.as_flattened()[..count]);
            }
        };
        let scale = of.scale();
        for first in (0..of.length).step_by(ROWS) {
            let seen = (first + ROWS).min(of.length);
            for column in (0..seen).step_by(2 * LANES) {
                let tile = outputs.times::<FUSED, ROWS, LANES>(first, &values, column, of.size);
                scores.set(first, column, &tile);
            }
            for place in first..first + ROWS {
                let (p, scores) = (p.row(place), scores.row_mut(place));
                let (used, beyond) = scores.split_at_mut(seen);
                beyond.fill(0.0);
                let [mean] = sums_of_row([&p[..seen], used], |[p, score]| [p * score]);
                let mean = mean as f32;
                let each = used.iter_mut().zip(p);
                each.for_each(|(score, p)| *score = *p * (*score - mean) * scale);
            }
            for feature in (0..of.size).step_by(2 * LANES) {
                let tile = scores.times::<FUSED, ROWS, LANES>(first, &keys, feature, seen);
                write(Part::Query, first, feature, &tile);
            }
        }
        for first in (0..of.length).step_by(ROWS) {
            let after = first..of.length;
            for feature in (0..of.size).step_by(2 * LANES) {
                let tile = scores.transposed_times::<FUSED, ROWS, LANES>(
                    first,
                    &queries,
                    feature,
                    after.clone(),
                );
                write(Part::Key, first, feature, &tile);
                let tile = p.transposed_times::<FUSED, ROWS, LANES>(
                    first,
                    &outputs,
                    feature,
                    after.clone(),
                );
                write(Part::Value, first, feature, &tile);
            }
        }
    }
}
