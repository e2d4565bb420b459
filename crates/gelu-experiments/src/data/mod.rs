//! Data sets: readers of real file formats, downloads, generated sets, and the batch loader.

pub mod audio;
mod augmentation;
mod catalogue;
pub mod cifar;
pub mod corpus;
mod dataset;
pub mod digits;
pub mod download;
mod home;
pub mod idx;
mod inputs;
mod loader;
pub mod mnist;
pub mod own;
pub mod prepared;
mod samples;
mod set;
pub mod spoken_digits;
pub mod synthetic;
mod text;
pub mod timit;
pub mod tweets;
mod windows;

pub use catalogue::{Availability, DataKind, DataSetInfo, catalogue, load};
pub use corpus::TextSet;
pub use dataset::{ImageSet, Images};
pub use gelu_compare::runs::DataSource;
pub use gelu_learner::Order;
pub use home::data_home;
pub use inputs::{Augmentation, Normalisation, Pixels};
pub use loader::{BatchInputs, BatchLoader, Examples};
pub use own::Asked;
pub use samples::Samples;
pub use set::DataSet;
pub use windows::{WindowSet, Windows};
