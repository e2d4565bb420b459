//! Exports results to other tools: TensorBoard event files, and MLflow through its REST interface. The comparison's
//! folder remains the source, and an export can be repeated at any time.

mod mlflow;
mod names;
mod reported;
mod target;
mod tensorboard;

pub use target::Target;
