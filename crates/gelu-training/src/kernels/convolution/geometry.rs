use super::axis::Axis;
use super::correlation::{Correlation, Results};
use super::frame::Frame;
use super::winograd::{Squares, Winograd};
use crate::kernels::checks::{expect_positive, product};

/// The sizes of a two-dimensional convolution. Pairs are height and width. Elements outside the image count as 0,
/// so any size of the output is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The number of images.
    pub batch: usize,
    /// The channels of an image, before and after the convolution.
    pub channels: [usize; 2],
    /// The size of an image, in pixels.
    pub input: [usize; 2],
    /// The size of the result.
    pub output: [usize; 2],
    /// The size of the kernel.
    pub kernel: [usize; 2],
    /// The steps between elements of the result.
    pub stride: [usize; 2],
    /// The steps between elements of the kernel.
    pub dilation: [usize; 2],
    /// The number of zeros above and to the left.
    pub padding: [usize; 2],
}

impl Geometry {
    /// Returns the lengths of images, weight and results, after checks of the sizes: nothing that is computed from
    /// them below overflows, and every result depends on some elements.
    ///
    /// # Panics
    ///
    /// If the kernel, strides, dilations or channels are 0, or if images, the weight or results are larger than
    /// memory. An image counts with everything that its kernel reaches.
    pub(super) fn lengths(&self) -> [usize; 3] {
        let Self { batch, channels, input, output, kernel, stride, dilation, padding } = *self;
        let not_0 = [
            ("channels", channels),
            ("kernel", kernel),
            ("stride", stride),
            ("dilation", dilation),
        ];
        for (argument, sizes) in not_0 {
            expect_positive(argument, &sizes);
        }
        let lengths = [
            product("input", &[batch, channels[0], input[0], input[1]]),
            product("weight", &[channels[1], channels[0], kernel[0], kernel[1]]),
            product("output", &[batch, channels[1], output[0], output[1]]),
        ];
        // This is the maximum length of a frame's axis in each direction, with all phases of its stride.
        let [height, width] = [0, 1].map(|axis| {
            let parts = [
                product("output and stride", &[output[axis], stride[axis]]),
                product("kernel and dilation", &[kernel[axis], dilation[axis]]),
                product("stride", &[stride[axis]]),
                product("input", &[input[axis]]),
                product("padding", &[padding[axis]]),
            ];
            parts.into_iter().sum::<usize>() + 2
        });
        let most = channels[0].max(channels[1]);
        product("a picture with its padding, strides and dilations", &[most, height, width]);
        lengths
    }

