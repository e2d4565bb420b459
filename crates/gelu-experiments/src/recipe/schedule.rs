use crate::{Error, Result};
use burn::optim::lr_scheduler::{LrScheduler, LrSchedulerRecord};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The course of the learning rate in a recipe. It counts in epochs and shares of them, while Burn's schedulers only
/// count iterations (and refuse rates above 1). Shares are of all epochs, so that a shorter training has the same
/// course.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// Constant.
    #[default]
    Constant,
    /// Constant for a share `c` of the epochs E; then it decreases by the same amount every epoch and reaches 0 at
    /// the end: η·min(1, (E − e)/(E − cE)) in epoch e = 0, 1, ….
    ConstantThenLinear {
        /// The share c.
        constant: f64,
    },
    /// Multiplied by a factor after certain shares of the epochs, rounded to the nearest epoch.
    Steps {
        /// The shares, ascending.
        after: Vec<f64>,
        /// The factor.
        factor: f64,
    },
    /// From the initial value to 0 along half a cosine, batch by batch: η·(1 + cos(πt/T))/2 for batch t = 0, 1, … of
    /// T.
    Cosine,
    /// From near 0 up to the initial value in W batches, then along half a cosine down to a share `floor` of it:
    /// η·(t + 1)/(W + 1) for t < W, then
    /// η·(floor + (1 − floor)·(1 + cos(π(t − W)/(T − W)))/2), as in nanoGPT.
    WarmupCosine {
        /// The number of batches W.
        warmup: usize,
        /// The share of the initial value at the end.
        floor: f64,
    },
    /// Linearly up from a share `start` of the initial value, which it reaches after a share `peak` of the batches,
    /// and linearly down to a share `end`: with x = t/T for batch t of T, η·(start + (1 − start)·x/peak) for x <
    /// peak, then η·(1 − (1 − end)·(x − peak)/(1 − peak)), as in airbench94.
    Triangular {
        /// The share of the initial value at the start.
        start: f64,
        /// The share of the batches before the highest value.
        peak: f64,
        /// The share of the initial value at the end.
        end: f64,
    },
}

impl Schedule {
    /// Checks the numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value and the allowed values.
    pub fn validate(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Usage(problem));
        // Also below 1 in single precision.
        let share = |name: &str, share: f64| match share >= 0.0 && (share as f32) < 1.0 {
            true => Ok(()),
            false => refuse(format!(
                "{name} is {}; a share is at least 0 and below 1",
                gelu_compare::names::number(share)
            )),
        };
        match self {
            Self::Constant | Self::Cosine => Ok(()),
            Self::WarmupCosine { floor, .. } => share("schedule.floor", *floor),
            Self::ConstantThenLinear { constant } => share("schedule.constant", *constant),
            Self::Triangular { start, peak, end } => share("schedule.start", *start)
                .and_then(|()| share("schedule.peak", *peak))
                .and_then(|()| share("schedule.end", *end)),
            Self::Steps { after, factor } => {
                after.iter().try_for_each(|&step| share("schedule.after", step))?;
                if !after.is_sorted() {
                    return refuse(format!(
                        "schedule.after is {after:?}; its shares have to ascend"
                    ));
                }
                match *factor > 0.0 && *factor <= 1.0 {
                    true => Ok(()),
                    false => refuse(format!(
                        "schedule.factor is {factor}; it has to be above 0 and at most 1"
                    )),
                }
            }
        }
    }

    /// Returns the scheduler of a training with these numbers of epochs and batches.
    pub fn scheduler(
        self,
        initial: f64,
        epochs: usize,
        batches_per_epoch: usize,
    ) -> impl LrScheduler + 'static {
        Scheduled { schedule: self, initial, epochs, batches_per_epoch, done: 0 }
    }
}

/// The learning rate as a function of the batch's number, counted from the beginning of the training.
#[derive(Clone, Debug)]
struct Scheduled {
    schedule: Schedule,
    initial: f64,
    epochs: usize,
    batches_per_epoch: usize,
    /// The number of finished batches.
    done: usize,
}

/// The key under which the number of finished batches is saved.
const DONE: &str = "done";

impl Scheduled {
    fn rate(&self) -> f64 {
        let epochs = self.epochs as f64;
        match &self.schedule {
            Schedule::Constant => self.initial,
            Schedule::ConstantThenLinear { constant } => {
                let epoch = (self.done / self.batches_per_epoch) as f64;
                self.initial * ((epochs - epoch) / (epochs - constant * epochs)).min(1.0)
            }
            Schedule::Steps { after, factor } => {
                let epoch = (self.done / self.batches_per_epoch) as f64;
                let steps = after.iter().filter(|&share| epoch >= (share * epochs).round()).count();
                self.initial * factor.powi(steps as i32)
            }
            &Schedule::WarmupCosine { warmup, floor } => {
                let all = (self.epochs * self.batches_per_epoch) as f64;
                let (done, warmup) = (self.done as f64, warmup as f64);
                if done < warmup {
                    return self.initial * (done + 1.0) / (warmup + 1.0);
                }
                let share = ((done - warmup) / (all - warmup)).min(1.0);
                self.initial * (floor + (1.0 - floor) * 0.5 * (1.0 + (PI * share).cos()))
            }
            &Schedule::Triangular { start, peak, end } => {
                let x = self.done as f64 / (epochs * self.batches_per_epoch as f64);
                self.initial
                    * match x < peak {
                        true => start + (1.0 - start) * x / peak,
                        false => 1.0 - (1.0 - end) * (x - peak) / (1.0 - peak),
                    }
            }
            Schedule::Cosine => {
                let share = self.done as f64 / (epochs * self.batches_per_epoch as f64);
                self.initial * 0.5 * (1.0 + (PI * share).cos())
            }
        }
    }
}

