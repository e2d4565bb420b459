//! Strikes out sign patterns, seed by seed.

use super::schedule::{Schedule, beginnings};
use super::sequence::Sequence;
use std::cmp::Ordering;

/// The number of sums that are searched at once.
const BLOCK: usize = 32;

/// The sign bits that each combination of four flip bits changes. The sign bit is the highest bit of a number.
const SIGNS: [[u64; 4]; 16] = {
    let mut signs = [[0; 4]; 16];
    let mut bit = 0;
    while bit < 64 {
        signs[bit / 4][bit % 4] = ((bit as u64 / 4) >> (bit % 4) & 1) << 63;
        bit += 1;
    }
    signs
};

/// The sums by which patterns are struck out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sides {
    /// The largest |S| first.
    Two,
    /// The largest S > 0 first.
    One,
}

impl Sides {
    pub(super) fn size(self, sum: f64) -> f64 {
        match self {
            Self::Two => sum.abs(),
            Self::One => sum,
        }
    }
}

/// The stored sign patterns: all patterns of the first seeds, each continued by one fixed rule.
///
/// Bit s − 1 of a pattern's number says whether the sign of seed s is flipped; pattern 0 is the observed one.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    bits: usize,
    /// The patterns that flip each seed beyond the first `bits`, 64 patterns per word.
    flips: Vec<Vec<u64>>,
}

impl Patterns {
    /// Creates the patterns of a test at `level` of at most `seeds` seeds.
    pub(super) fn new(level: f64, seeds: usize) -> Self {
        let bits = beginnings(level);
        Self { bits, flips: (bits + 1..=seeds).map(|seed| flips(bits, seed)).collect() }
    }

    /// Returns the number of seeds after which the observed pattern of a sequence is struck; `None` if it is not.
    ///
    /// After seed n, ⌊level · f(n) · 2^min(n, bits)⌋ patterns are struck in all: those with the largest sums first,
    /// and only whole groups of equal sums. If a pattern is struck, its continuations are, too.
    pub(super) fn struck_after(
        &self,
        sequence: &Sequence,
        schedule: Schedule,
        level: f64,
        sides: Sides,
    ) -> Option<usize> {
        let mut sums = Sums::new(self);
        (1..=sequence.len()).find(|&n| {
            sums.go_on(sequence, n);
            let allowed = (level * schedule.spent(n as u64) * sums.values.len() as f64).floor();
            sums.strike(allowed as usize, sequence.tolerance(n), sides)
        })
    }

    /// Returns the sums of all patterns after all seeds of a sequence. The first is that of the observed pattern.
    pub(super) fn sums(&self, sequence: &Sequence) -> Vec<f64> {
        let mut sums = Sums::new(self);
        (1..=sequence.len()).for_each(|n| sums.go_on(sequence, n));
        sums.values
    }
}

/// The sums of all patterns, seed after seed.
struct Sums<'a> {
    patterns: &'a Patterns,
    /// One sum per pattern; NaN if the pattern or one that it continues is struck.
    values: Vec<f64>,
    struck: usize,
}

impl<'a> Sums<'a> {
    fn new(patterns: &'a Patterns) -> Self {
        Self { patterns, values: vec![0.0], struck: 0 }
    }

    /// Adds seed `n`, the one after those so far.
    fn go_on(&mut self, sequence: &Sequence, n: usize) {
        let terms = sequence.terms(n);
        if sequence.is_ranked(n) {
            // A further seed changes the ranks of all seeds.
            let before = std::mem::replace(&mut self.values, vec![0.0]);
            (1..=n).for_each(|s| self.add(s, terms[s - 1]));
            let again =
                self.values.chunks_mut(before.len()).flat_map(|half| half.iter_mut().zip(&before));
            again.filter(|(_, before)| before.is_nan()).for_each(|(sum, _)| *sum = f64::NAN);
        } else {
            self.add(n, terms[n - 1]);
        }
        if n <= self.patterns.bits {
            self.struck *= 2;
        }
    }

    fn add(&mut self, s: usize, term: f64) {
        if s <= self.patterns.bits {
            let count = self.values.len();
            self.values.extend_from_within(..);
            let (kept, flipped) = self.values.split_at_mut(count);
            kept.iter_mut().for_each(|sum| *sum += term);
            flipped.iter_mut().for_each(|sum| *sum -= term);
            return;
        }
        let words = &self.patterns.flips[s - self.patterns.bits - 1];
        for (sums, word) in self.values.chunks_mut(64).zip(words) {
            for (quarter, sums) in sums.chunks_exact_mut(4).enumerate() {
                let signs = &SIGNS[(word >> (4 * quarter) & 15) as usize];
                for (sum, sign) in sums.iter_mut().zip(signs) {
                    *sum += f64::from_bits(term.to_bits() ^ sign);
                }
            }
        }
    }

