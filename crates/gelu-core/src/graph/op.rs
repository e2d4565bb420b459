//! Conversion of an operation to a node of a graph, and back.

use crate::{GateHalf, Unit};
use alloc::vec;
use alloc::vec::Vec;
use burn_core::backend::ir::{CustomOpIr, ScalarIr, TensorId, TensorIr};
use gelu_kernels::functions::Kind;

/// An operation without its tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Activation(Unit),
    ActivationBackward(Unit),
    ActivationCurvature(Unit),
    /// A function with a bias. With a threshold there is also dropout of the elements whose random
    /// number is below it.
    Step(Unit, Option<u32>),
    StepBackward(Unit, Option<u32>),
    /// Dropout of the elements whose random number is below the threshold.
    Dropout(u32),
    Gated(Unit, GateHalf),
    GatedBackward(Unit, GateHalf),
    GatedPair(Unit),
    GatedPairBackward(Unit),
    Stochastic,
    StochasticBackward,
}

impl Op {
    /// The names of the operations on the wire.
    pub(crate) const IDS: [&'static str; 12] = [
        "gelu::activation",
        "gelu::activation_backward",
        "gelu::bias_activation_dropout",
        "gelu::bias_activation_dropout_backward",
        "gelu::stochastic_map",
        "gelu::stochastic_map_backward",
        "gelu::gated",
        "gelu::gated_backward",
        "gelu::dropout",
        "gelu::gated_pair",
        "gelu::gated_pair_backward",
        "gelu::activation_curvature",
    ];

