//! How many threads a run trains with: the processor's cores, divided among the runs that are left.

use std::num::NonZero;

/// What there is to be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Cores of the processor that this process may use.
    available: usize,
    /// Threads that `RAYON_NUM_THREADS` gives every run, whatever there is.
    chosen: Option<usize>,
    /// Runs that train on them at the same time, where there are so many left.
    slots: usize,
}

impl Cores {
    /// This machine's, for so many runs at a time.
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

    /// The threads of one of the runs that are `left`, itself among them, for a network that gains
    /// nothing from more than `useful`.
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
