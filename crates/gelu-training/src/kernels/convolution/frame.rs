use super::axis::Axis;
use crate::kernels::subnormal::unless_subnormal;
use gelu_kernels::{Level, Work};
use std::ops::Range;

/// An image in the form that a correlation reads: surrounded by zeros, split into phases of its
/// strides, and with 0 instead of subnormal numbers. For all sizes, every tap reads the numbers of a
/// line of results consecutively.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The vertical and the horizontal axis.
    axes: [Axis; 2],
}

impl Frame {
    pub(super) fn new(axes: [Axis; 2]) -> Self {
        Self { axes }
    }

    /// Returns the distance between lines of a phase.
    pub(super) fn line(&self) -> usize {
        self.axes[1].length
    }

    fn plane(&self) -> usize {
        self.axes[0].length * self.axes[1].length
    }

    /// Returns the number of planes in a channel, one per pair of phases.
    fn planes(&self) -> usize {
        self.axes.iter().map(Axis::phases).product()
    }

    /// Returns the distance between channels. It is never a power of two, because all channels would
    /// then share a few sets of the first-level cache.
    pub(super) fn channel(&self) -> usize {
        const LINE: usize = 16;
        (self.plane() * self.planes()).div_ceil(LINE) / 2 * 2 * LINE + LINE
    }

    /// Returns the size of `channels` channels, plus `spare` elements that may be read past the last
    /// line.
    pub(super) fn size(&self, channels: usize, spare: usize) -> usize {
        channels * self.channel() + spare
    }

    /// Returns the position in a channel at which a tap begins.
    pub(super) fn tap(&self, [down, right]: [usize; 2]) -> usize {
        let ((y_phase, y), (x_phase, x)) = (self.axes[0].tap(down), self.axes[1].tap(right));
        (y_phase * self.axes[1].phases() + x_phase) * self.plane() + y * self.line() + x
    }

    /// Writes channels of an image whose planes have the size `size`.
    pub(super) fn fill(
        &self,
        level: Level,
        picture: &[f32],
        size: [usize; 2],
        channels: Range<usize>,
        numbers: &mut [f32],
    ) {
        level.run(Fill { frame: self, picture, size, channels, numbers });
    }
}

struct Fill<'a> {
    frame: &'a Frame,
    picture: &'a [f32],
    size: [usize; 2],
    channels: Range<usize>,
    numbers: &'a mut [f32],
}

impl Work for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { frame, picture, size: [height, width], channels, numbers } = self;
        let [down, right] = &frame.axes;
        let (count, line) = (channels.len(), frame.line());
        let across: Vec<_> = (0..right.phases()).map(|phase| right.inside(phase)).collect();
        for (channel, numbers) in channels.zip(numbers.chunks_exact_mut(frame.channel())) {
            let picture = &picture[channel * height * width..][..height * width];
            let (planes, gap) = numbers.split_at_mut(frame.planes() * frame.plane());
            gap.fill(0.0);
            let mut planes = planes.chunks_exact_mut(frame.plane().max(1));
            for phase in 0..down.phases() {
                let (inside, first) = down.inside(phase);
                for ((columns, left), plane) in across.iter().zip(&mut planes) {
                    for (place, to) in plane.chunks_exact_mut(line.max(1)).enumerate() {
                        if !inside.contains(&place) {
                            to.fill(0.0);
                            continue;
                        }
                        let source = first + (place - inside.start) * down.stride();
                        let from = &picture[source * width + left..];
                        to[..columns.start].fill(0.0);
                        to[columns.end..].fill(0.0);
                        let to = &mut to[columns.clone()];
                        match right.stride() {
                            1 => copy(from, to),
                            2 => copy_each(from, 2, to),
                            stride => copy_each(from, stride, to),
                        }
                    }
                }
            }
        }
        numbers[count * frame.channel()..].fill(0.0);
    }
}

#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = unless_subnormal(*from));
}

#[inline(always)]
fn copy_each(from: &[f32], stride: usize, to: &mut [f32]) {
    let Some((last, to)) = to.split_last_mut() else { return };
    *last = unless_subnormal(from[to.len() * stride]);
    // Each element but the last is followed by elements that the stride skips.
    for (to, from) in to.iter_mut().zip(from.chunks_exact(stride)) {
        *to = unless_subnormal(from[0]);
    }
}
