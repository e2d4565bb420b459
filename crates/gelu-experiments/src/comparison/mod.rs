//! Many runs beside each other: what is wanted, what is there, and summing it up.

mod difference;
mod difference_curve;
mod headings;
mod label;
pub mod plan;
mod reader;
mod summary;
mod wording;

pub use difference::{
    Difference, FurtherSeeds, differences, further_seeds, looked_at, noisy_test_error,
};
pub use difference_curve::{DifferenceCurve, difference_curves};
pub use gelu_compare::comparison::{
    ALPHA, Contrast, Found, Rgb, Rules, Ruling, Verdict, Wording, colour, details, lighter,
    sentence, statistics,
};
pub use headings::Headings;
pub use label::label;
pub use reader::ComparisonReader;
pub use summary::{Group, best_groups, groups, reported_epoch};
pub use wording::wording;
