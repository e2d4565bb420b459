use super::op::Op;
use crate::ActivationOps;
use alloc::vec;
use burn_core::backend::ir::{BackendIr, CustomOpIr, HandleContainer};

/// Executes on `B` the operation that `desc` describes.
pub(crate) fn execute<B: BackendIr + ActivationOps>(
    handles: &mut HandleContainer<B::Handle>,
    desc: &CustomOpIr,
) {
    let op = Op::parse(desc);
    let mut inputs = desc.inputs.iter();
    let mut input = || inputs.next().unwrap_or_else(|| panic!("`{}` lacks an input", desc.id));
    macro_rules! float {
        () => {
            handles.get_float_tensor::<B>(input())
        };
    }
    macro_rules! key {
        () => {
            handles.get_int_tensor::<B>(input())
        };
    }
    let pair = |(dx, sum)| vec![dx, sum];
    let results = match op {
        Op::Activation(unit) => vec![B::activation(float!(), unit)],
        Op::ActivationBackward(unit) => vec![B::activation_backward(float!(), float!(), unit)],
        Op::ActivationCurvature(unit) => vec![B::activation_curvature(float!(), float!(), unit)],
        Op::Step(unit, None) => vec![B::bias_activation(float!(), float!(), unit)],
        Op::Step(unit, Some(threshold)) => {
            vec![B::bias_activation_dropout(float!(), float!(), key!(), unit, threshold)]
        }
        Op::StepBackward(unit, None) => {
            pair(B::bias_activation_backward(float!(), float!(), float!(), unit))
        }
        Op::StepBackward(unit, Some(threshold)) => {
            let (x, bias, dy) = (float!(), float!(), float!());
            let key = key!();
            pair(B::bias_activation_dropout_backward(x, bias, dy, key, unit, threshold))
        }
        Op::Dropout(threshold) => vec![B::dropout(float!(), key!(), threshold)],
        Op::Gated(unit, gate) => vec![B::gated(float!(), unit, gate)],
        Op::GatedBackward(unit, gate) => vec![B::gated_backward(float!(), float!(), unit, gate)],
        Op::GatedPair(unit) => vec![B::gated_pair(float!(), float!(), unit)],
        Op::GatedPairBackward(unit) => {
            pair(B::gated_pair_backward(float!(), float!(), float!(), unit))
        }
        Op::Stochastic => vec![B::stochastic_map(float!(), key!())],
        Op::StochasticBackward => vec![B::stochastic_map_backward(float!(), float!(), key!())],
    };
    for (output, result) in desc.outputs.iter().zip(results) {
        handles.register_float_tensor::<B>(&output.id, result);
    }
}
