use crate::kernels::checks::{self, expect_rows};
use crate::kernels::written::with_room;
use gelu_kernels::{Level, Work};

/// The number of elements that are summed in f32 before their sum is added in f64.
const BLOCK: usize = 1024;

/// Returns Σ f(numbers) over the positions of `S` slices of the same length, for `N` functions at once.
/// The sums are in f32 within blocks of 1,024 positions, and in f64 between blocks.
///
/// # Panics
///
/// If the lengths differ.
#[inline(always)]
pub(crate) fn sums<const S: usize, const N: usize>(
    slices: [&[f32]; S],
    f: impl Fn([f32; S]) -> [f32; N],
) -> [f64; N] {
    /// The number of sums that are computed side by side: enough to hide the latency of an addition.
    const LANES: usize = 32;
    sums_by::<S, N, LANES>(slices, f, |lanes| lanes.into_iter().map(f64::from).sum())
}

/// Returns the same as [`sums`], for short rows: half as many sums are computed side by side, and they
/// are added in pairs, in f32.
#[inline(always)]
pub(crate) fn sums_of_row<const S: usize, const N: usize>(
    slices: [&[f32]; S],
    f: impl Fn([f32; S]) -> [f32; N],
) -> [f64; N] {
    sums_by::<S, N, 16>(slices, f, |lanes| f64::from(in_pairs(lanes)))
}

#[inline(always)]
fn sums_by<const S: usize, const N: usize, const LANES: usize>(
    slices: [&[f32]; S],
    f: impl Fn([f32; S]) -> [f32; N],
    add: impl Fn([f32; LANES]) -> f64,
) -> [f64; N] {
    let length = slices[0].len();
    assert!(slices.iter().all(|slice| slice.len() == length), "slices of one length");
    let mut total = [0.0; N];
    for start in (0..length).step_by(BLOCK) {
        let block = slices.map(|slice| &slice[start..(start + BLOCK).min(length)]);
        let chunks = block.map(|block| block.as_chunks::<LANES>());
        let mut lanes = [[0.0f32; LANES]; N];
        for chunk in 0..chunks[0].0.len() {
            let numbers: [&[f32; LANES]; S] = chunks.map(|(whole, _)| &whole[chunk]);
            for lane in 0..LANES {
                let values = f(numbers.map(|numbers| numbers[lane]));
                for n in 0..N {
                    lanes[n][lane] += values[n];
                }
            }
        }
        if !chunks[0].1.is_empty() {
            // A separate array keeps the compiler from putting each element of `lanes` in a register of
            // its own.
            let mut rest = [[0.0f32; LANES]; N];
            for place in 0..chunks[0].1.len() {
                let values = f(chunks.map(|(_, rest)| rest[place]));
                rest.iter_mut().zip(values).for_each(|(rest, value)| rest[place] = value);
            }
            for n in 0..N {
                for lane in 0..LANES {
                    lanes[n][lane] += rest[n][lane];
                }
            }
        }
        for n in 0..N {
            total[n] += add(lanes[n]);
        }
    }
    total
}

/// Returns the sum of sixteen numbers, adding halves, then quarters, and so on.
#[inline(always)]
pub(crate) fn in_pairs(mut numbers: [f32; 16]) -> f32 {
    for half in [8, 4, 2, 1] {
        let (left, right) = numbers.split_at_mut(half);
        left.iter_mut().zip(right).for_each(|(left, right)| *left += *right);
    }
    numbers[0]
}

/// Computes the sum of a slice.
pub(crate) struct Sum<'a>(pub(crate) &'a [f32]);

impl Work for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> f64 {
        sums([self.0], |value| value)[0]
    }
}

/// Returns the sums of `[batch, channels, plane]` values over everything but the channels.
///
/// # Panics
///
/// If `values` is not a whole number of images of `[channels, plane]`.
pub fn sum_of_channels(values: &[f32], channels: usize, plane: usize) -> Vec<f32> {
    let picture = checks::product("a picture", &[channels, plane]);
    let why = format_args!("whole pictures of {channels} channels of {plane} numbers");
    expect_rows("values", values.len(), picture, why);
    let mut sums: Vec<f64> = with_room(channels);
    sums.resize(channels, 0.0);
    for (index, plane) in values.chunks_exact(plane.max(1)).enumerate() {
        sums[index % channels] += Level::best().run(Sum(plane));
    }
    sums.into_iter().map(|sum| sum as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_sums_any_length_alike_and_rightly() {
        for length in (0..200).chain([1023, 1024, 1025, 70_001]) {
            let values: Vec<f32> = (0..length).map(|i| (i * 7 % 101) as f32 * 0.1 - 3.0).collect();
            let exact: f64 = values.iter().map(|&value| f64::from(value)).sum();
            let expected = Sum(&values).run::<false, 4>();
            assert!((expected - exact).abs() <= 1e-6 * (1.0 + 5.0 * length as f64), "{length}");
            for level in Level::available() {
                assert_eq!(level.run(Sum(&values)), expected, "{level:?} {length}");
            }
        }
    }

    #[test]
    fn channels_are_summed_over_pictures_and_pixels() {
        let values: Vec<f32> = (0..2 * 3 * 4).map(|i| i as f32).collect();
        assert_eq!(sum_of_channels(&values, 3, 4), [60.0, 92.0, 124.0]);
    }
}
