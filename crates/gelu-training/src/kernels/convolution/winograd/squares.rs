use std::ops::Range;

/// Numbers of a square, in rows.
pub(super) const SQUARE: usize = 16;

/// The squares of pictures of one size.
#[derive(Clone, Debug)]
pub(in super::super) struct Squares {
    /// Channels, height and width of a picture.
    pub(super) source: [usize; 3],
    /// How many there are of a picture, down and to the right.
    pub(super) count: [usize; 2],
    /// How far above and left of the picture the first begins.
    pub(super) padding: [isize; 2],
}

/// Rows of squares of one picture.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) picture: usize,
    /// Within the picture.
    pub(super) rows: Range<usize>,
    /// The number of its first square among those of all pieces.
    pub(super) first: usize,
}

impl Squares {
    /// For results of `size`, the first of which depend on pixels from −`padding` on.
    pub(in super::super) fn new(source: [usize; 3], size: [usize; 2], padding: [isize; 2]) -> Self {
        Self { source, count: size.map(|length| length.div_ceil(2)), padding }
    }

    /// Rows of squares that are worked on together, so many squares each.
    pub(super) fn rows(&self, squares: usize) -> usize {
        (squares / self.count[1].max(1)).max(1)
    }

    /// Rows, counted through all pictures, by picture.
    pub(super) fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = Piece> {
        let [down, right] = self.count;
        let mut next = rows.start;
        std::iter::from_fn(move || {
            if next >= rows.end {
                return None;
            }
            let row = next % down;
            let count = (down - row).min(rows.end - next);
            let first = (next - rows.start) * right;
            let piece = Piece { picture: next / down, rows: row..row + count, first };
            next += count;
            Some(piece)
        })
    }
}