    /// Strikes out further patterns until `allowed` are struck in all. Returns whether the observed pattern is among
    /// the new ones.
    fn strike(&mut self, allowed: usize, tolerance: f64, sides: Sides) -> bool {
        let allowed = allowed.min(self.values.len());
        let Some(room) = allowed.checked_sub(self.struck).filter(|&room| room > 0) else {
            return false;
        };
        let largest = self.largest(room + 1, tolerance, sides);
        let next = |count: usize| largest.get(count).copied().unwrap_or(f64::NEG_INFINITY);
        let whole = |&count: &usize| largest[count - 1] - next(count) > tolerance;
        let Some(count) = (1..=room.min(largest.len())).rev().find(whole) else { return false };
        let smallest = largest[count - 1];
        let observed = sides.size(self.values[0]) >= smallest;
        for block in self.values.chunks_mut(BLOCK) {
            if largest_of(block, sides) >= smallest {
                let struck = block.iter_mut().filter(|sum| sides.size(**sum) >= smallest);
                struck.for_each(|sum| *sum = f64::NAN);
            }
        }
        self.struck += count;
        observed
    }

    /// Returns the `count` largest sizes of patterns that are not struck, the largest first. Returns fewer if no more
    /// are above the tolerance.
    fn largest(&self, count: usize, tolerance: f64, sides: Sides) -> Vec<f64> {
        let (mut sizes, mut least) = (Vec::with_capacity(2 * count), tolerance);
        for block in self.values.chunks(BLOCK) {
            // Almost no block has a sum that is large enough.
            if largest_of(block, sides) <= least {
                continue;
            }
            for size in block.iter().map(|&sum| sides.size(sum)).filter(|&size| size > least) {
                sizes.push(size);
            }
            if sizes.len() >= 2 * count {
                sizes.select_nth_unstable_by(count - 1, descending);
                sizes.truncate(count);
                least = sizes[count - 1];
            }
        }
        sizes.sort_unstable_by(descending);
        sizes.truncate(count);
        sizes
    }
}

/// Returns the largest size of the sums of a block, ignoring NaN.
fn largest_of(block: &[f64], sides: Sides) -> f64 {
    let larger = |largest: f64, size: f64| if size > largest { size } else { largest };
    match block.as_array::<BLOCK>() {
        // The compiler turns several maxima at once into vector instructions.
        Some(block) => {
            let mut largest = [f64::NEG_INFINITY; BLOCK / 4];
            for (place, &sum) in block.iter().enumerate() {
                let lane = place % (BLOCK / 4);
                largest[lane] = larger(largest[lane], sides.size(sum));
            }
            largest.into_iter().fold(f64::NEG_INFINITY, larger)
        }
        None => block.iter().map(|&sum| sides.size(sum)).fold(f64::NEG_INFINITY, larger),
    }
}

fn descending(a: &f64, b: &f64) -> Ordering {
    b.total_cmp(a)
}

/// Returns the patterns that flip the sign of seed `s`: every pattern g for which bit 0 of SplitMix64(g · 1024 + s)
/// is 1, but never pattern 0.
fn flips(bits: usize, s: usize) -> Vec<u64> {
    let word = |word: u64| {
        (0..64).fold(0, |flips, place| {
            let pattern = 64 * word + place;
            flips | (split_mix(pattern * 1024 + s as u64) & u64::from(pattern != 0)) << place
        })
    };
    (0..(1u64 << bits) / 64).map(word).collect()
}

/// Returns the first number of the SplitMix64 generator whose state is `state` (Steele, Lea and Flood 2014).
fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // The reference implementation's first outputs for the seeds 0 and 1234567.
        assert_eq!(split_mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(split_mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn patterns_beyond_the_kept_ones_flip_half_of_the_signs() {
        let flips = flips(14, 17);
        let flipped: u32 = flips.iter().map(|word| word.count_ones()).sum();
        assert!((7_900..8_500).contains(&flipped), "{flipped}");
        assert_eq!(flips[0] & 1, 0, "the observed pattern flips none");
    }

    #[test]
    fn nothing_is_struck_before_the_level_allows_a_whole_group() {
        let ahead = |n: usize| Sequence::new(&vec![[0.0, 1.0]; n]);
        let patterns = Patterns::new(0.05, 10);
        let after =
            |level, n, schedule| patterns.struck_after(&ahead(n), schedule, level, Sides::Two);
        // Two of 2^n patterns have the largest sum: 2/2^7 is no more than 0.05 · (7/10)^2.
        assert_eq!(after(0.05, 10, Schedule::until_decided(10)), Some(7));
        assert_eq!(after(0.05, 6, Schedule::until_decided(10)), None);
        assert_eq!(after(0.05, 8, Schedule::fixed(8)), Some(8));
    }

    #[test]
    fn a_sum_of_zero_is_never_struck() {
        let level = Sequence::new(&[[1.0, 2.0], [2.0, 1.0]].repeat(5));
        let struck =
            Patterns::new(0.05, 10).struck_after(&level, Schedule::fixed(10), 1.0, Sides::Two);
        assert_eq!(struck, None);
    }
}
