use super::schedule::Schedule;
use super::sequence::Sequence;
use super::strikes::{Patterns, Sides};

/// The one-sided test of whether the first of each pair is lower.
#[derive(Clone, Debug)]
pub(in super::super) struct Improvement {
    /// The gains: b − a.
    gains: Sequence,
    schedule: Schedule,
    level: f64,
}

impl Improvement {
    pub(in super::super) fn new(pairs: &[[f64; 2]], schedule: Schedule, level: f64) -> Self {
        Self { gains: Sequence::new(pairs).shifted(0.0, -1.0), schedule, level }
    }

    /// Returns the number of pairs, of the first `n`, after which an improvement is shown.
    pub(in super::super) fn shown_after(&self, n: usize) -> Option<usize> {
        let gains = self.gains.up_to(n);
        Patterns::new(self.level, n).struck_after(&gains, self.schedule, self.level, Sides::One)
    }

    /// Returns mean·√n/s of the first `n` gains, or Σr/√Σr² of their signed ranks if a run diverged. Returns `None`
    /// if all gains are 0.
    pub(in super::super) fn strength(&self, n: usize) -> Option<f64> {
        let terms = self.gains.terms(n);
        let (sum, count) = (self.gains.sum(n), n as f64);
        let squares = match self.gains.is_ranked(n) {
            true => terms.iter().map(|rank| rank * rank).sum::<f64>(),
            false => {
                let mean = sum / count;
                terms.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (count - 1.0) * count
            }
        };
        let strength = sum / squares.sqrt();
        (!strength.is_nan()).then_some(strength)
    }
}
