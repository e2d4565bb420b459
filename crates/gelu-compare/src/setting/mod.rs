//! Axes with their values, and settings, which give each axis one value.

mod axis;
mod given;
mod on_axes;
mod value;

#[cfg(test)]
pub(crate) use axis::COLUMNS;
pub use axis::{Axis, AxisWords, Label, Role};
pub use given::Setting;
pub(crate) use given::as_typed;
pub use value::Value;
