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
use super::level::Level;
use crate::functions::Unit;

/// Replaces every number by the function of it.
pub fn forward(unit: Unit, values: &mut [f32]) {
    let kernel = Kernel::value(unit.kind(), unit.parameter(), Level::best());
    let (out, length) = (values.as_mut_ptr(), values.len());
    // SAFETY: the slice is borrowed mutably for this call.
    unsafe { kernel.run(Places { x: out, dy: out, out, length }) };
}

/// Multiplies every gradient by the derivative at `x`.
///
/// # Panics
///
/// If the lengths differ.
pub fn backward(unit: Unit, x: &[f32], gradient: &mut [f32]) {
    assert_eq!(x.len(), gradient.len(), "a gradient for every input");
    let kernel = Kernel::derivative(unit.kind(), unit.parameter(), Level::best());
    let out = gradient.as_mut_ptr();
    // SAFETY: the slices are borrowed for this call, and are as long as each other.
    unsafe { kernel.run(Places { x: x.as_ptr(), dy: out, out, length: x.len() }) };
}
