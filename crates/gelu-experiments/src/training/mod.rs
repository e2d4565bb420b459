//! One run: training a network into its folder, exactly resumable.
//!
//! Training goes through Burn's [`Learner`](burn::train::Learner) and
//! [`SupervisedTraining`](burn::train::SupervisedTraining) with a learning strategy of its own
//! (`epochs`), which measures every split after an epoch as the recipe says and ends the epoch
//! with one atomic checkpoint.

mod checkpoint;
mod epochs;
mod evaluate;
mod learned;
mod network;
mod noise;
mod optimizer;
mod outcomes;
mod presentation;
mod run;
mod schedule;
mod session;
mod silent;
mod splits;
mod tally;
#[cfg(test)]
mod twins;

pub use evaluate::{Score, evaluate_split};
pub use learned::{LearnedGelu, Spread, learned_gelus};
pub use network::{BatchOutput, Network};
pub use noise::{UnderNoise, measure_noise};
pub use outcomes::{Examined, examine};
pub use run::{Display, load_model, train};
pub use splits::Splits;
