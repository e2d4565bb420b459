//! The operations as nodes of a graph: described once for fusion, for remote devices and for
//! captured graphs.

use crate::functions::Kind;
use crate::{ActivationOps, Draw, DropoutMask, Unit};
use alloc::vec;
use alloc::vec::Vec;
use burn_core::backend::ir::{
    BackendIr, CustomOpIr, HandleContainer, ScalarIr, TensorId, TensorIr,
};

/// An operation without its tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Activation(Unit),
    ActivationBackward(Unit),
    Step(Unit, Option<DropoutMask>),
    StepBackward(Unit, Option<DropoutMask>),
    Stochastic(Draw),
    StochasticBackward(Draw),
}

impl Op {
    /// What they are called on the wire.
    pub(crate) const IDS: [&'static str; 6] = [
        "gelu::activation",
        "gelu::activation_backward",
        "gelu::bias_activation_dropout",
        "gelu::bias_activation_dropout_backward",
        "gelu::stochastic_map",
        "gelu::stochastic_map_backward",
    ];

    fn id(self) -> &'static str {
        Self::IDS[match self {
            Self::Activation(_) => 0,
            Self::ActivationBackward(_) => 1,
            Self::Step(..) => 2,
            Self::StepBackward(..) => 3,
            Self::Stochastic(_) => 4,
            Self::StochasticBackward(_) => 5,
        }]
    }

    /// All that the operation depends on besides its tensors: graphs are cached by it.
    fn scalars(self) -> Vec<ScalarIr> {
        let unit = |unit: Unit| {
            let code = ScalarIr::UInt(unit.kind() as u64);
            let parameter = unit.kind().names().parameter;
            let bits = parameter.map(|_| ScalarIr::UInt(unit.parameter().to_bits()));
            [code].into_iter().chain(bits)
        };
        let draw = |draw: Draw| [ScalarIr::UInt(draw.seed), ScalarIr::UInt(draw.step)];
        match self {
            Self::Activation(of) | Self::ActivationBackward(of) => unit(of).collect(),
            Self::Step(of, dropout) | Self::StepBackward(of, dropout) => {
                let mut scalars: Vec<_> = unit(of).collect();
                if let Some(dropout) = dropout {
                    scalars.extend(draw(dropout.draw()));
                    scalars.push(ScalarIr::UInt(u64::from(dropout.threshold())));
                }
                scalars
            }
            Self::Stochastic(of) | Self::StochasticBackward(of) => draw(of).to_vec(),
        }
    }

    /// What [`id`](Self::id) and [`scalars`](Self::scalars) were made from.
    ///
    /// # Panics
    ///
    /// If they were made by something else: a server of another version.
    fn parse(desc: &CustomOpIr) -> Self {
        let numbers = desc.scalars.iter().map(|scalar| match scalar {
            ScalarIr::UInt(number) => *number,
            other => panic!("`{}` has unsigned arguments only, got {other:?}", desc.id),
        });
        let numbers: Vec<u64> = numbers.collect();
        let none =
            || -> ! { panic!("this version has no operation `{}` with {numbers:?}", desc.id) };
        let draw = |numbers: &[u64]| match *numbers {
            [seed, step] => Draw { seed, step },
            _ => none(),
        };
        // The unit, and the numbers behind it.
        let unit = || {
            let Some((&code, rest)) = numbers.split_first() else { none() };
            let kind = Kind::from_code(code).unwrap_or_else(|| {
                panic!("`{}` asks for the unit {code}, which this version does not have", desc.id)
            });
            match (kind.names().parameter, rest) {
                (None, rest) => (Unit::from_parts(kind, 0.0), rest),
                (Some(_), [bits, rest @ ..]) => {
                    (Unit::from_parts(kind, f64::from_bits(*bits)), rest)
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
            (unit, &[seed, step, threshold]) => {
                let Ok(threshold) = u32::try_from(threshold) else { none() };
                (unit, Some(DropoutMask::from_parts(Draw { seed, step }, threshold)))
            }
            _ => none(),
        };
        match desc.id.as_str() {
            "gelu::activation" => Self::Activation(alone()),
            "gelu::activation_backward" => Self::ActivationBackward(alone()),
            "gelu::bias_activation_dropout" => {
                let (unit, mask) = step();
                Self::Step(unit, mask)
            }
            "gelu::bias_activation_dropout_backward" => {
                let (unit, mask) = step();
                Self::StepBackward(unit, mask)
            }
            "gelu::stochastic_map" => Self::Stochastic(draw(&numbers)),
            "gelu::stochastic_map_backward" => Self::StochasticBackward(draw(&numbers)),
            _ => none(),
        }
    }

    /// The node for these inputs. Every result has the shape and type of one of them.
    pub(crate) fn describe(
        self,
        inputs: &[TensorIr],
        mut new_id: impl FnMut() -> TensorId,
    ) -> CustomOpIr {
        let mut like =
            |input: &TensorIr| TensorIr::uninit(new_id(), input.shape.clone(), input.dtype);
        let outputs = match (self, inputs) {
            (Self::StepBackward(..), [x, bias, _]) => vec![like(x), like(bias)],
            (_, [x, ..]) => vec![like(x)],
            (_, []) => panic!("an operation has inputs"),
        };
        CustomOpIr::with_scalars(self.id(), inputs, &outputs, self.scalars())
    }
}

/// Does on `B` what `desc` describes.
pub(crate) fn execute<B: BackendIr + ActivationOps>(
    handles: &mut HandleContainer<B::Handle>,
    desc: &CustomOpIr,
) {
    let inputs: Vec<_> =
        desc.inputs.iter().map(|input| handles.get_float_tensor::<B>(input)).collect();
    let mut inputs = inputs.into_iter();
    let mut next = || inputs.next().unwrap_or_else(|| panic!("`{}` lacks an input", desc.id));
    let results = match Op::parse(desc) {
        Op::Activation(unit) => vec![B::activation(next(), unit)],
        Op::ActivationBackward(unit) => vec![B::activation_backward(next(), next(), unit)],
        Op::Step(unit, dropout) => {
            vec![B::bias_activation_dropout(next(), next(), unit, dropout)]
        }
        Op::StepBackward(unit, dropout) => {
            let (x, bias, dy) = (next(), next(), next());
            let (dx, sum) = B::bias_activation_dropout_backward(x, bias, dy, unit, dropout);
            vec![dx, sum]
        }
        Op::Stochastic(draw) => vec![B::stochastic_map(next(), draw)],
        Op::StochasticBackward(draw) => vec![B::stochastic_map_backward(next(), next(), draw)],
    };
    for (output, result) in desc.outputs.iter().zip(results) {
        handles.register_float_tensor::<B>(&output.id, result);
    }
}

/// Implements the operations by registering their nodes: `$register(op, [tensors])` gives the
/// outputs.
macro_rules! register_operations {
    ($register:path) => {
        fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
            let [y] = $register(Op::Activation(unit), [x]);
            y
        }

        fn activation_backward(
            x: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            unit: Unit,
        ) -> FloatTensor<Self> {
            let [dx] = $register(Op::ActivationBackward(unit), [x, dy]);
            dx
        }

        fn bias_activation_dropout(
            x: FloatTensor<Self>,
            bias: FloatTensor<Self>,
            unit: Unit,
            dropout: Option<DropoutMask>,
        ) -> FloatTensor<Self> {
            let [y] = $register(Op::Step(unit, dropout), [x, bias]);
            y
        }

        fn bias_activation_dropout_backward(
            x: FloatTensor<Self>,
            bias: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            unit: Unit,
            dropout: Option<DropoutMask>,
        ) -> (FloatTensor<Self>, FloatTensor<Self>) {
            $register(Op::StepBackward(unit, dropout), [x, bias, dy]).into()
        }

        fn stochastic_map(x: FloatTensor<Self>, draw: Draw) -> FloatTensor<Self> {
            let [y] = $register(Op::Stochastic(draw), [x]);
            y
        }

        fn stochastic_map_backward(
            x: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            draw: Draw,
        ) -> FloatTensor<Self> {
            let [dx] = $register(Op::StochasticBackward(draw), [x, dy]);
            dx
        }
    };
}

