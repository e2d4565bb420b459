//! Statistics over the seeds of one setting, and of differences. Functions take and return numbers; this module does
//! not know runs.
//!
//! | what | file | source |
//! |---|---|---|
//! | median, quartiles, sample variance | `median`, `quartiles`, `variance` | |
//! | pairs of scores, variance left by pairing | `pairs` | |
//! | the test of pairs, its p and its interval | `paired` | Fisher 1935; group-sequential permutation tests |
//! | the test of runs without pairs | `unpaired` | Welch 1947; Janssen 1997 |
//! | a row of judgements | `session` | |
//! | reasons to doubt a verdict | `checks` | D'Agostino 1970 |
//! | a mean with its t interval | `student` | Student 1908 |
//! | a share's interval | `proportion` | Wilson 1927 |
//! | the difference that a schedule detects | `power` | simulated |
//! | how many seeds would decide | `forecast` | O'Hagan and others 2005 |

mod checks;
mod forecast;
mod median;
mod memory;
mod paired;
mod pairs;
mod power;
mod proportion;
mod quartiles;
pub mod session;
mod student;
mod unpaired;
mod variance;

pub(crate) use checks::{is_skewed, nothing_varies, rarest_failure};
pub use checks::{repeated, step};
pub use forecast::forecast;
pub use median::median;
pub use paired::{
    Decision, Interval, PairedTest, Schedule, Standing, Tested, fewest_seeds, tested,
};
pub(crate) use paired::{signed_rank_p, signed_ranks};
pub use pairs::Pairs;
pub use power::detectable;
pub use proportion::Proportion;
pub(crate) use quartiles::{Quartiles, quartiles};
pub use student::Mean;
pub(crate) use unpaired::Unpaired;
