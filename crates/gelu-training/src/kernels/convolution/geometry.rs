use super::axis::Axis;
use super::correlation::{Correlation, Results};
use super::frame::Frame;
use super::winograd::{Squares, Winograd};
use crate::kernels::checks::{expect_positive, product};

/// The sizes of a two-dimensional convolution. Pairs are of height and width. Whatever a result needs outside its
/// picture is 0, so that any size of the output has a meaning.
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
    /// How many numbers the pictures, the weight and the results have, from sizes that are checked: none of what is
    /// computed from them below wraps, and every result has numbers to be made of.
    ///
    /// # Panics
    ///
    /// If the kernel, its strides and dilations or the channels are 0, or if pictures, the weight or results are
    /// larger than memory, a picture with all that its kernel reaches over among them.
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
        // As long as an axis of a frame gets, with all phases of its stride, each way.
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

    /// Numbers of a picture that one number of the result depends on: rows of weights.
    pub(super) fn depth(&self) -> usize {
        self.channels[0] * self.kernel[0] * self.kernel[1]
    }

    /// From a number of the result, times the stride, to what it depends on, for each place of the kernel
    /// along an axis.
    fn shifts(&self, axis: usize) -> Vec<isize> {
        let shift = |place| (place * self.dilation[axis]) as isize - self.padding[axis] as isize;
        (0..self.kernel[axis]).map(shift).collect()
    }

    /// The frame that the convolution reads its pictures by.
    pub(super) fn frame(&self) -> Frame {
        Frame::new([0, 1].map(|axis| {
            Axis::new(self.input[axis], self.output[axis], self.stride[axis], &self.shifts(axis))
        }))
    }

    /// Where in a channel of a frame each place of the kernel begins.
    pub(super) fn taps(&self, frame: &Frame) -> Vec<usize> {
        let [height, width] = self.kernel;
        let line = |y| (0..width).map(move |x| frame.tap([y, x]));
        (0..height).flat_map(line).collect()
    }

    /// The convolution as a correlation.
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

    /// Whether it is one of 3×3 weights and stride 1.
    pub(super) fn has_squares(&self) -> bool {
        (self.kernel, self.stride, self.dilation) == ([3, 3], [1, 1], [1, 1])
    }

    /// The convolution by squares.
    pub(super) fn forward_squares(&self) -> Winograd {
        let padding = self.padding.map(|padding| padding as isize);
        let source = [self.channels[0], self.input[0], self.input[1]];
        let squares = Squares::new(source, self.output, padding);
        Winograd::new(squares, [self.channels[1], self.output[0], self.output[1]])
    }

    /// The input's gradient by squares of the output's, with weights rotated by half a circle.
    pub(super) fn backward_squares(&self) -> Winograd {
        let padding = self.padding.map(|padding| 2 - padding as isize);
        let source = [self.channels[1], self.output[0], self.output[1]];
        let squares = Squares::new(source, self.input, padding);
        Winograd::new(squares, [self.channels[0], self.input[0], self.input[1]])
    }

    /// The input's gradient as correlations of the output's, one for each pair of phases of the stride,
    /// and the places of the kernel that have a share in each.
    pub(super) fn backward(&self) -> Vec<(Correlation, Vec<usize>)> {
        let mut all = Vec::new();
        // No phase past the end of a picture has a number in it.
        let [down, right] = [0, 1].map(|axis| self.stride[axis].min(self.input[axis]));
        for y in 0..down {
            for x in 0..right {
                let phases = [y, x];
                let counts = [0, 1].map(|axis| {
                    self.input[axis].saturating_sub(phases[axis]).div_ceil(self.stride[axis])
                });
                // Output o has its share in input o·stride + shift: input i in turn comes of output
                // (i − shift) / stride, where that is whole.
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

    /// The places of the kernel along an axis that take part in every stride-th number of the input from
    /// `phase` on, and how far from the number of the output each is.
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
