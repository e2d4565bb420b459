use super::CohortOps;
use crate::backends::dispatched;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;

/// The mean squared error of each network, as [`MseLoss`](burn_nn::loss::MseLoss) has it.
///
/// # Shapes
///
/// - outputs and targets: `[slices, batch, numbers]`
/// - result: `[slices]`
///
/// # Panics
///
/// If the shapes differ.
pub fn squared_errors(outputs: Tensor<3>, targets: Tensor<3>) -> Tensor<1> {
    let dims = outputs.dims();
    assert_eq!(dims, targets.dims(), "outputs and targets have one shape");
    let [slices, batch, numbers] = dims;
    means(outputs.sub(targets).square().reshape([slices, batch * numbers]))
}

/// The mean log loss of each network, as [`CrossEntropyLoss`](burn_nn::loss::CrossEntropyLoss) has it: the class
/// `targets` names has probability `1 − smoothing`, and `smoothing` is shared by all classes alike.
///
/// # Shapes
///
/// - logits: `[slices, batch, classes]`
/// - targets: `[slices, batch]`
/// - result: `[slices]`
///
/// # Panics
///
/// If the shapes do not fit.
pub fn cross_entropies(logits: Tensor<3>, targets: Tensor<2, Int>, smoothing: f32) -> Tensor<1> {
    let ([slices, batch, classes], device) = (logits.dims(), logits.device());
    assert_eq!(targets.dims(), [slices, batch], "there is a class for each row of logits");
    let (logs, indices) = (log_softmax(logits, 2), targets.reshape([slices, batch, 1]));
    let losses = match smoothing > 0.0 {
        true => {
            let ones = Tensor::<3>::ones([slices, batch, 1], &device);
            let all = Tensor::<3>::zeros([slices, batch, classes], &device);
            let all = all.scatter(2, indices, ones, burn::tensor::IndexingUpdateOp::Add);
            let probabilities = all * (1.0 - smoothing) + smoothing / classes as f32;
            (logs * probabilities).sum_dim(2)
        }
        false => logs.gather(2, indices),
    };
    means(losses.reshape([slices, batch])).neg()
}

/// The mean of each row.
fn means(rows: Tensor<2>) -> Tensor<1> {
    Tensor::from_dispatch(Dispatch::cohort_means(dispatched(rows)))
}
