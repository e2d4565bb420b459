//! Trains the network of one run into the run's folder; interrupted runs resume exactly.
//!
//! The training loop is gelu-learner's. This module has the paper's networks, optimisers and data, and the
//! measurements of a trained network.

mod checks;
mod cohort;
mod decayed;
mod evaluate;
mod input_reader;
mod interface;
mod large_reader;
mod learned;
mod network;
mod noise;
mod optimizer;
mod outcomes;
mod output;
mod predict;
mod prepared;
mod presentation;
mod run;
mod splits;
#[cfg(test)]
mod twins;
mod whitening;

pub use cohort::{can_join, cohort_size, join, train_together};
pub use evaluate::{Score, evaluate_split};
pub use input_reader::InputReader;
pub use interface::{Interface, Shape};
pub use learned::{LearnedGelu, Spread, learned_gelus};
pub use network::Network;
pub use noise::{UnderNoise, measure_noise};
pub use outcomes::{Examination, examine};
pub use output::BatchOutput;
pub use predict::{OfText, Prediction, Word, interface_of, predict};
pub use prepared::PreparedSplits;
pub use run::{Display, load_model, train};
pub use splits::Splits;
