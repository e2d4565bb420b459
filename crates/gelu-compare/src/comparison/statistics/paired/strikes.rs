//! Striking out sign patterns, seed by seed.

use super::plan::Plan;
use super::sequence::Sequence;

/// By which sums patterns are struck out.
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

/// After how many seeds the observed pattern is struck; `None` where it is not.
///
/// After seed n, ⌊level · f(n) · 2^min(n, bits)⌋ patterns are struck in all, those with the largest sums first, and
/// whole groups of equal sums only. The continuations of a struck pattern are struck.
pub(super) fn struck_after(
    sequence: &Sequence,
    plan: Plan,
    level: f64,
    bits: usize,
    sides: Sides,
) -> Option<usize> {
    let mut patterns = Patterns::new(bits);
    (1..=sequence.len()).find(|&n| {
        patterns.go_on(sequence, n);
        let allowed = (level * plan.spent(n as u64) * patterns.sums.len() as f64).floor() as usize;
        patterns.strike(allowed.min(patterns.sums.len()), sequence.tolerance(n), sides)
    })
}

/// The sums of all patterns of the first `bits` seeds, each continued by one fixed rule.
///
/// Bit s − 1 of a pattern's number says whether the sign of seed s is flipped; pattern 0 is the observed one.
#[derive(Debug)]
pub(super) struct Patterns {
    bits: usize,
    pub(super) sums: Vec<f64>,
    struck: Vec<bool>,
    struck_count: usize,
    /// Which patterns flip the seeds beyond the first `bits`, 64 patterns a word.
    flips: Vec<Vec<u64>>,
    sizes: Vec<f64>,
}

impl Patterns {
    pub(super) fn new(bits: usize) -> Self {
        Self {
            bits,
            sums: vec![0.0],
            struck: vec![false],
            struck_count: 0,
            flips: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Takes in seed `n`, the one after those so far.
    pub(super) fn go_on(&mut self, sequence: &Sequence, n: usize) {
        if n <= self.bits {
            self.struck.extend_from_within(..);
            self.struck_count *= 2;
        } else {
            self.flips.push(flips(self.bits, n));
        }
        let terms = sequence.terms(n);
        if sequence.is_ranked(n) {
            // A further seed changes the ranks of all.
            self.sums = vec![0.0];
            (1..=n).for_each(|s| self.add(s, terms[s - 1]));
        } else {
            self.add(n, terms[n - 1]);
        }
    }

    fn add(&mut self, s: usize, term: f64) {
        if s <= self.bits {
            let flipped: Vec<f64> = self.sums.iter().map(|sum| sum - term).collect();
            self.sums.iter_mut().for_each(|sum| *sum += term);
            self.sums.extend(flipped);
            return;
        }
        let words = &self.flips[s - self.bits - 1];
        for (sums, word) in self.sums.chunks_mut(64).zip(words) {
            for (place, sum) in sums.iter_mut().enumerate() {
                *sum += f64::from_bits(term.to_bits() ^ ((word >> place & 1) << 63));
            }
        }
    }

    /// Strikes out further patterns until `allowed` are struck in all; whether the observed one is among them.
    fn strike(&mut self, allowed: usize, tolerance: f64, sides: Sides) -> bool {
        let Some(room) = allowed.checked_sub(self.struck_count).filter(|&room| room > 0) else {
            return false;
        };
        // A pattern that is struck, or whose sum is 0, comes last and is not struck.
        const LAST: f64 = f64::NEG_INFINITY;
        self.sizes.clear();
        self.sizes.extend(self.sums.iter().zip(&self.struck).map(|(&sum, &struck)| {
            let size = sides.size(sum);
            if struck || size <= tolerance { LAST } else { size }
        }));
        let observed = self.sizes[0];
        let mut largest = self.sizes.clone();
        if room < largest.len() {
            largest.select_nth_unstable_by(room, |a, b| b.total_cmp(a));
            largest.truncate(room + 1);
        }
        largest.sort_unstable_by(|a, b| b.total_cmp(a));
        let next = |count: usize| largest.get(count).copied().unwrap_or(LAST);
        let whole = |&count: &usize| {
            largest[count - 1] > LAST && largest[count - 1] - next(count) > tolerance
        };
        let Some(count) = (1..=room.min(largest.len())).rev().find(whole) else { return false };
        let smallest = largest[count - 1];
        for (struck, size) in self.struck.iter_mut().zip(&self.sizes) {
            *struck |= *size >= smallest;
        }
        self.struck_count += count;
        observed >= smallest
    }
}

/// Which patterns flip the sign of seed `s`: pattern g where bit 0 of SplitMix64(g · 1024 + s) is 1, but never
/// pattern 0.
fn flips(bits: usize, s: usize) -> Vec<u64> {
    let word = |word: u64| {
        (0..64).fold(0, |flips, place| {
            let pattern = 64 * word + place;
            flips | (split_mix(pattern * 1024 + s as u64) & u64::from(pattern != 0)) << place
        })
    };
    (0..(1u64 << bits) / 64).map(word).collect()
}

/// SplitMix64 (Steele, Lea and Flood 2014): the first number of the generator whose state is `state`.
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
        // The reference implementation's first outputs of the seeds 0 and 1234567.
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
        let after = |level, n, plan| struck_after(&ahead(n), plan, level, 14, Sides::Two);
        // Two of 2^n patterns have the largest sum: 2/2^7 is no more than 0.05 · (7/10)^2.
        assert_eq!(after(0.05, 10, Plan::until_decided(10)), Some(7));
        assert_eq!(after(0.05, 6, Plan::until_decided(10)), None);
        assert_eq!(after(0.05, 8, Plan::fixed(8)), Some(8));
    }

    #[test]
    fn a_sum_of_zero_is_never_struck() {
        let level = Sequence::new(&[[1.0, 2.0], [2.0, 1.0]].repeat(5));
        assert_eq!(struck_after(&level, Plan::fixed(10), 1.0, 14, Sides::Two), None);
    }
}
