//! The number of threads that a run trains with: the processor's cores, divided among the remaining runs.

use std::num::NonZero;

/// The cores to divide among runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// The number of the processor's cores that this process may use.
    available: usize,
    /// The number of threads that `RAYON_NUM_THREADS` sets for every run; it overrides the division.
    chosen: Option<usize>,
    /// The maximum number of runs that train at the same time.
    slots: usize,
}

impl Cores {
    /// Returns this machine's cores, for `slots` runs at a time.
    pub fn here(slots: usize) -> Self {
        let chosen = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
        Self {
            available: std::thread::available_parallelism().map_or(1, NonZero::get),
            chosen: chosen.filter(|&threads| threads > 0),
            slots,
        }
    }

    /// How many runs train on them at the same time.
    pub fn slots(&self) -> usize {
        self.slots.max(1)
    }

    /// Returns the number of threads for one of `left` remaining runs, itself included. `useful` is the number of
    /// threads beyond which the network gains nothing.
    pub fn share(&self, left: usize, useful: usize) -> usize {
        let runs = left.min(self.slots).max(1);
        self.chosen.unwrap_or_else(|| (self.available / runs).clamp(1, useful.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_divided_among_the_runs_that_are_left() {
        let cores = Cores { available: 16, chosen: None, slots: 4 };
        assert_eq!([40, 4, 3, 2, 1, 0].map(|left| cores.share(left, 8)), [4, 4, 5, 8, 8, 8]);
        assert_eq!([40, 1].map(|left| cores.share(left, 1)), [1, 1], "a small network");
        let few = Cores { available: 2, ..cores };
        assert_eq!([40, 2, 1].map(|left| few.share(left, 8)), [1, 1, 2]);
        let chosen = Cores { chosen: Some(3), ..cores };
        assert_eq!([40, 1].map(|left| chosen.share(left, 1)), [3, 3]);
    }
}
