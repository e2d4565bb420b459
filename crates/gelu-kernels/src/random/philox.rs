//! Philox4x32-10, a counter-based random generator: the n-th number depends on n and a key alone.
//!
//! Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011),
//! doi:10.1145/2063384.2063405. The generator passes all of TestU01's BigCrush. The test below uses
//! known answers of the authors' Random123 library.

use crate::level::{Level, Work};

pub const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
pub const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
pub const ROUNDS: usize = 10;

/// A stream of numbers: a key of 64 bits and the upper half of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    pub key: u64,
    pub high: u64,
}

/// Returns `LANES` blocks at once, so that the loops inside vectorise. Word `w` of block
/// `first + lane` is the lower half of `[w][lane]`. The upper half is left over from the products and
/// has no meaning; clearing it, or packing the words more tightly, would cost more than it saves.
#[inline(always)]
pub fn blocks<const LANES: usize>(stream: Stream, first: u64) -> [[u64; LANES]; 4] {
    const WORD: u64 = 0xFFFF_FFFF;
    let mut a: [u64; LANES] = core::array::from_fn(|lane| first.wrapping_add(lane as u64));
    let mut b = a.map(|counter| counter >> 32);
    let mut c = [stream.high; LANES];
    let mut d = [stream.high >> 32; LANES];
    let mut key = [stream.key as u32, (stream.key >> 32) as u32];
    for _ in 0..ROUNDS {
        for lane in 0..LANES {
            let left = (a[lane] & WORD) * u64::from(MULTIPLIERS[0]);
            let right = (c[lane] & WORD) * u64::from(MULTIPLIERS[1]);
            a[lane] = (right >> 32) ^ b[lane] ^ u64::from(key[0]);
            b[lane] = right;
            c[lane] = (left >> 32) ^ d[lane] ^ u64::from(key[1]);
            d[lane] = left;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [a, b, c, d]
}

/// Writes number `start + i` of the stream to `words[i]`: word `n mod 4` of block `n / 4`.
pub fn fill(level: Level, stream: Stream, start: u64, words: &mut [u32]) {
    level.run(Fill { stream, start, words });
}

struct Fill<'a> {
    stream: Stream,
    start: u64,
    words: &'a mut [u32],
}

impl Work for Fill<'_> {
    type Output = ();

    /// Computes several vectors of each word at once, so that the processor multiplies one while it
    /// waits for the product of another.
    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        match FUSED {
            true => self.by::<32>(),
            // Baselines without fused operations have short vectors, and few of them.
            false => self.by::<16>(),
        }
    }
}

impl Fill<'_> {
    /// Fills the words in groups of `LANES` blocks.
    #[inline(always)]
    fn by<const LANES: usize>(self) {
        let Self { stream, start, words } = self;
        let before = (start % 4) as usize;
        let (first, rest) = words.split_at_mut(((4 - before) % 4).min(words.len()));
        some(stream, start / 4, before, first);
        let mut block = start.div_ceil(4);
        let (blocks, last) = rest.as_chunks_mut::<4>();
        let (many, few) = blocks.as_chunks_mut::<LANES>();
        for blocks in many {
            write(stream, block, blocks);
            block += LANES as u64;
        }
        for one in few {
            write(stream, block, core::array::from_mut(one));
            block += 1;
        }
        some(stream, block, 0, last);
    }
}

/// Writes `LANES` blocks from `first` on to `words`.
#[inline(always)]
fn write<const LANES: usize>(stream: Stream, first: u64, words: &mut [[u32; 4]; LANES]) {
    let [a, b, c, d] = blocks::<LANES>(stream, first);
    for (lane, block) in words.iter_mut().enumerate() {
        *block = [a[lane], b[lane], c[lane], d[lane]].map(|word| word as u32);
    }
}

/// Writes words of one block, from word `before` on.
#[inline(always)]
fn some(stream: Stream, block: u64, before: usize, words: &mut [u32]) {
    if !words.is_empty() {
        let mut all = [[0; 4]];
        write(stream, block, &mut all);
        words.copy_from_slice(&all[0][before..before + words.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn known_answers_of_random123() {
        for (low, high, key, expected) in [
            (0, 0, 0, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            (u64::MAX, u64::MAX, u64::MAX, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                0x85a3_08d3_243f_6a88,
                0x0370_7344_1319_8a2e,
                0x299f_31d0_a409_3822,
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            let numbers = blocks::<1>(Stream { key, high }, low);
            assert_eq!(numbers.map(|word| word[0] as u32), expected);
        }
    }

    #[test]
    fn filling_from_anywhere_gives_the_same_numbers() {
        let stream = Stream { key: 7, high: 3 };
        for first in [0, (1 << 34) - 64] {
            let all: Vec<_> = (first / 4..first / 4 + 80)
                .flat_map(|block| blocks::<1>(stream, block).map(|word| word[0] as u32))
                .collect();
            let parts = [(0, 1), (0, 320), (1, 2), (1, 64), (2, 63), (5, 200), (67, 0), (250, 51)];
            for (level, (start, length)) in
                Level::available().into_iter().flat_map(|level| parts.map(|part| (level, part)))
            {
                let mut some = alloc::vec![0; length];
                fill(level, stream, first + start as u64, &mut some);
                assert_eq!(some, all[start..start + length], "{level:?} {start} {length}");
            }
        }
    }
}
