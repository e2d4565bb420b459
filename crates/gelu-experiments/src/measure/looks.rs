/// When a comparison that goes on until it is decided is looked at: after 8, 12, 16, 20, … pairs.
///
/// Fixed before the first run. Every look tests at α / (number of looks), so that all together err
/// with no more than α whatever the dependence between them (Bonferroni).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    count: usize,
}

impl Looks {
    /// Pairs at the first look: with fewer, no test without assumptions decides.
    pub const FIRST: u64 = 8;
    /// Pairs from one look to the next.
    pub const STEP: u64 = 4;

    /// The last look that can be asked for.
    pub const LAST: u64 = 1000;

    /// The looks of a comparison that ends with `max_seeds`, the last one at or below it; at least
    /// the first, at most those up to [`Looks::LAST`].
    pub fn up_to(max_seeds: u64) -> Self {
        let further = max_seeds.min(Self::LAST).saturating_sub(Self::FIRST) / Self::STEP;
        Self { count: 1 + further as usize }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Pairs at each, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = u64> + use<> {
        (0..self.count as u64).map(|index| Self::FIRST + Self::STEP * index)
    }

    /// The level of each.
    pub fn level(&self, alpha: f64) -> f64 {
        alpha / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_every_four_pairs_from_eight_on() {
        let pairs = |max| Looks::up_to(max).pairs().collect::<Vec<_>>();
        assert_eq!(pairs(20), [8, 12, 16, 20]);
        assert_eq!(pairs(23), [8, 12, 16, 20]);
        assert_eq!(pairs(8), [8]);
        assert_eq!(Looks::up_to(20).level(0.05), 0.0125);
    }
}
