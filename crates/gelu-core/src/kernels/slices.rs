//! The functions on slices of f32, on the calling thread: for crates whose own loops do one more
//! thing before or after an activation.
//!
//! With the kernels of Flex, and so as accurate.
//!
//! ```
//! use gelu_core::{Unit, slices};
//!
//! let mut values = [-3.0, 1.0];
//! slices::forward(Unit::Gelu, &mut values);
//! assert_eq!(values, [-0.004_049_694, 0.841_344_7]);
//! let (x, mut gradient) = ([-3.0, 1.0], [1.0, 2.0]);
//! slices::backward(Unit::Relu, &x, &mut gradient);
//! assert_eq!(gradient, [0.0, 2.0]);
//! ```

use super::elementwise::{Kernel, Places};
#[doc(hidden)]
pub use super::level::{Level, Work};
use crate::functions::Unit;

/// Replaces every number by the function of it.
///
/// # Panics
///
/// If the unit's parameter is none that it takes ([`Unit::validated`]).
pub fn forward(unit: Unit, values: &mut [f32]) {
    forward_at(Level::best(), unit, values);
}

/// [`forward`] in code compiled for a level.
#[doc(hidden)]
pub fn forward_at(level: Level, unit: Unit, values: &mut [f32]) {
    let unit = unit.checked();
    let kernel = Kernel::value(unit.kind(), unit.parameter(), level);
    let (out, length) = (values.as_mut_ptr(), values.len());
    // SAFETY: the slice is borrowed mutably for this call.
    unsafe { kernel.run(Places { x: out, dy: out, out, length }) };
}

/// Multiplies every gradient by the derivative at `x`.
///
/// # Panics
///
/// If the lengths differ, or the unit's parameter is none that it takes ([`Unit::validated`]).
pub fn backward(unit: Unit, x: &[f32], gradient: &mut [f32]) {
    backward_at(Level::best(), unit, x, gradient);
}

/// [`backward`] in code compiled for a level.
#[doc(hidden)]
pub fn backward_at(level: Level, unit: Unit, x: &[f32], gradient: &mut [f32]) {
    assert_eq!(x.len(), gradient.len(), "a gradient for every input");
    let unit = unit.checked();
    let kernel = Kernel::derivative(unit.kind(), unit.parameter(), level);
    let out = gradient.as_mut_ptr();
    // SAFETY: the slices are borrowed for this call, and are as long as each other.
    unsafe { kernel.run(Places { x: x.as_ptr(), dy: out, out, length: x.len() }) };
}
