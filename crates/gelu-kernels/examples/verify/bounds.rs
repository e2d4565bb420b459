//! The accuracy of f32 as one table: the bounds that the documentation promises and the tests
//! check. `cargo run --release --example verify` goes through all inputs.

use super::measure::Of;
use gelu_kernels::Unit;

/// The largest error of a unit over all finite f32.
pub(crate) struct Bound {
    pub(crate) unit: Unit,
    pub(crate) of: Of,
    /// The bound in units of the last place.
    pub(crate) ulps: f64,
    /// The share of the bound that the sampled tests reach at least. A lower share would mean that
    /// the bound is stale.
    pub(crate) reached: f64,
}

const fn bound(unit: Unit, of: Of, ulps: f64) -> Bound {
    Bound { unit, of, ulps, reached: 0.8 }
}

/// The bounds of the functions that have f32 formulas of their own. All other functions are rounded
/// once from f64.
const OWN: [Bound; 4] = [
    bound(Unit::Gelu, Of::Value, 2.5),
    bound(Unit::Gelu, Of::Derivative, 2.1),
    bound(Unit::GeluTanh, Of::Value, 2.7),
    bound(Unit::GeluTanh, Of::Derivative, 3.4),
];

/// Returns the bound of a unit.
pub(crate) fn of(unit: Unit, of: Of) -> Bound {
    if let Some(own) = OWN.into_iter().find(|bound| (bound.unit, bound.of) == (unit, of)) {
        return own;
    }
    match (unit, of) {
        // These functions do no arithmetic, or only multiply by a power of two.
        (
            Unit::Relu
            | Unit::Identity
            | Unit::Relu6
            | Unit::ThresholdedRelu { .. }
            | Unit::Hardtanh { .. }
            | Unit::Hardshrink { .. },
            _,
        )
        | (
            Unit::SquaredRelu
            | Unit::LeakyRelu { .. }
            | Unit::LeakyRelu2 { .. }
            | Unit::HardSigmoid
            | Unit::Softshrink { .. },
            Of::Derivative,
        ) => Bound { unit, of, ulps: 0.5, reached: 0.0 },
        _ => bound(unit, of, 0.51),
    }
}

/// Returns the bounds of all units and their derivatives.
pub(crate) fn all() -> impl Iterator<Item = Bound> {
    Unit::ALL.into_iter().flat_map(|unit| [of(unit, Of::Value), of(unit, Of::Derivative)])
}

/// Returns the smallest size in which errors are counted at an input. It is above 0 near a
/// derivative's zero that the formula does not factor out.
pub(crate) fn least(unit: Unit, of: Of) -> impl Fn(f32) -> f64 {
    const ZERO: f32 = -0.752_461_4;
    let factored = (unit, of) != (Unit::GeluTanh, Of::Derivative);
    move |x| if factored || (x - ZERO).abs() > 0.35 { 0.0 } else { 2f64.powi(-24) }
}
