use super::counted::subset_means;
use super::sequence::Sequence;
use super::strikes::Sides;
use super::{Decision, PairedTest, STEPS};

/// The centres of the differences that the test does not rule out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end; −∞ where the seeds rule out no low centre.
    pub low: f64,
    /// The upper end; +∞ where the seeds rule out no high centre.
    pub high: f64,
    /// The probability with which the interval covers the centre.
    pub level: f64,
}

/// Which sides of the centre the two ends come from.
#[derive(Clone, Copy)]
enum Ends {
    /// Both from the test of better and worse.
    Difference,
    /// Each from its own one-sided test, as *same* does.
    Same,
}

impl PairedTest {
    /// All θ for which d − θ would not have been struck by now. `None` with a diverged run, before the last seed of a
    /// fixed plan, where what was shown has lapsed, and where the seeds rule out nothing.
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
        let level = self.level * self.plan.spent(n as u64);
        let [low, high] = match self.plan.is_counted() && n as u64 == self.plan.seeds {
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

    /// The same of a session's judgement: each end is that of a one-sided test at the level. `None` with a diverged run, and
    /// where the seeds rule out nothing.
    pub(in super::super) fn one_sided_interval(&self) -> Option<Interval> {
        let n = self.sequence.len();
        if n == 0 || self.sequence.any_diverged() || !self.may_decide() {
            return None;
        }
        let [low, high] = self.inverted(Ends::Same)?.map(|end| end / self.sequence.scale);
        let level = 1.0 - 2.0 * self.level * self.plan.spent(n as u64);
        (low > f64::NEG_INFINITY || high < f64::INFINITY).then_some(Interval { low, high, level })
    }

    /// Both ends by bisection; `None` where the mean of no number of seeds is one of the θ.
    fn inverted(&self, ends: Ends) -> Option<[f64; 2]> {
        let sequence = &self.sequence;
        let n = sequence.len();
        let start = (1..=n)
            .rev()
            .map(|k| sequence.mean(k))
            .find(|&theta| [-1.0, 1.0].iter().all(|&side| !self.rules_out(theta, side, ends)))?;
        Some([-1.0, 1.0].map(|side| self.end(start, side, ends)))
    }

    /// Whether `theta` is ruled out; by ends of their own on the side of the low or the high ones.
    fn rules_out(&self, theta: f64, side: f64, ends: Ends) -> bool {
        let struck = |sequence: &Sequence, sides| self.first(sequence, self.level, sides).is_some();
        match ends {
            Ends::Difference => struck(&self.sequence.shifted(theta, 1.0), Sides::Two),
            Ends::Same => struck(&self.sequence.shifted(theta, -side), Sides::One),
        }
    }

    /// The end on one side of `start`: −1 is the low one, 1 the high one.
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
