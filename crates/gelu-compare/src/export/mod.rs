//! Results in the tools that people already have: TensorBoard event files, and MLflow through its
//! REST interface. The folder of a comparison stays the source; an export can be made again at any
//! time.

mod mlflow;
mod names;
mod reported;
mod target;
mod tensorboard;

pub use target::Target;
