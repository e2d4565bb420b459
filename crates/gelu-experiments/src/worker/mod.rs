//! Trains the runs of recipes in a worker's process.

mod recipes;

pub use recipes::Recipes;
