use super::counted::subset_means;
use super::sequence::Sequence;
use super::strikes::Sides;
use super::{Decision, PairedTest, STEPS};

/// The centres of the differences that the test does not rule out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end; −∞ if the seeds rule out no low centre.
    pub low: f64,
    /// The upper end; +∞ if the seeds rule out no high centre.
    pub high: f64,
    /// The probability that the interval covers the centre.
    pub level: f64,
}

/// The tests that the two ends come from.
#[derive(Clone, Copy)]
enum Ends {
    /// Both ends come from the test of better and worse.
    Difference,
    /// Each end comes from its own one-sided test, as *same* does.
    Same,
}

impl PairedTest {
    /// Returns all θ for which d − θ would not have been struck by now. Returns `None` with a diverged run, before
    /// the last seed of a fixed schedule, if what was shown has lapsed, and if the seeds rule out nothing.
    pub fn interval(&self) -> Option<Interval> {
        let n = self.sequence.len();
        let standing = self.standing();
        if n == 0 || self.sequence.any_diverged() || !self.may_decide() || standing.has_lapsed() {
            return None;
        }
        let ends = match standing.decision {
            Some(Decision::Same) => Ends::Same,
            _ => Ends::Difference,
        };
        let level = self.level * self.schedule.spent(n as u64);
        let [low, high] = match self.schedule.is_counted() && n as u64 == self.schedule.seeds {
            true => {
                let struck = (level * 2f64.powi(n as i32)).floor() as usize;
                let rank = if matches!(ends, Ends::Same) { struck } else { struck / 2 };
                subset_means(self.sequence.values(), rank)?
            }
            false => self.inverted(ends)?,
        };
        let sides = if matches!(ends, Ends::Same) { 2.0 } else { 1.0 };
        let scale = self.sequence.scale;
        let [low, high] = [low / scale, high / scale];
        (low > f64::NEG_INFINITY || high < f64::INFINITY).then_some(Interval {
            low,
            high,
            level: 1.0 - sides * level,
        })
    }

    /// Returns the interval of a session's judgement, in which each end comes from a one-sided test at the level.
    /// Returns `None` with a diverged run, and if the seeds rule out nothing.
    pub(in super::super) fn one_sided_interval(&self) -> Option<Interval> {
        let n = self.sequence.len();
        if n == 0 || self.sequence.any_diverged() || !self.may_decide() {
            return None;
        }
        let [low, high] = self.inverted(Ends::Same)?.map(|end| end / self.sequence.scale);
        let level = 1.0 - 2.0 * self.level * self.schedule.spent(n as u64);
        (low > f64::NEG_INFINITY || high < f64::INFINITY).then_some(Interval { low, high, level })
    }

    /// Returns both ends, found by bisection; `None` if the mean of every number of seeds is ruled out.
    fn inverted(&self, ends: Ends) -> Option<[f64; 2]> {
        let sequence = &self.sequence;
        let n = sequence.len();
        let start = (1..=n)
            .rev()
            .map(|k| sequence.mean(k))
            .find(|&theta| [-1.0, 1.0].iter().all(|&side| !self.rules_out(theta, side, ends)))?;
        Some([-1.0, 1.0].map(|side| self.end(start, side, ends)))
    }

    /// Returns whether `theta` is ruled out. With [`Ends::Same`], `side` is −1 for the test of the low end and 1 for
    /// that of the high end.
    fn rules_out(&self, theta: f64, side: f64, ends: Ends) -> bool {
        let struck = |sequence: &Sequence, sides| self.first(sequence, self.level, sides).is_some();
        match ends {
            Ends::Difference => struck(&self.sequence.shifted(theta, 1.0), Sides::Two),
            Ends::Same => struck(&self.sequence.shifted(theta, -side), Sides::One),
        }
    }

    /// Returns the end on one side of `start`: the low one if `side` is −1, the high one if it is 1.
    fn end(&self, start: f64, side: f64, ends: Ends) -> f64 {
        let values = self.sequence.values();
        let mean = self.sequence.mean(values.len());
        let reach = 4.0 * values.iter().map(|d| (d - mean).abs()).sum::<f64>();
        let (mut inside, mut outside) = (start, start + side * reach);
        let towards_zero = start * side < 0.0;
        if towards_zero && self.rules_out(0.0, side, ends) {
            outside = 0.0;
        } else {
            if towards_zero {
                inside = 0.0;
                outside = if outside * side > 0.0 { outside } else { side * reach };
            }
            if !self.rules_out(outside, side, ends) {
                return side * f64::INFINITY;
            }
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(inside, outside);
            match self.rules_out(middle, side, ends) {
                true => outside = middle,
                false => inside = middle,
            }
        }
        inside
    }
}
