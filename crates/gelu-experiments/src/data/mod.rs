//! Data sets: readers of real file formats, downloads, the built-in digits, and the batch loader.

mod catalogue;
mod dataset;
pub mod digits;
pub mod download;
mod home;
pub mod idx;
mod loader;
pub mod mnist;

pub use catalogue::{Availability, DataSetInfo, catalogue, load};
pub use dataset::{DataSource, ImageSet, Images};
pub use home::data_home;
pub use loader::{BatchLoader, Examples, Order};
