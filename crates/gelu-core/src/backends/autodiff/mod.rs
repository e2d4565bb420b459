//! Functions of one tensor and of two: their backward passes, and how an output that gradient checkpointing has
//! dropped is computed again.

mod map;
mod pair;
mod recompute;

use crate::{ActivationOps, GateHalf, Unit};
use burn_autodiff::{Autodiff, checkpoint::strategy::CheckpointStrategy};
use burn_core::backend::tensor::{FloatTensor, IntTensor};
use map::{Map, mapped};
use pair::{Pair, paired};

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
}
