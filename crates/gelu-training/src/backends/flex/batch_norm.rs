use crate::kernels::batch_norm::{Buffers, Norm, Statistics};
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, elements_mut, tensor};
use gelu_core::functional::Unit;
use gelu_kernels::Level;

/// Returns whether there is a kernel: only for f32, and if each channel of an image is long enough
/// for a loop.
pub(super) fn has_kernel(x: &FlexTensor) -> bool {
    const LEAST: usize = 8;
    x.dtype() == DType::F32 && x.layout().num_elements() > 0 && plane(x) >= LEAST
}

/// Returns the number of elements in a channel of an image.
fn plane(x: &FlexTensor) -> usize {
    x.layout().shape()[2..].iter().product()
}

/// Applies the norm with given statistics. `parameters` are γ, β, mean and variance.
pub(super) fn forward(
    x: FlexTensor,
    parameters: [FlexTensor; 4],
    epsilon: f64,
    unit: Unit,
) -> FlexTensor {
    let [gamma, beta, mean, variance] = parameters.map(contiguous);
    let by = Statistics { mean: elements(&mean), variance: elements(&variance) };
    apply(x, [gamma, beta], Some(by), epsilon, unit).0
}

/// Applies the norm with the statistics of the batch. Returns the result, the mean and the
/// variance.
pub(super) fn train(
    x: FlexTensor,
    parameters: [FlexTensor; 2],
    epsilon: f64,
    unit: Unit,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let (out, statistics) = apply(x, parameters, None, epsilon, unit);
    let (mean, variance): (Vec<f32>, Vec<f32>) = statistics.into_iter().unzip();
    let shape = Shape::from([mean.len()]);
    (out, tensor(mean, shape.clone()), tensor(variance, shape))
}

/// Applies the norm. `parameters` are γ and β.
fn apply(
    x: FlexTensor,
    parameters: [FlexTensor; 2],
    by: Option<Statistics<'_>>,
    epsilon: f64,
    unit: Unit,
) -> (FlexTensor, Vec<(f32, f32)>) {
    let (mut x, parameters) = (contiguous(x), parameters.map(contiguous));
    let norm = norm(&x, parameters.each_ref().map(elements), epsilon);
    if x.is_unique() {
        let buffers = Buffers::InPlace(elements_mut(&mut x));
        let statistics = norm.apply(Level::best(), buffers, by, unit);
        return (x, statistics);
    }
    let shape = x.layout().shape().clone();
    let mut out = vec![0.0; shape.num_elements()];
    let buffers = Buffers::Apart { x: elements(&x), out: &mut out };
    let statistics = norm.apply(Level::best(), buffers, by, unit);
    (tensor(out, shape), statistics)
}

fn norm<'a>(x: &FlexTensor, [gamma, beta]: [&'a [f32]; 2], epsilon: f64) -> Norm<'a> {
    Norm { batch: x.layout().shape()[0], plane: plane(x), gamma, beta, epsilon }
}

/// Returns the gradients for x, γ and β. `parameters` are γ, β, mean and variance.
pub(super) fn backward(
    x: FlexTensor,
    parameters: [FlexTensor; 4],
    gradient: FlexTensor,
    epsilon: f64,
    unit: Unit,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let (x, mut gradient, parameters) =
        (contiguous(x), contiguous(gradient), parameters.map(contiguous));
    let [gamma, beta, mean, variance] = parameters.each_ref().map(elements);
    let (gamma, beta) = norm(&x, [gamma, beta], epsilon).differentiate(
        Level::best(),
        elements(&x),
        Statistics { mean, variance },
        elements_mut(&mut gradient),
        unit,
    );
    let shape = Shape::from([gamma.len()]);
    (gradient, tensor(gamma, shape.clone()), tensor(beta, shape))
}
