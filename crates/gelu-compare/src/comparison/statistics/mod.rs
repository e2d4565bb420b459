//! Sums over the seeds of one setting, and the statistics of paired differences. Numbers in,
//! numbers out: nothing here knows a run.
//!
//! | what | file | source |
//! |---|---|---|
//! | median, quartiles, sample variance | `median`, `quartiles`, `variance` | |
//! | paired values, variance left by pairing | `pairs` | |
//! | t interval of a mean, two one-sided tests | `student` | Student 1908; Schuirmann 1987 |
//! | exact test without assumptions | `sign_flip` | Fisher 1935; Phipson and Smyth 2010 |
//! | a share's interval | `proportion` | Wilson 1927 |
//! | seeds and test examples at once | `new_examples` | Cameron, Gelbach and Miller 2011 |
//! | power of both decisions, detectable effects | `power` | noncentral t; Schuirmann 1987 |
//! | how many more would decide | `forecast` | O'Hagan and others 2005 |

mod checks;
mod forecast;
mod median;
mod memory;
mod new_examples;
mod paired;
mod pairs;
mod power;
mod proportion;
mod quartiles;
pub mod session;
mod sign_flip;
mod student;
mod variance;

pub use checks::{is_skewed, nothing_varies, rarest_failure, repeated, step};
pub use forecast::{Decision, Forecast, forecast};
pub use median::median;
pub use new_examples::{NewExamples, NoNewExamples, new_examples};
pub use paired::{Interval, PairedTest, Plan, Standing, fewest_seeds};
pub use pairs::Pairs;
pub use power::smallest_detectable;
pub use proportion::Proportion;
pub use quartiles::{Quartiles, quartiles};
pub use sign_flip::direction;
pub use sign_flip::{sign_flip, smallest_p};
pub use student::Mean;
