use crate::convolution::axis::Axis;
use crate::convolution::frame::Frame;

/// Numbers of a square, in rows.
pub(super) const SQUARE: usize = 16;

/// The squares of pictures of one size.
#[derive(Clone, Debug)]
pub(in super::super) struct Squares {
    pub(super) frame: Frame,
    /// Channels, height and width of a picture.
    pub(super) source: [usize; 3],
    /// How many there are of a picture, down and to the right.
    pub(super) count: [usize; 2],
    /// Where each number of a square begins in a channel of the frame.
    pub(super) taps: [usize; SQUARE],
}

/// Squares of one row that a vector has: the picture's, down and to the right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) row: usize,
    pub(super) column: usize,
    /// Their number within the block.
    pub(super) index: usize,
    pub(super) count: usize,
}

impl Squares {
    /// For results of `size`, the first of which depend on pixels from −`padding` on.
    pub(in super::super) fn new(source: [usize; 3], size: [usize; 2], padding: [isize; 2]) -> Self {
        let count = size.map(|length| length.div_ceil(2));
        let frame = Frame::new([0, 1].map(|axis| {
            let shifts = [0, 1, 2, 3].map(|place| place - padding[axis]);
            Axis::new(source[1 + axis], count[axis], 2, &shifts)
        }));
        let taps = std::array::from_fn(|place| frame.tap([place / 4, place % 4]));
        Self { frame, source, count, taps }
    }

    /// Rows of squares that are worked on together, so many squares each.
    pub(super) fn rows(&self, squares: usize) -> usize {
        (squares / self.count[1].max(1)).max(1)
    }

    /// Pieces of a row of squares, the first of which is the block's number `index`.
    pub(super) fn runs(&self, row: usize, index: usize, lanes: usize) -> impl Iterator<Item = Run> {
        let columns = self.count[1];
        (0..columns).step_by(lanes).map(move |column| Run {
            row,
            column,
            index: index + column,
            count: lanes.min(columns - column),
        })
    }
}
