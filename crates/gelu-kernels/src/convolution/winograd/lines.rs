use super::squares::Squares;
use crate::prefetch;
use crate::subnormal::unless_subnormal;
use std::ops::Range;

/// Lines of one channel as squares read them, with 0 in place of subnormal numbers and of what lies outside the
/// picture. Pixels of even and of odd columns are apart, so that a vector has those of one column of as many
/// squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    squares: &'a Squares,
    /// Numbers of a line that are for columns of one parity.
    half: usize,
}

impl<'a> Lines<'a> {
    /// For vectors of so many squares.
    #[inline(always)]
    pub(super) fn new(squares: &'a Squares, lanes: usize) -> Self {
        // The last two columns of a square are the first two of the next.
        Self { squares, half: squares.count[1].next_multiple_of(lanes) + lanes }
    }

    /// Numbers of so many rows of squares.
    #[inline(always)]
    pub(super) fn size(&self, rows: usize) -> usize {
        (2 * rows + 2) * 2 * self.half
    }

    /// Where a row has a number of its first square.
    #[inline(always)]
    pub(super) fn place(&self, row: usize, [line, column]: [usize; 2]) -> usize {
        ((2 * row + line) * 2 + column % 2) * self.half + column / 2
    }

    /// Writes what `rows` of squares read of a channel, but for what lies outside the picture.
    #[inline(always)]
    pub(super) fn fill(&self, plane: &[f32], rows: &Range<usize>, numbers: &mut [f32]) {
        let Squares { source: [_, height, width], padding: [above, left], count } = *self.squares;
        let first = 2 * rows.start as isize - above;
        // Of the first pair of columns that both lie inside, the number among pairs and the place.
        let pair = (left.max(0).unsigned_abs()).div_ceil(2);
        let column = (2 * pair as isize - left).unsigned_abs();
        let pairs = (count[1] + 1).saturating_sub(pair).min(width.saturating_sub(column) / 2);
        let last = column + 2 * pairs;
        for (line, to) in (first..).zip(numbers.chunks_exact_mut(2 * self.half)) {
            let Some(line) = usize::try_from(line).ok().filter(|&line| line < height) else {
                continue;
            };
            let from = &plane[line * width..][..width];
            let (even, odd) = to.split_at_mut(self.half);
            // Halves of pairs that the picture's edges part.
            if column == 1 && (1..=self.half).contains(&pair) && width > 0 {
                odd[pair - 1] = unless_subnormal(from[0]);
            }
            if last < width && pair + pairs < self.half {
                even[pair + pairs] = unless_subnormal(from[last]);
            }
            if pairs > 0 {
                part(&from[column..last], &mut even[pair..], &mut odd[pair..]);
            }
        }
    }
}

/// Parts pairs of numbers.
#[inline(always)]
fn part(pairs: &[f32], even: &mut [f32], odd: &mut [f32]) {
    match pairs.len() / 2 {
        0..4 => part_by::<1>(pairs, even, odd),
        4..8 => part_by::<4>(pairs, even, odd),
        8.. => part_by::<8>(pairs, even, odd),
    }
}

/// By so many at once, the last of which may be among those before.
#[inline(always)]
fn part_by<const PAIRS: usize>(pairs: &[f32], even: &mut [f32], odd: &mut [f32]) {
    let count = pairs.len() / 2;
    for start in (0..count).step_by(PAIRS) {
        let start = start.min(count - PAIRS);
        let from = &pairs[2 * start..][..2 * PAIRS];
        let (even, odd) = (&mut even[start..][..PAIRS], &mut odd[start..][..PAIRS]);
        // A page later is this place of a channel soon to come, in planes of a page or a whole part of one.
        prefetch::to_read::<1, f32>(from.as_ptr());
        for pair in 0..PAIRS {
            even[pair] = unless_subnormal(from[2 * pair]);
            odd[pair] = unless_subnormal(from[2 * pair + 1]);
        }
    }
}
