use std::ops::Range;

/// The number of elements in a square, stored in rows.
pub(super) const SQUARE: usize = 16;

/// The squares of images of the same size.
#[derive(Clone, Debug)]
pub(in super::super) struct Squares {
    /// Channels, height and width of an image.
    pub(super) source: [usize; 3],
    /// The number of squares in an image, vertically and horizontally.
    pub(super) count: [usize; 2],
    /// The distance from the image's top left corner to the first square, upwards and to the left.
    pub(super) padding: [isize; 2],
}

/// Rows of squares of one image.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) picture: usize,
    /// The rows, counted within the image.
    pub(super) rows: Range<usize>,
    /// The number of the piece's first square among the squares of all pieces.
    pub(super) first: usize,
}

impl Squares {
    /// Creates the squares for results of `size`, the first of which depend on pixels from
    /// −`padding` on.
    pub(in super::super) fn new(source: [usize; 3], size: [usize; 2], padding: [isize; 2]) -> Self {
        Self { source, count: size.map(|length| length.div_ceil(2)), padding }
    }

    /// Returns the number of rows of squares that are processed together, for about `squares`
    /// squares.
    pub(super) fn rows(&self, squares: usize) -> usize {
        (squares / self.count[1].max(1)).max(1)
    }

    /// Splits `rows`, counted through all images, into pieces of one image each.
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
