//! Prepares two factors of a product for processors that are slow at [subnormal numbers](crate::kernels::subnormal),
//! which count as 0. In a dying layer nearly all numbers are below 2⁻⁶³, and so are its gradients: their products
//! are subnormal although the factors are not. This module therefore multiplies one factor by a power of two, and
//! divides the product by it afterwards, which changes no bit of a sum above 2⁻¹⁰².

use crate::kernels::extent::Extent;
use crate::kernels::subnormal::unless_subnormal;
use gelu_kernels::{Level, Work};
use std::borrow::Cow;

/// Both factors of a product without subnormal numbers; one of them may be scaled.
#[derive(Clone, Debug)]
pub(crate) struct Factors<'a> {
    pub(crate) left: Cow<'a, [f32]>,
    pub(crate) right: Cow<'a, [f32]>,
    /// The factor that the product has to be multiplied by: a power of two.
    pub(crate) scale: f32,
}

impl<'a> Factors<'a> {
    /// Prepares a product whose sums have `depth` terms.
    pub(crate) fn new(left: &'a [f32], right: &'a [f32], depth: usize) -> Self {
        let (extent, other) = (Extent::of(left), Extent::of(right));
        Self {
            right: replaced(right, other, 1.0),
            ..Self::of_extents(left, extent, right, other, depth)
        }
    }

    /// Prepares a product with a layer's weights on the right. The weights are only read if the left factor has
    /// numbers below 2⁻⁶³, because weights are not that small unless they are 0. The weights stay unchanged.
    pub(crate) fn with_weights(left: &'a [f32], weights: &'a [f32], depth: usize) -> Self {
        let extent = Extent::of(left);
        let other = if extent.has_tiny() { Extent::of(weights) } else { Extent::NONE };
        Self::of_extents(left, extent, weights, other, depth)
    }

    fn of_extents(
        left: &'a [f32],
        extent: Extent,
        right: &'a [f32],
        other: Extent,
        depth: usize,
    ) -> Self {
        let scale = extent.scale(other, depth);
        Self {
            left: replaced(left, extent, scale),
            right: Cow::Borrowed(right),
            scale: 1.0 / scale,
        }
    }
}

/// Returns the numbers times a power of two, with 0 instead of subnormal numbers. Copies them only if that changes
/// any.
fn replaced(numbers: &[f32], extent: Extent, scale: f32) -> Cow<'_, [f32]> {
    match scale == 1.0 && !extent.has_subnormals() {
        true => Cow::Borrowed(numbers),
        false => Cow::Owned(Level::best().run(Replaced { numbers, scale })),
    }
}

struct Replaced<'a> {
    numbers: &'a [f32],
    scale: f32,
}

impl Work for Replaced<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> Vec<f32> {
        self.numbers.iter().map(|&x| unless_subnormal(x) * self.scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnormal_numbers_alone_become_0() {
        let least = f32::MIN_POSITIVE;
        let kept = [0.0, -0.0, least, -least, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let lost = [f32::from_bits(1), -f32::from_bits(1), least.next_down(), -least.next_down()];
        let numbers: Vec<f32> = kept.into_iter().chain(lost).cycle().take(10_001).collect();
        let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let expected: Vec<f32> =
            numbers.iter().map(|&x| if x.is_subnormal() { 0.0 } else { x }).collect();
        for level in Level::available() {
            let replaced = level.run(Replaced { numbers: &numbers, scale: 1.0 });
            assert_eq!(bits(&replaced), bits(&expected), "{level:?}");
        }
        let factors = Factors::new(&numbers, &numbers, 1);
        assert_eq!([bits(&factors.left), bits(&factors.right)], [bits(&expected), bits(&expected)]);
    }

    #[test]
    fn nothing_is_copied_without_need() {
        let (numbers, weights) = (vec![0.5; 100], vec![0.25; 100]);
        let factors = Factors::new(&numbers, &weights, 10);
        assert!(matches!((&factors.left, &factors.right), (Cow::Borrowed(_), Cow::Borrowed(_))));
        assert_eq!(factors.scale, 1.0);
        // These numbers are small, but none of their factors is.
        let small = vec![1e-30; 100];
        let factors = Factors::with_weights(&small, &weights, 10);
        assert!(matches!((&factors.left, factors.scale), (Cow::Borrowed(_), 1.0)));
        let factors = Factors::new(&small, &small, 10);
        assert!(matches!((&factors.left, &factors.right), (Cow::Owned(_), Cow::Borrowed(_))));
        assert_eq!(factors.left[7] * factors.scale, small[7]);
        assert!((factors.left[7] * small[7]).is_normal());
    }
}
