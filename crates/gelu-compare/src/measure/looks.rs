use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a comparison is looked at, fixed before its first run: once after a fixed number of seeds, or
/// after 10, 15, 20, … until it is decided. Looks may be added afterwards, each at half the level of
/// the one before: the price of having seen the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Looks {
    looks: Vec<Look>,
}

/// One look at a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    /// After so many seeds.
    pub seeds: u64,
    /// Its part of α: 1/K of K planned looks; the first that was added has half of that, every
    /// further one half of the one before.
    pub share: f64,
    /// Whether it was planned before the first run.
    pub planned: bool,
}

impl Looks {
    /// Seeds at the first look of a comparison that goes on until it is decided. With ten, the
    /// smallest p can decide eight comparisons at three looks; with eight, not two at four.
    pub const FIRST: u64 = 10;
    /// Seeds from one such look to the next.
    pub const STEP: u64 = 5;
    /// The last such look that can be asked for.
    pub const LAST: u64 = 1000;

    /// One look.
    pub fn once(seeds: u64) -> Self {
        Self { looks: vec![Look { seeds, share: 1.0, planned: true }] }
    }

    /// Looks after 10, 15, 20, … seeds, the last at or below `max_seeds`; at least the first, at
    /// most those up to [`Looks::LAST`].
    pub fn until_decided(max_seeds: u64) -> Self {
        let further = max_seeds.min(Self::LAST).saturating_sub(Self::FIRST) / Self::STEP;
        let look = |index| Look {
            seeds: Self::FIRST + Self::STEP * index,
            share: 1.0 / (1.0 + further as f64),
            planned: true,
        };
        Self { looks: (0..=further).map(look).collect() }
    }

    /// The same with looks that were added afterwards; one that is not beyond all others is left
    /// out.
    pub fn with_added(mut self, added: impl IntoIterator<Item = u64>) -> Self {
        for seeds in added {
            if seeds > self.last().seeds {
                self.looks.push(Look { seeds, ..self.added() });
            }
        }
        self
    }

    /// The next look that was not planned, were there one: its share is what counts.
    pub fn added(&self) -> Look {
        Look { share: self.last().share / 2.0, planned: false, ..self.last() }
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Look> + use<'_> {
        self.looks.iter().copied()
    }

    /// The first: settings are chosen on its seeds, once and for all.
    pub fn first(&self) -> Look {
        self.looks[0]
    }

    /// The last there is.
    pub fn last(&self) -> Look {
        self.looks[self.looks.len() - 1]
    }

    /// How many were planned: K.
    pub fn planned(&self) -> usize {
        self.looks.iter().filter(|look| look.planned).count()
    }

    /// With what share of `alpha` all looks up to one together may err: 1 up to the last planned
    /// one.
    pub fn spent(&self, until: Look) -> f64 {
        let added = self.looks.iter().filter(|look| !look.planned && look.seeds <= until.seeds);
        1.0 + added.map(|look| look.share).sum::<f64>()
    }
}

/// How long a comparison that goes on until it is decided may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilDecided {
    /// Seeds at most: 10 or more.
    pub max_seeds: u64,
}

impl UntilDecided {
    /// When it is looked at.
    pub fn looks(self) -> Looks {
        Looks::until_decided(self.max_seeds)
    }
}

impl Default for UntilDecided {
    /// 20 seeds, three looks.
    fn default() -> Self {
        Self { max_seeds: 20 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(looks: &Looks) -> Vec<u64> {
        looks.iter().map(|look| look.seeds).collect()
    }

    #[test]
    fn looks_are_every_five_seeds_from_ten_on() {
        assert_eq!(seeds(&Looks::until_decided(20)), [10, 15, 20]);
        assert_eq!(seeds(&Looks::until_decided(24)), [10, 15, 20]);
        assert_eq!(seeds(&Looks::until_decided(10)), [10]);
        assert_eq!(seeds(&Looks::once(8)), [8]);
        let looks = Looks::until_decided(25);
        assert_eq!((looks.planned(), looks.first().share), (4, 0.25));
        assert_eq!(looks.spent(looks.last()), 1.0);
    }

    #[test]
    fn every_added_look_has_half_the_level_of_the_one_before() {
        let looks = Looks::once(8).with_added([20, 20, 12, 40]);
        assert_eq!(seeds(&looks), [8, 20, 40]);
        let shares: Vec<f64> = looks.iter().map(|look| look.share).collect();
        assert_eq!(shares, [1.0, 0.5, 0.25]);
        let spent: Vec<f64> = looks.iter().map(|look| looks.spent(look)).collect();
        assert_eq!(spent, [1.0, 1.5, 1.75]);
        assert_eq!((looks.planned(), looks.added().share), (1, 0.125));
        let looks = Looks::until_decided(20).with_added([40]);
        assert!((looks.spent(looks.last()) - (1.0 + 1.0 / 6.0)).abs() < 1e-15);
    }
}
