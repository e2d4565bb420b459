use std::ops::Range;

/// The sizes of a two-dimensional convolution. Pairs are of height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Pictures.
    pub batch: usize,
    /// Channels of a picture, before and after.
    pub channels: [usize; 2],
    /// Of a picture, in pixels.
    pub input: [usize; 2],
    /// Of the result.
    pub output: [usize; 2],
    /// Of the kernel.
    pub kernel: [usize; 2],
    /// Steps from one number of the result to the next.
    pub stride: [usize; 2],
    /// Steps from one number of the kernel to the next.
    pub dilation: [usize; 2],
    /// Zeros above and to the left.
    pub padding: [usize; 2],
}

impl Geometry {
    /// Numbers in one channel of a picture.
    pub(super) fn input_plane(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Numbers in one channel of the result.
    pub(super) fn output_plane(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Numbers of a picture.
    pub(super) fn input_size(&self) -> usize {
        self.channels[0] * self.input_plane()
    }

    /// Numbers of a picture's result.
    pub(super) fn output_size(&self) -> usize {
        self.channels[1] * self.output_plane()
    }

    /// Numbers of a picture that one number of the result depends on: a column of its patches.
    pub(super) fn depth(&self) -> usize {
        self.channels[0] * self.kernel[0] * self.kernel[1]
    }

    /// Whether the pictures are their own patches.
    pub(super) fn is_pointwise(&self) -> bool {
        self.kernel == [1, 1]
            && self.stride == [1, 1]
            && self.padding == [0, 0]
            && self.input == self.output
    }

    /// Which channel of the picture, and which row and column of the kernel, a row of the patches is.
    pub(super) fn place(&self, row: usize) -> [usize; 3] {
        let [height, width] = self.kernel;
        [row / (height * width), row / width % height, row % width]
    }

    /// How far a kernel's row or column reaches past the output's, and for which outputs that is
    /// inside of the picture.
    pub(super) fn reach(&self, axis: usize, kernel: usize) -> (isize, Range<usize>) {
        let (stride, length) = (self.stride[axis] as isize, self.input[axis] as isize);
        let shift = (kernel * self.dilation[axis]) as isize - self.padding[axis] as isize;
        let count = self.output[axis] as isize;
        // o·stride + shift ≥ 0 and < length.
        let first = (-shift).max(0).div_ceil_by(stride).min(count);
        let end = (length - shift).max(0).div_ceil_by(stride).clamp(first, count);
        (shift, first as usize..end as usize)
    }

    /// Rows of the result to be worked on together, so that their patches stay in the second cache
    /// level.
    pub(super) fn tiles(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        /// Numbers in the patches of a tile.
        const PATCHES: usize = 1 << 18;
        /// Fewer pixels than these waste the registers.
        const LEAST: usize = 96;
        let [rows, width] = self.output;
        let pixels = (PATCHES / self.depth().max(1)).max(LEAST);
        let each = (pixels / width.max(1)).clamp(1, rows.max(1));
        // As equal as they get.
        let count = rows.div_ceil(each);
        (0..count).map(move |tile| tile * rows / count..(tile + 1) * rows / count)
    }

    /// The most pixels that a tile has.
    pub(super) fn largest_tile(&self) -> usize {
        self.tiles().map(|rows| rows.len()).max().unwrap_or(0) * self.output[1]
    }
}

/// Division that rounds up, of a number that is not negative.
trait DivCeil {
    fn div_ceil_by(self, divisor: Self) -> Self;
}

impl DivCeil for isize {
    fn div_ceil_by(self, divisor: Self) -> Self {
        (self + divisor - 1) / divisor
    }
}