pub(crate) use register_operations;

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::{DType, Shape};

    #[test]
    fn every_operation_is_read_back_from_its_node() {
        let draw = Draw { seed: u64::MAX, step: 3 };
        let dropout = Some(DropoutMask::new(0.25, draw));
        let tensor = TensorIr::uninit(TensorId::new(0), Shape::from([2, 3]), DType::F32);
        let inputs = [tensor.clone(), tensor.clone(), tensor];
        for unit in Unit::ALL.into_iter().chain([Unit::Elu { alpha: 0.3 }]) {
            for (op, inputs, outputs) in [
                (Op::Activation(unit), 1, 1),
                (Op::ActivationBackward(unit), 2, 1),
                (Op::Step(unit, None), 2, 1),
                (Op::Step(unit, dropout), 2, 1),
                (Op::StepBackward(unit, None), 3, 2),
                (Op::StepBackward(unit, dropout), 3, 2),
                (Op::Stochastic(draw), 1, 1),
                (Op::StochasticBackward(draw), 2, 1),
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
    #[should_panic(expected = "no operation `gelu::activation` with [1, 2]")]
    fn node_of_another_version_is_refused() {
        let two = vec![ScalarIr::UInt(1), ScalarIr::UInt(2)];
        Op::parse(&CustomOpIr::with_scalars("gelu::activation", &[], &[], two));
    }
}
