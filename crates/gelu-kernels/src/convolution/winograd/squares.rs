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

/// Squares of one row that a vector has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// To the right, in the picture.
    pub(super) column: usize,
    /// Their number within the block.
    pub(super) index: usize,
    pub(super) count: usize,
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

    /// Pieces of a row of squares, the first of which is the block's number `index`.
    pub(super) fn runs(&self, index: usize, lanes: usize) -> impl Iterator<Item = Run> {
        let columns = self.count[1];
        (0..columns).step_by(lanes).map(move |column| Run {
            column,
            index: index + column,
            count: lanes.min(columns - column),
        })
    }
}
