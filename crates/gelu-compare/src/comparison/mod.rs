//! Which of two settings is better: from paired results to a verdict and its sentence; and many runs
//! beside each other: what is wanted, what is there, and summing it up.

mod common_failure;
mod contrast;
mod difference;
mod difference_curve;
mod doubt;
mod found;
mod headings;
mod layers;
mod palette;
pub mod plan;
mod reader;
mod sentence;
pub mod statistics;
mod summary;
mod verdict;
mod wording;

pub use common_failure::common_failure;
pub use contrast::{Contrast, Rules};
pub use difference::{
    Difference, FurtherSeeds, differences, further_seeds, looked_at, noisy_test_error,
};
pub use difference_curve::{DifferenceCurve, difference_curves};
pub use found::Found;
pub use headings::Headings;
pub use layers::{ArmLayers, LayerDifference, layer_differences, layers};
pub use palette::{Rgb, colour, lighter};
pub use reader::{AnyReader, ComparisonReader};
pub use sentence::{details, sentence};
pub use summary::{Group, best_groups, groups, reported_epoch};
pub use verdict::{ALPHA, Ruling, Verdict};
pub use wording::Wording;