impl LrScheduler for Scheduled {
    fn step(&mut self) -> f64 {
        let rate = self.rate();
        self.done += 1;
        rate
    }

    fn to_record(&self) -> LrSchedulerRecord {
        LrSchedulerRecord::new().with_scalar(DONE, self.done as u64)
    }

    fn load_record(&mut self, record: LrSchedulerRecord) {
        self.done = record.scalar::<u64>(DONE).map_or(self.done, |done| done as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rates at the first batch of some epochs, from 0.
    fn rates(schedule: Schedule, wanted: &[usize]) -> Vec<f64> {
        let mut rates = schedule.scheduler(0.1, 200, 3);
        let all: Vec<f64> = (0..600).map(|_| rates.step()).collect();
        wanted.iter().map(|epoch| all[epoch * 3]).collect()
    }

    #[test]
    fn linear_part_falls_from_the_middle_to_nothing() {
        let schedule = Schedule::ConstantThenLinear { constant: 0.5 };
        // η·min(2 − e/100, 1), as in the paper's code.
        let found = rates(schedule, &[0, 99, 100, 101, 150, 199]);
        for (found, expected) in found.iter().zip([0.1, 0.1, 0.1, 0.099, 0.05, 0.001]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    #[test]
    fn steps_are_taken_where_the_original_network_takes_them() {
        let schedule = Schedule::Steps { after: vec![0.3, 0.6, 0.8], factor: 0.2 };
        // Zagoruyko & Komodakis, section 3: epochs 60, 120 and 160 of 200.
        let found = rates(schedule, &[0, 59, 60, 119, 120, 159, 160, 199]);
        let expected = [0.1, 0.1, 0.02, 0.02, 0.004, 0.004, 0.0008, 0.0008];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    #[test]
    fn cosine_falls_from_batch_to_batch_without_a_restart() {
        let found = rates(Schedule::Cosine, &[0, 100, 199]);
        assert_eq!(found[0], 0.1);
        assert!((found[1] - 0.05).abs() < 1e-15);
        assert!(found[2] > 0.0 && found[2] < 1e-4 * 0.1, "{}", found[2]);
        let mut schedule = Schedule::Cosine.scheduler(0.1, 2, 5);
        let all: Vec<f64> = (0..10).map(|_| schedule.step()).collect();
        assert!(all.windows(2).all(|pair| pair[1] < pair[0]), "{all:?}");
    }

    #[test]
    fn warm_up_rises_to_the_rate_and_the_cosine_falls_to_its_floor() {
        let mut schedule = Schedule::WarmupCosine { warmup: 3, floor: 0.1 }.scheduler(1e-3, 2, 5);
        let all: Vec<f64> = (0..10).map(|_| schedule.step()).collect();
        // nanoGPT's `get_lr` with warmup_iters 3, lr_decay_iters 10, min_lr 1e-4.
        let expected = [2.5e-4, 5e-4, 7.5e-4, 1e-3, 9.554359905560886e-4, 8.305704108364302e-4];
        for (found, expected) in all.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{all:?}");
        }
        assert!(all[9] > 1e-4 && all[9] < 1.5e-4, "{all:?}");
    }

    #[test]
    fn a_triangle_rises_to_its_peak_and_falls_to_its_end() {
        let triangle = Schedule::Triangular { start: 0.2, peak: 0.23, end: 0.07 };
        let mut schedule = triangle.scheduler(0.5, 2, 5);
        let all: Vec<f64> = (0..10).map(|_| schedule.step()).collect();
        // 0.5 * numpy.interp([t / 10 for t in range(10)], [0, 0.23, 1], [0.2, 1, 0.07])
        for (place, expected) in [
            (0, 0.1),
            (1, 0.273_913_043_478_260_9),
            (2, 0.447_826_086_956_521_8),
            (3, 0.457_727_272_727_272_7),
            (9, 0.095_389_610_389_610_4),
        ] {
            assert!((all[place] - expected).abs() < 1e-15, "{all:?}");
        }
    }

    #[test]
    fn restored_schedule_goes_on_where_it_was() {
        let mut whole = Schedule::Cosine.scheduler(0.1, 2, 5);
        let all: Vec<f64> = (0..10).map(|_| whole.step()).collect();
        let mut first = Schedule::Cosine.scheduler(0.1, 2, 5);
        assert_eq!((0..4).map(|_| first.step()).collect::<Vec<_>>(), all[..4]);
        let bytes = first.to_record().into_bytes().unwrap();
        let mut second = Schedule::Cosine.scheduler(0.1, 2, 5);
        second.load_record(LrSchedulerRecord::from_bytes(bytes).unwrap());
        assert_eq!((4..10).map(|_| second.step()).collect::<Vec<_>>(), all[4..]);
    }
}
