//! Sums over the seeds of one setting, and the statistics of paired differences. Numbers in,
//! numbers out: nothing here knows a run.
//!
//! | what | file | source |
//! |---|---|---|
//! | median, quartiles | `median`, `quartiles` | |
//! | paired values, variance left by pairing | `pairs` | |
//! | t interval of a mean, two one-sided tests | `student` | Student 1908; Schuirmann 1987 |
//! | exact test without assumptions | `sign_flip` | Fisher 1935; Phipson and Smyth 2010 |
//! | several comparisons at once | `holm` | Holm 1979 |
//! | intervals over new test examples | `new_examples` | Cameron, Gelbach and Miller 2011 |
//! | a share's interval and standard error | `proportion` | Wilson 1927 |
//! | power, detectable effects, planned sizes | `power` | noncentral t |

mod holm;
mod median;
mod new_examples;
mod pairs;
mod power;
mod proportion;
mod quartiles;
mod sign_flip;
mod student;

pub use holm::holm;
pub use median::median;
pub use new_examples::{NewExamples, NoNewExamples, new_examples};
pub use pairs::Pairs;
pub use power::{Further, further_pairs, smallest_detectable};
pub use proportion::{Proportion, binomial_standard_error};
pub use quartiles::{Quartiles, quartiles};
pub(crate) use sign_flip::direction;
pub use sign_flip::{sign_flip, smallest_p};
pub use student::Mean;
