//! Philox4x32-10, a counter-based random generator: the n-th number is a function of n and a key.
//!
//! Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011),
//! doi:10.1145/2063384.2063405. It passes all of TestU01's BigCrush. The known answers below are
//! those of the authors' Random123 library.

pub const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
pub const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
pub const ROUNDS: usize = 10;

/// Which stream of numbers: a key of 64 bits and the upper half of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    pub key: u64,
    pub high: u64,
}

/// `LANES` blocks at once, so that the loops inside vectorise: word `w` of block `first + lane`
/// comes out at `[w][lane]`, in the lower half of it. What the upper half holds means nothing: that
/// is where products are, and to clear it, or to pack words closer, would cost more than it saves.
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

/// Number `start + i` of the stream at `words[i]`: word `n mod 4` of block `n / 4`.
#[inline(always)]
pub fn fill(stream: Stream, start: u64, words: &mut [u32]) {
    const LANES: usize = 16;
    let mut done = 0;
    while done < words.len() {
        let position = start + done as u64;
        let skipped = (position % 4) as usize;
        let numbers = blocks::<LANES>(stream, position / 4);
        let mut flat = [0u32; 4 * LANES];
        for lane in 0..LANES {
            for word in 0..4 {
                flat[4 * lane + word] = numbers[word][lane] as u32;
            }
        }
        let taken = (4 * LANES - skipped).min(words.len() - done);
        words[done..done + taken].copy_from_slice(&flat[skipped..skipped + taken]);
        done += taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut all = [0; 301];
        fill(stream, 0, &mut all);
        for (start, length) in [(0, 1), (1, 64), (2, 63), (5, 200), (67, 0), (250, 51)] {
            let mut some = alloc::vec![0; length];
            fill(stream, start as u64, &mut some);
            assert_eq!(some, all[start..start + length], "{start} {length}");
        }
    }
}
