use super::squares::Squares;
use super::transform::vector;
use crate::kernels::subnormal::unless_subnormal;
use gelu_kernels::prefetch;

/// The lines of one channel in the form that squares read them, with 0 instead of subnormal numbers and outside
/// the image. For each of a square's sixteen positions, the numbers of all squares are contiguous, over whole
/// rows of squares. A vector therefore holds the numbers of several squares, from several rows if an image is
/// narrow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    squares: &'a Squares,
    /// The number of rows of squares.
    rows: usize,
    /// The size of one column of all lines of one parity, including what a vector reads beyond them.
    field: usize,
}

impl<'a> Lines<'a> {
    /// Creates the layout for `rows` rows of squares and vectors of `lanes`.
    #[inline(always)]
    pub(super) fn new(squares: &'a Squares, rows: usize, lanes: usize) -> Self {
        // The last two lines of a square are the first two of the square below.
        Self { squares, rows, field: (rows + 1) * squares.count[1] + lanes }
    }

    #[inline(always)]
    pub(super) fn size(&self) -> usize {
        8 * self.field
    }

    /// Returns the position at which a column of a line of the first square begins.
    #[inline(always)]
    fn place(&self, line: usize, column: usize) -> usize {
        (line % 2 * 4 + column) * self.field + line / 2 * self.squares.count[1]
    }

    /// Returns the squares from number `first` on, by line and column.
    #[inline(always)]
    pub(super) fn squares<const LANES: usize>(
        &self,
        numbers: &[f32],
        first: usize,
    ) -> [[[f32; LANES]; 4]; 4] {
        let mut square = [[[0.0; LANES]; 4]; 4];
        for line in 0..4 {
            for column in 0..4 {
                square[line][column] = vector(numbers, self.place(line, column) + first);
            }
        }
        square
    }

    /// Writes the numbers of a channel that the squares from row `first` on read, except those outside the
    /// image.
    #[inline(always)]
    pub(super) fn fill(&self, plane: &[f32], first: usize, numbers: &mut [f32]) {
        let Squares { source: [_, height, width], padding: [above, _], count } = *self.squares;
        let first = 2 * first as isize - above;
        let lines = 2 * self.rows + 2;
        let inside = |line: isize| line.clamp(0, height as isize);
        let within = inside(first)..inside(first + lines as isize);
        for line in within {
            let from = &plane[line.unsigned_abs() * width..][..width];
            let start = self.place((line - first).unsigned_abs(), 0);
            let (left, right) = numbers[start..].split_at_mut(2 * self.field);
            let (even, odd) = left.split_at_mut(self.field);
            let (next_even, next_odd) = right.split_at_mut(self.field);
            let columns = [even, odd, next_even, next_odd].map(|column| &mut column[..count[1]]);
            self.part(from, columns);
        }
    }

    /// Splits a line into the four columns of its squares: pixels of even and of odd columns. The last two
    /// columns of a square are the first two of the next.
    #[inline(always)]
    fn part(&self, line: &[f32], [even, odd, next_even, next_odd]: [&mut [f32]; 4]) {
        let (count, left) = (even.len(), self.squares.padding[1]);
        let pixel = |column: usize| {
            let column = usize::try_from(column as isize - left).ok();
            column.filter(|&column| column < line.len())
        };
        // These pairs of pixels are in two squares and completely inside the image.
        let start = (left.max(0).unsigned_abs().div_ceil(2)).clamp(1, count);
        let end = (line.len() as isize + left).max(0).unsigned_abs() / 2;
        let end = end.clamp(start, count);
        for pair in (0..start).chain(end..count + 1) {
            for (odds, to, next) in
                [(0, &mut *even, &mut *next_even), (1, &mut *odd, &mut *next_odd)]
            {
                let Some(pixel) = pixel(2 * pair + odds) else { continue };
                let number = unless_subnormal(line[pixel]);
                if pair < count {
                    to[pair] = number;
                }
                if pair > 0 {
                    next[pair - 1] = number;
                }
            }
        }
        if start < end {
            let first = (2 * start as isize - left).unsigned_abs();
            let pairs = &line[first..][..2 * (end - start)];
            let columns = [
                &mut even[start..end],
                &mut odd[start..end],
                &mut next_even[start - 1..end - 1],
                &mut next_odd[start - 1..end - 1],
            ];
            match end - start {
                0..4 => part_pairs::<1>(pairs, columns),
                4..8 => part_pairs::<4>(pairs, columns),
                8.. => part_pairs::<8>(pairs, columns),
            }
        }
    }
}

/// Splits pairs of numbers, `PAIRS` pairs at once. The last group may overlap the group before.
#[inline(always)]
fn part_pairs<const PAIRS: usize>(pairs: &[f32], columns: [&mut [f32]; 4]) {
    let [even, odd, next_even, next_odd] = columns;
    let count = pairs.len() / 2;
    for start in (0..count).step_by(PAIRS) {
        let start = start.min(count - PAIRS);
        let from = &pairs[2 * start..][..2 * PAIRS];
        // One page further is the same place in one of the next channels, if planes are a page or a fraction of
        // one.
        prefetch::to_read::<1, f32>(from.as_ptr());
        let mut both = [[0.0; PAIRS]; 2];
        for pair in 0..PAIRS {
            both[0][pair] = unless_subnormal(from[2 * pair]);
            both[1][pair] = unless_subnormal(from[2 * pair + 1]);
        }
        let put = |to: &mut [f32], numbers: [f32; PAIRS]| {
            to[start..][..PAIRS].copy_from_slice(&numbers);
        };
        put(even, both[0]);
        put(odd, both[1]);
        put(next_even, both[0]);
        put(next_odd, both[1]);
    }
}