    /// Returns the number of elements in one channel of an image.
    pub(super) fn input_plane(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Returns the number of elements in one channel of the result.
    pub(super) fn output_plane(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Returns the number of elements in an image.
    pub(super) fn input_size(&self) -> usize {
        self.channels[0] * self.input_plane()
    }

    /// Returns the number of elements in an image's results.
    pub(super) fn output_size(&self) -> usize {
        self.channels[1] * self.output_plane()
    }

    /// Returns the number of an image's elements that one element of the result depends on. This is also the number
    /// of rows of weights.
    pub(super) fn depth(&self) -> usize {
        self.channels[0] * self.kernel[0] * self.kernel[1]
    }

    /// Returns, for each position of the kernel along an axis, the distance from a result's position times the
    /// stride to the element that the result depends on.
    fn shifts(&self, axis: usize) -> Vec<isize> {
        let shift = |place| (place * self.dilation[axis]) as isize - self.padding[axis] as isize;
        (0..self.kernel[axis]).map(shift).collect()
    }

    /// Returns the frame from which the convolution reads its images.
    pub(super) fn frame(&self) -> Frame {
        Frame::new([0, 1].map(|axis| {
            Axis::new(self.input[axis], self.output[axis], self.stride[axis], &self.shifts(axis))
        }))
    }

    /// Returns the position in a channel of a frame at which each position of the kernel begins.
    pub(super) fn taps(&self, frame: &Frame) -> Vec<usize> {
        let [height, width] = self.kernel;
        let line = |y| (0..width).map(move |x| frame.tap([y, x]));
        (0..height).flat_map(line).collect()
    }

    /// Returns the convolution as a correlation.
    pub(super) fn forward(&self) -> Correlation {
        let frame = self.frame();
        Correlation {
            taps: self.taps(&frame),
            frame,
            source: [self.channels[0], self.input[0], self.input[1]],
            results: Results {
                channels: self.channels[1],
                count: self.output,
                size: self.output,
                start: [0, 0],
                step: [1, 1],
            },
        }
    }

    /// Returns whether the kernel is 3×3 with stride 1 and dilation 1.
    pub(super) fn has_squares(&self) -> bool {
        (self.kernel, self.stride, self.dilation) == ([3, 3], [1, 1], [1, 1])
    }

    /// Returns the convolution by Winograd's method.
    pub(super) fn forward_squares(&self) -> Winograd {
        let padding = self.padding.map(|padding| padding as isize);
        let source = [self.channels[0], self.input[0], self.input[1]];
        let squares = Squares::new(source, self.output, padding);
        Winograd::new(squares, [self.channels[1], self.output[0], self.output[1]])
    }

    /// Returns the input's gradient by Winograd's method: a convolution of the output's gradient, with weights
    /// rotated by half a turn.
    pub(super) fn backward_squares(&self) -> Winograd {
        let padding = self.padding.map(|padding| 2 - padding as isize);
        let source = [self.channels[1], self.output[0], self.output[1]];
        let squares = Squares::new(source, self.input, padding);
        Winograd::new(squares, [self.channels[0], self.input[0], self.input[1]])
    }

    /// Returns the input's gradient as correlations of the output's gradient, one for each pair of phases of the
    /// stride, and for each correlation the positions of the kernel that contribute to it.
    pub(super) fn backward(&self) -> Vec<(Correlation, Vec<usize>)> {
        let mut all = Vec::new();
        // Phases beyond the end of an image have no elements.
        let [down, right] = [0, 1].map(|axis| self.stride[axis].min(self.input[axis]));
        for y in 0..down {
            for x in 0..right {
                let phases = [y, x];
                let counts = [0, 1].map(|axis| {
                    self.input[axis].saturating_sub(phases[axis]).div_ceil(self.stride[axis])
                });
                // Output o contributes to input o·stride + shift, so input i depends on output (i − shift) /
                // stride, where that is an integer.
                let parts = [0, 1].map(|axis| self.sources(axis, phases[axis]));
                let frame = Frame::new([0, 1].map(|axis| {
                    let shifts: Vec<isize> = parts[axis].iter().map(|&(_, shift)| shift).collect();
                    Axis::new(self.output[axis], counts[axis], 1, &shifts)
                }));
                let (mut taps, mut places) = (Vec::new(), Vec::new());
                for (down, (row, _)) in parts[0].iter().enumerate() {
                    for (right, (column, _)) in parts[1].iter().enumerate() {
                        taps.push(frame.tap([down, right]));
                        places.push(row * self.kernel[1] + column);
                    }
                }
                let results = Results {
                    channels: self.channels[0],
                    count: counts,
                    size: self.input,
                    start: phases,
                    step: self.stride,
                };
                let source = [self.channels[1], self.output[0], self.output[1]];
                all.push((Correlation { frame, source, taps, results }, places));
            }
        }
        all
    }

    /// Returns the positions of the kernel along an axis that contribute to every stride-th element of the input
    /// from `phase` on, and the distance of each from the element of the output.
    fn sources(&self, axis: usize, phase: usize) -> Vec<(usize, isize)> {
        let stride = self.stride[axis] as isize;
        let away = |shift: isize| phase as isize - shift;
        let places = self.shifts(axis).into_iter().enumerate();
        places
            .filter(|&(_, shift)| away(shift).rem_euclid(stride) == 0)
            .map(|(place, shift)| (place, away(shift).div_euclid(stride)))
            .collect()
    }
}
