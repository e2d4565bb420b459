//! The accuracy of f32 on the CPU (Flex), in one table: what the documentation promises and the
//! tests hold. `cargo run --release -p gelu-core --example verify` goes through all inputs.

use super::measure::Of;
use gelu_core::Unit;

/// The largest error of a unit over all finite f32.
pub(crate) struct Bound {
    pub(crate) unit: Unit,
    pub(crate) of: Of,
    /// In units of the last place.
    pub(crate) ulps: f64,
    /// What share of the bound the sampled tests reach at least; less would mean that the bound
    /// is stale.
    pub(crate) reached: f64,
}

const fn bound(unit: Unit, of: Of, ulps: f64) -> Bound {
    Bound { unit, of, ulps, reached: 0.8 }
}

pub(crate) const BOUNDS: [Bound; 18] = [
    bound(Unit::Gelu, Of::Value, 2.5),
    bound(Unit::Gelu, Of::Derivative, 2.1),
    bound(Unit::GeluTanh, Of::Value, 2.7),
    bound(Unit::GeluTanh, Of::Derivative, 3.5),
    bound(Unit::GeluSigmoid, Of::Value, 0.51),
    bound(Unit::GeluSigmoid, Of::Derivative, 0.51),
    bound(Unit::Silu, Of::Value, 0.51),
    bound(Unit::Silu, Of::Derivative, 0.51),
    bound(Unit::Cauchy, Of::Value, 0.51),
    bound(Unit::Cauchy, Of::Derivative, 0.51),
    bound(Unit::Elu, Of::Value, 0.51),
    bound(Unit::Elu, Of::Derivative, 0.51),
    bound(Unit::NormalCdf, Of::Value, 0.51),
    bound(Unit::NormalCdf, Of::Derivative, 0.51),
    Bound { unit: Unit::Relu, of: Of::Value, ulps: 0.0, reached: 0.0 },
    Bound { unit: Unit::Relu, of: Of::Derivative, ulps: 0.0, reached: 0.0 },
    Bound { unit: Unit::Identity, of: Of::Value, ulps: 0.0, reached: 0.0 },
    Bound { unit: Unit::Identity, of: Of::Derivative, ulps: 0.0, reached: 0.0 },
];

/// What an error counts in at least, next to a derivative's zero that is not factored out.
pub(crate) fn least(unit: Unit, of: Of) -> impl Fn(f32) -> f64 {
    const ZERO: f32 = -0.752_461_4;
    let factored = (unit, of) != (Unit::GeluTanh, Of::Derivative);
    move |x| if factored || (x - ZERO).abs() > 0.35 { 0.0 } else { 2f64.powi(-24) }
}
