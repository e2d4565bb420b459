//! The backward passes of functions of one tensor and of two tensors, and the recomputation of outputs that
//! gradient checkpointing has dropped.

mod map;
mod pair;

use crate::random::{draw_of, mask_of};
use crate::{ActivationOps, GateHalf, Unit, composed};
use burn_autodiff::{Autodiff, checkpoint::strategy::CheckpointStrategy};
use burn_core::backend::tensor::{FloatTensor, IntTensor};
use map::{Map, mapped};
use pair::{Pair, paired};

/// Recomputes an output that gradient checkpointing has dropped.
#[derive(Debug)]
struct Recompute<S>(S);

impl<B: ActivationOps, C: CheckpointStrategy> ActivationOps for Autodiff<B, C> {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Unit(unit))
    }

    fn activation_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        paired::<B, C>(x, dy, Pair::Slope(unit))
    }

    fn dropout(x: FloatTensor<Self>, key: IntTensor<Self>, threshold: u32) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Dropout(key, threshold))
    }

    fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Gated(unit, gate))
    }

    fn gated_pair(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        paired::<B, C>(gate, value, Pair::Gated(unit))
    }

    fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
        mapped::<B, C>(x, Map::Stochastic(key))
    }

    fn bias_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        paired::<B, C>(x, bias, Pair::Step(unit, None))
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> FloatTensor<Self> {
        paired::<B, C>(x, bias, Pair::Step(unit, Some((key, threshold))))
    }

    // These backward passes are differentiated in turn. They are composed without checkpointing, whichever strategy
    // the device has, because a second strategy would compile all of Burn's operations in them once more.

    fn activation_curvature(
        x: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::curvature::<Autodiff<B>>(x, factor, unit)
    }

    fn bias_activation_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::bias_activation_dropout_backward::<Autodiff<B>>(x, bias, dy, unit, None)
    }

    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let mask = mask_of::<Autodiff<B>>(key, threshold);
        composed::bias_activation_dropout_backward::<Autodiff<B>>(x, bias, dy, unit, Some(mask))
    }

    fn gated_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        gate: GateHalf,
    ) -> FloatTensor<Self> {
        composed::gated_backward::<Autodiff<B>>(x, dy, unit, gate)
    }

    fn gated_pair_backward(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::gated_pair_backward::<Autodiff<B>>(gate, value, dy, unit)
    }

    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        composed::stochastic_map::<Autodiff<B>>(x, dy, draw_of::<Autodiff<B>>(key))
    }
}
