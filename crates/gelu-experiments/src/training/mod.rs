//! One run: training a network into its folder, exactly resumable.
//!
//! Training goes through Burn's [`Learner`](burn::train::Learner) and
//! [`SupervisedTraining`](burn::train::SupervisedTraining) with a learning strategy of its own
//! (`epochs`), which measures every split after an epoch as the recipe says and ends the epoch
//! with one atomic checkpoint.

mod checkpoint;
mod classifier;
mod epochs;
mod evaluate;

mod renderer;
mod run;
mod session;

pub use classifier::{Classifier, classifier};
pub use evaluate::Score;
pub use run::{Display, Splits, evaluate_split, load_model, train};
pub use session::Control;
