//! A unit's results on a slice, and the exact ones. The accuracy tests and those of gelu-core's
//! backends use this file, too.

#![allow(dead_code, reason = "each of those who share it has use for a part")]

use gelu_kernels::{Storage, Unit, backward, forward};

/// A unit or its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Value,
    Derivative,
}

impl Of {
    /// Returns the results in the type `S`; `one` is the number 1 in `S`.
    pub(crate) fn compute<S: Storage>(self, unit: Unit, x: &[S], one: S) -> Vec<S> {
        let mut results = x.to_vec();
        match self {
            Self::Value => forward(unit, x, &mut results),
            Self::Derivative => backward(unit, x, &vec![one; x.len()], &mut results),
        }
        results
    }

    /// Returns the result in f64, accurate to 1e-6 of an f32's last place.
    pub(crate) fn exact(self, unit: Unit, x: f32) -> f64 {
        match self {
            Self::Value => unit.value(f64::from(x)),
            Self::Derivative => unit.derivative(f64::from(x)),
        }
    }
}

/// Returns the spacing of f32 numbers at the exact result rounded to f32; 2^-149 for subnormals.
pub(crate) fn spacing(exact: f64) -> f64 {
    let rounded = (exact.abs() as f32).min(f32::MAX);
    let exponent = (rounded.to_bits() >> 23).max(1) as i32;
    f64::from_bits(((exponent - 127 - 23 + 1023) as u64) << 52)
}
