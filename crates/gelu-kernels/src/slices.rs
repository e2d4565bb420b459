//! Functions on slices of f32, on the calling thread. They are for crates whose own loops do more
//! than apply an activation.
//!
//! They are as accurate as the functions at the crate's root, which use several threads.
//!
//! ```
//! use gelu_kernels::{Unit, slices};
//!
//! let mut values = [-3.0, 1.0];
//! slices::forward(Unit::Gelu, &mut values);
//! assert_eq!(values, [-0.004_049_694, 0.841_344_7]);
//! let (x, mut gradient) = ([-3.0, 1.0], [1.0, 2.0]);
//! slices::backward(Unit::Relu, &x, &mut gradient);
//! assert_eq!(gradient, [0.0, 2.0]);
//! ```

use crate::functions::Unit;
use crate::kernel::{Kernel, Quantity};
use crate::level::Level;

/// Replaces every number by its function value.
///
/// # Panics
///
/// If the unit's parameter is out of range ([`Unit::validated`]).
pub fn forward(unit: Unit, values: &mut [f32]) {
    forward_at(Level::best(), unit, values);
}

/// Does the same as [`forward`], in code compiled for `level`.
#[doc(hidden)]
pub fn forward_at(level: Level, unit: Unit, values: &mut [f32]) {
    Kernel::new(Quantity::Value, unit.checked(), level).replace(values);
}

/// Multiplies every gradient by the derivative at `x`.
///
/// # Panics
///
/// If the lengths differ, or the unit's parameter is out of range ([`Unit::validated`]).
pub fn backward(unit: Unit, x: &[f32], gradient: &mut [f32]) {
    backward_at(Level::best(), unit, x, gradient);
}

/// Does the same as [`backward`], in code compiled for `level`.
#[doc(hidden)]
pub fn backward_at(level: Level, unit: Unit, x: &[f32], gradient: &mut [f32]) {
    Kernel::new(Quantity::Derivative, unit.checked(), level).scale(x, gradient);
}
