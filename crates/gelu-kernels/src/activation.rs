//! Functions on whole slices, on several threads where that is faster.

use crate::functions::Unit;
use crate::pass::Pass;
use crate::storage::Storage;

/// Writes `unit(x)` to `y`.
///
/// ```
/// use gelu_kernels::{Unit, forward};
///
/// let mut y = [0.0; 2];
/// forward(Unit::Silu, &[-1.0f64, 1.0], &mut y);
/// assert_eq!(y, [-0.2689414213699951, 0.7310585786300049]);
/// ```
///
/// # Panics
///
/// If the lengths differ, or the unit's parameter is out of range ([`Unit::validated`]).
pub fn forward<S: Storage>(unit: Unit, x: &[S], y: &mut [S]) {
    Pass::new(unit).map_into(x, y);
}

/// Writes `dy·unit′(x)` to `dx`: the gradient of [`forward`] for `x`, given the gradient `dy` of its
/// result.
///
/// # Panics
///
/// If the lengths differ, or the unit's parameter is out of range ([`Unit::validated`]).
pub fn backward<S: Storage>(unit: Unit, x: &[S], dy: &[S], dx: &mut [S]) {
    Pass::new(unit).scale_into(x, dy, dx);
}

/// Writes the exact GELU of `x`, `x·Φ(x)`, to `y`. Each result is within 2.5 units of the last
/// place.
///
/// ```
/// let mut y = [0.0; 2];
/// gelu_kernels::gelu(&[-3.0, 1.0], &mut y);
/// assert_eq!(y, [-0.004_049_694, 0.841_344_7]);
/// ```
///
/// # Panics
///
/// If the lengths differ.
pub fn gelu(x: &[f32], y: &mut [f32]) {
    forward(Unit::Gelu, x, y);
}
