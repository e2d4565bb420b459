use super::super::memory::Memory;
use super::{Interval, PairedTest, Schedule, Standing};

static BEFORE: Memory<Tested> = Memory::new();

/// All results of the test of some pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The current result of the test.
    pub standing: Standing,
    /// The interval of the centre of the differences.
    pub interval: Option<Interval>,
    /// The level at which the difference would just be shown.
    pub p: Option<f64>,
}

/// Tests pairs as [`PairedTest`] does. Stores the results and returns them again for the same numbers, because a
/// dashboard asks once per second.
pub fn tested(pairs: &[[f64; 2]], schedule: Schedule, level: f64, negligible: f64) -> Tested {
    let flag = f64::from(u8::from(schedule.until_decided));
    let mut numbers = pairs.as_flattened().to_vec();
    numbers.extend([schedule.seeds as f64, flag, level, negligible]);
    BEFORE.recall(&numbers, || {
        let test = PairedTest::new(pairs, schedule, level, negligible);
        Tested { standing: test.standing(), interval: test.interval(), p: test.p() }
    })
}
