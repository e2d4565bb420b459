use burn_core::tensor::DType;
use gelu_core::functional::{Unit, in_type};
use gelu_kernels::random::{Draw, Mask};
use std::sync::Arc;

/// What follows the product of one network's layer: an activation, and dropout while it trains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceUnit {
    /// The activation.
    pub unit: Unit,
    /// Which outputs are dropped.
    pub dropout: Option<SliceDropout>,
}

impl From<Unit> for SliceUnit {
    fn from(unit: Unit) -> Self {
        Self { unit, dropout: None }
    }
}

/// Dropout of one network's outputs: element `i` of `[batch, columns]`, in row-major order, is dropped if number
/// `i` of the draw's sequence is less than `threshold`, and otherwise multiplied by `1/(1 − threshold/2³²)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceDropout {
    /// The random numbers.
    pub draw: Draw,
    /// The probability · 2³².
    pub threshold: u32,
}

impl SliceDropout {
    /// The probability is rounded to a multiple of 2⁻³².
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn new(probability: f64, draw: Draw) -> Self {
        Self { draw, threshold: Mask::threshold_of(probability) }
    }
}

/// What follows the products of a cohort's layer, network by network.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceUnits(Arc<[SliceUnit]>);

impl SliceUnits {
    /// Of so many networks alike.
    pub fn all(unit: Unit, slices: usize) -> Self {
        std::iter::repeat_n(SliceUnit::from(unit), slices).collect()
    }

    /// Those of each network.
    pub fn slices(&self) -> &[SliceUnit] {
        &self.0
    }

    /// The activation of all networks, where it is one and nothing is dropped.
    pub(super) fn common(&self) -> Option<Unit> {
        let first = self.0.first()?;
        let is_alike = |other: &SliceUnit| other == first && other.dropout.is_none();
        self.0.iter().all(is_alike).then_some(first.unit)
    }

    /// The same with their parameters as tensors of this type hold them.
    pub(super) fn in_type(&self, dtype: DType) -> Self {
        let rounded = |slice: &SliceUnit| SliceUnit { unit: in_type(slice.unit, dtype), ..*slice };
        self.0.iter().map(rounded).collect()
    }
}

impl FromIterator<SliceUnit> for SliceUnits {
    fn from_iter<I: IntoIterator<Item = SliceUnit>>(slices: I) -> Self {
        Self(slices.into_iter().collect())
    }
}