    fn id(self) -> &'static str {
        Self::IDS[match self {
            Self::Activation(_) => 0,
            Self::ActivationBackward(_) => 1,
            Self::Step(..) => 2,
            Self::StepBackward(..) => 3,
            Self::Stochastic => 4,
            Self::StochasticBackward => 5,
            Self::Gated(..) => 6,
            Self::GatedBackward(..) => 7,
            Self::Dropout(_) => 8,
            Self::GatedPair(_) => 9,
            Self::GatedPairBackward(_) => 10,
            Self::ActivationCurvature(_) => 11,
        }]
    }

    /// Returns all that the operation depends on besides its tensors. Graphs are cached by these
    /// scalars.
    fn scalars(self) -> Vec<ScalarIr> {
        let unit = |unit: Unit| {
            let code = ScalarIr::UInt(unit.kind() as u64);
            let parameter = unit.kind().names().parameter;
            let bits = parameter.map(|_| ScalarIr::UInt(unit.parameter().to_bits()));
            [code].into_iter().chain(bits)
        };
        match self {
            Self::Activation(of)
            | Self::ActivationBackward(of)
            | Self::ActivationCurvature(of)
            | Self::GatedPair(of)
            | Self::GatedPairBackward(of) => unit(of).collect(),
            Self::Step(of, threshold) | Self::StepBackward(of, threshold) => {
                let threshold = threshold.map(|threshold| ScalarIr::UInt(u64::from(threshold)));
                unit(of).chain(threshold).collect()
            }
            Self::Dropout(threshold) => vec![ScalarIr::UInt(u64::from(threshold))],
            Self::Gated(of, gate) | Self::GatedBackward(of, gate) => {
                let last = ScalarIr::UInt(u64::from(gate == GateHalf::Last));
                unit(of).chain([last]).collect()
            }
            Self::Stochastic | Self::StochasticBackward => vec![],
        }
    }

    /// Returns the operation with this [`id`](Self::id) and these [`scalars`](Self::scalars).
    ///
    /// # Panics
    ///
    /// If this version does not know the operation, because a server of another version sent it.
    pub(super) fn parse(desc: &CustomOpIr) -> Self {
        let numbers = desc.scalars.iter().map(|scalar| match scalar {
            ScalarIr::UInt(number) => *number,
            other => panic!("`{}` has unsigned arguments only, got {other:?}", desc.id),
        });
        let numbers: Vec<u64> = numbers.collect();
        let none =
            || -> ! { panic!("this version has no operation `{}` with {numbers:?}", desc.id) };
        // Returns the unit, and the numbers after it.
        let unit = || {
            let Some((&code, rest)) = numbers.split_first() else { none() };
            let kind = Kind::from_code(code).unwrap_or_else(|| {
                panic!("`{}` asks for the unit {code}, which this version does not have", desc.id)
            });
            match (kind.names().parameter, rest) {
                (None, rest) => (Unit::from_parts(kind, 0.0), rest),
                (Some(_), [bits, rest @ ..]) => {
                    (Unit::from_parts(kind, f64::from_bits(*bits)).checked(), rest)
                }
                (Some(_), []) => none(),
            }
        };
        let alone = || match unit() {
            (unit, []) => unit,
            _ => none(),
        };
        let step = || match unit() {
            (unit, []) => (unit, None),
            (unit, &[threshold]) => {
                let Ok(threshold) = u32::try_from(threshold) else { none() };
                (unit, Some(threshold))
            }
            _ => none(),
        };
        let gated = || match unit() {
            (unit, &[0]) => (unit, GateHalf::First),
            (unit, &[1]) => (unit, GateHalf::Last),
            _ => none(),
        };
        match desc.id.as_str() {
            "gelu::activation" => Self::Activation(alone()),
            "gelu::activation_backward" => Self::ActivationBackward(alone()),
            "gelu::activation_curvature" => Self::ActivationCurvature(alone()),
            "gelu::bias_activation_dropout" => {
                let (unit, threshold) = step();
                Self::Step(unit, threshold)
            }
            "gelu::bias_activation_dropout_backward" => {
                let (unit, threshold) = step();
                Self::StepBackward(unit, threshold)
            }
            "gelu::dropout" => match numbers[..] {
                [threshold] => Self::Dropout(u32::try_from(threshold).unwrap_or_else(|_| none())),
                _ => none(),
            },
            "gelu::gated" => {
                let (unit, gate) = gated();
                Self::Gated(unit, gate)
            }
            "gelu::gated_backward" => {
                let (unit, gate) = gated();
                Self::GatedBackward(unit, gate)
            }
            "gelu::gated_pair" => Self::GatedPair(alone()),
            "gelu::gated_pair_backward" => Self::GatedPairBackward(alone()),
            "gelu::stochastic_map" if numbers.is_empty() => Self::Stochastic,
            "gelu::stochastic_map_backward" if numbers.is_empty() => Self::StochasticBackward,
            _ => none(),
        }
    }

    /// Returns the node for these inputs. Every result has the shape and type of one of the inputs,
    /// except for a gated unit's, whose last dimension is halved.
    pub(crate) fn describe(
        self,
        inputs: &[TensorIr],
        mut new_id: impl FnMut() -> TensorId,
    ) -> CustomOpIr {
        let mut like =
            |input: &TensorIr| TensorIr::uninit(new_id(), input.shape.clone(), input.dtype);
        let outputs = match (self, inputs) {
            (Self::Gated(..), [x]) => {
                let mut y = like(x);
                if let Some(last) = y.shape.last_mut() {
                    *last /= 2;
                }
                vec![y]
            }
            (Self::StepBackward(..) | Self::GatedPairBackward(_), [first, second, ..]) => {
                vec![like(first), like(second)]
            }
            (_, [x, ..]) => vec![like(x)],
            (_, []) => panic!("an operation has inputs"),
        };
        CustomOpIr::with_scalars(self.id(), inputs, &outputs, self.scalars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::{DType, Shape};

    #[test]
    fn every_operation_is_read_back_from_its_node() {
        let dropped = Some(1 << 30);
        let tensor = TensorIr::uninit(TensorId::new(0), Shape::from([2, 3]), DType::F32);
        let inputs = [tensor.clone(), tensor.clone(), tensor.clone(), tensor];
        for unit in Unit::ALL.into_iter().chain([Unit::Elu { alpha: 0.3 }]) {
            for (op, inputs, outputs) in [
                (Op::Activation(unit), 1, 1),
                (Op::ActivationBackward(unit), 2, 1),
                (Op::ActivationCurvature(unit), 2, 1),
                (Op::Step(unit, None), 2, 1),
                (Op::Step(unit, dropped), 3, 1),
                (Op::StepBackward(unit, None), 3, 2),
                (Op::StepBackward(unit, dropped), 4, 2),
                (Op::Dropout(1 << 30), 2, 1),
                (Op::Gated(unit, GateHalf::First), 1, 1),
                (Op::GatedBackward(unit, GateHalf::Last), 2, 1),
                (Op::GatedPair(unit), 2, 1),
                (Op::GatedPairBackward(unit), 3, 2),
                (Op::Stochastic, 2, 1),
                (Op::StochasticBackward, 3, 1),
            ]
            .map(|(op, count, outputs)| (op, &inputs[..count], outputs))
            {
                let desc = op.describe(inputs, || TensorId::new(1));
                assert_eq!(Op::parse(&desc), op);
                assert_eq!(desc.outputs.len(), outputs);
                assert!(Op::IDS.contains(&desc.id.as_str()));
            }
        }
    }

    #[test]
    #[should_panic(expected = "asks for the unit 255, which this version does not have")]
    fn unit_of_another_version_is_refused() {
        let code = vec![ScalarIr::UInt(255)];
        Op::parse(&CustomOpIr::with_scalars("gelu::activation", &[], &[], code));
    }

    #[test]
    #[should_panic(expected = "the beta of `softplus` is a number from 1e-18 to 1e18, got `-1`")]
    fn parameter_that_the_function_does_not_take_is_refused() {
        let code = Unit::Softplus { beta: 1.0 }.kind() as u64;
        let scalars = [code, (-1f64).to_bits()].map(ScalarIr::UInt).to_vec();
        Op::parse(&CustomOpIr::with_scalars("gelu::activation", &[], &[], scalars));
    }

    #[test]
    #[should_panic(expected = "no operation `gelu::activation` with [1, 2]")]
    fn node_of_another_version_is_refused() {
        let two = vec![ScalarIr::UInt(1), ScalarIr::UInt(2)];
        Op::parse(&CustomOpIr::with_scalars("gelu::activation", &[], &[], two));
    }
}
