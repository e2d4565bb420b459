//! What runs differ by: axes with values, and settings that give each axis one.

mod axis;
mod given;
mod on_axes;
mod value;

pub use axis::{Axis, Label, Role, Words};
pub use given::Setting;
pub use value::Value;
