use std::ops::Range;

/// One axis of a correlation. Element `o` of the result depends on one element `o·stride + shift` of the
/// source per tap, or on 0 where the source has no such element.
///
/// A frame stores elements that are `stride` apart next to each other, one such phase after the other.
/// Every tap then reads consecutive elements for consecutive results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    source: usize,
    stride: usize,
    /// The phases that are used, out of `stride` phases.
    phases: Vec<usize>,
    /// The position in the source at which phase 0 begins, in strides.
    first: isize,
    /// The number of elements in a phase.
    pub(super) length: usize,
    /// For each tap, its phase and its first position there.
    taps: Vec<(usize, usize)>,
}

impl Axis {
    /// Creates an axis with `results` results.
    pub(super) fn new(source: usize, results: usize, stride: usize, shifts: &[isize]) -> Self {
        let step = stride as isize;
        let parts: Vec<(isize, usize)> = shifts
            .iter()
            .map(|shift| (shift.div_euclid(step), shift.rem_euclid(step) as usize))
            .collect();
        let mut phases: Vec<usize> = parts.iter().map(|&(_, phase)| phase).collect();
        phases.sort_unstable();
        phases.dedup();
        let starts = || parts.iter().map(|&(start, _)| start);
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        let taps = parts
            .iter()
            .map(|&(start, phase)| {
                let phase = phases.iter().position(|&other| other == phase);
                (phase.expect("each has its phase"), (start - first) as usize)
            })
            .collect();
        let length = results + (last - first) as usize;
        Self { source, stride, phases, first, length, taps }
    }

    pub(super) fn phases(&self) -> usize {
        self.phases.len()
    }

    /// Returns the phase of a tap, and its first position there.
    pub(super) fn tap(&self, tap: usize) -> (usize, usize) {
        self.taps[tap]
    }

    /// Returns the range of a phase that lies inside the source, and the position of its first element in
    /// the source.
    pub(super) fn inside(&self, phase: usize) -> (Range<usize>, usize) {
        let (step, length) = (self.stride as isize, self.length as isize);
        // Element i of the phase is element (first + i)·stride + phase of the source.
        let place = self.first * step + self.phases[phase] as isize;
        let start = (-place).max(0).unsigned_abs().div_ceil(self.stride).min(self.length);
        let end = (self.source as isize - place).max(0).unsigned_abs().div_ceil(self.stride);
        let end = (end as isize).clamp(start as isize, length) as usize;
        let first = place + (start * self.stride) as isize;
        (start..end, if start < end { first as usize } else { 0 })
    }

    /// Returns the distance in the source between consecutive elements of a phase.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the element of the source that a tap reads for a result, by way of the frame.
    fn read(axis: &Axis, tap: usize, result: usize) -> Option<usize> {
        let (phase, start) = axis.tap(tap);
        let (inside, first) = axis.inside(phase);
        let place = start + result;
        assert!(place < axis.length);
        inside.contains(&place).then(|| first + (place - inside.start) * axis.stride())
    }

    #[test]
    fn every_tap_reads_what_its_shift_says() {
        for stride in 1..4 {
            for source in 1..9 {
                for shifts in [&[0][..], &[-1, 0, 1], &[-3, -1, 1], &[-7, 2, 20], &[2], &[-9]] {
                    for results in 1..7 {
                        let axis = Axis::new(source, results, stride, shifts);
                        for (tap, shift) in shifts.iter().enumerate() {
                            for result in 0..results {
                                let place = (result * stride) as isize + shift;
                                let there = (0..source as isize).contains(&place);
                                let expected = there.then_some(place as usize);
                                assert_eq!(read(&axis, tap, result), expected, "{axis:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
