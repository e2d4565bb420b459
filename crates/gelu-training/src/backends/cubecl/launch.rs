//! Launches the kernels: checks shapes, chooses vector widths, and decides which tensor's memory
//! the results reuse.

use super::kernel;
use crate::captured::WIDTH;
use crate::{AdamStep, EpsilonPlace, SgdStep};
use burn_core::backend::TensorMetadata;
use burn_core::tensor::DType;
use burn_cubecl::cubecl::ir::{ElemType, FloatKind};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::cubecl::{CubeCount, calculate_cube_count_elemwise};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;

/// The division of a tensor's elements between a kernel's units of work.
struct Spread {
    cubes: CubeCount,
    cube: CubeDim,
    width: usize,
}

impl Spread {
    /// Returns the division for tensors of the same shape, with the widest vectors that both
    /// tensors can be read in.
    fn over(tensors: [&CubeTensor; 2]) -> Self {
        let (x, elements) = (tensors[0], tensors[0].shape().num_elements());
        let divides = |width: &usize| elements.is_multiple_of(*width);
        let width = |x: &CubeTensor| {
            x.client.io_optimized_vector_sizes(x.dtype.size()).find(divides).unwrap_or(1)
        };
        let width = tensors.map(width).into_iter().min().unwrap_or(1);
        let units = elements / width;
        let cube = CubeDim::new(&x.client, units);
        Self { cubes: calculate_cube_count_elemwise(&x.client, units, cube), cube, width }
    }
}

/// Returns the storage type of a tensor that has a kernel.
fn element(x: &CubeTensor) -> ElemType {
    ElemType::Float(match x.dtype {
        DType::F32 => FloatKind::F32,
        DType::F16 => FloatKind::F16,
        DType::BF16 => FloatKind::BF16,
        dtype => panic!("the kernels are for f32, f16 and bf16, got {dtype:?}"),
    })
}

/// The numbers of steps on the device, and where those of one begin.
pub(super) struct Numbers {
    pub(super) all: CubeTensor,
    pub(super) first: usize,
}

impl Numbers {
    /// As a kernel takes them. Without any, the host's are taken.
    fn of(numbers: Option<Self>) -> (Option<TensorArg>, u32) {
        match numbers {
            Some(Self { all, first }) => {
                assert!(
                    all.dtype == DType::F32 && all.shape().num_elements() >= first + WIDTH,
                    "the numbers of a step are {WIDTH} of f32 from {first} on, got {:?} {:?}",
                    all.shape(),
                    all.dtype
                );
                (Some(into_contiguous(all).into_tensor_arg()), first as u32)
            }
            None => (None, 0),
        }
    }
}

/// The memory that a new parameter takes: its own where a step is made in place or nobody else holds it, and else
/// the gradient's.
fn output(
    parameter: &CubeTensor,
    gradient: CubeTensor,
    in_place: bool,
) -> (CubeTensor, CubeTensor, usize) {
    match in_place || parameter.can_mut() {
        true => (into_contiguous(gradient), parameter.clone(), 0),
        false => {
            let gradient = owned(gradient);
            (gradient.clone(), gradient, 1)
        }
    }
}

/// The moment in memory that a step may write to.
fn writable(moment: CubeTensor, in_place: bool) -> CubeTensor {
    if in_place { into_contiguous(moment) } else { owned(moment) }
}

/// Returns the tensor in memory that no other tensor shares.
fn owned(x: CubeTensor) -> CubeTensor {
    let x = into_contiguous(x);
    if x.can_mut() { x } else { x.copy() }
}

/// Checks shapes and types, because the kernels read all tensors unchecked, at the positions of one
/// of them.
fn assert_fit(parameter: &CubeTensor, gradient: &CubeTensor, moments: &[&CubeTensor]) {
    let shape = parameter.shape();
    assert!(
        gradient.shape() == shape && gradient.dtype == parameter.dtype,
        "a parameter and its gradient have one shape and type, got {shape:?} {:?} and {:?} {:?}",
        parameter.dtype,
        gradient.shape(),
        gradient.dtype,
    );
    for moment in moments {
        assert!(
            moment.shape() == shape && moment.dtype == DType::F32,
            "the moments of a parameter have its shape, {shape:?}, and are f32, got {:?} {:?}",
            moment.shape(),
            moment.dtype,
        );
    }
}

/// Computes a step. `moments` holds both moments, and for AMSGrad also the maximum. With `numbers`, parameter and
/// moments are written where they are, even if another tensor shares their memory.
pub(super) fn adam<const MOMENTS: usize>(
    parameter: CubeTensor,
    gradient: CubeTensor,
    moments: [CubeTensor; MOMENTS],
    step: AdamStep,
    numbers: Option<Numbers>,
) -> (CubeTensor, [CubeTensor; MOMENTS]) {
    assert_fit(&parameter, &gradient, &moments.each_ref());
    if parameter.shape().num_elements() == 0 {
        return (gradient, moments);
    }
    let in_place = numbers.is_some();
    let parameter = into_contiguous(parameter);
    let (gradient, out, place) = output(&parameter, gradient, in_place);
    let moments = moments.map(|moment| writable(moment, in_place));
    let (numbers, first) = Numbers::of(numbers);
    let Spread { cubes, cube, width } = Spread::over([&parameter, &moments[0]]);
    let (client, element) = (parameter.client.clone(), element(&parameter));
    // SAFETY: the kernel checks its position against the gradient's bounds, and all tensors have
    // the same bounds.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::adam::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            parameter.into_linear_view(),
            gradient.into_linear_view(),
            out.as_linear_view_alias(place),
            moments[0].clone().into_linear_view(),
            moments[1].clone().into_linear_view(),
            moments.get(2).cloned().map(CubeTensor::into_linear_view).into(),
            step.rate as f32,
            step.beta_1 as f32,
            (1.0 - step.beta_1) as f32,
            step.beta_2 as f32,
            (1.0 - step.beta_2) as f32,
            step.epsilon as f32,
            step.epsilon_of_zero() as f32,
            step.penalty as f32,
            step.kept as f32,
            step.kept_against as f32,
            numbers.into(),
            first,
            step.epsilon_place == EpsilonPlace::Inside,
            element,
        );
    }
    (out, moments)
}

/// As [`adam`].
pub(super) fn sgd(
    parameter: CubeTensor,
    gradient: CubeTensor,
    velocity: CubeTensor,
    step: SgdStep,
    numbers: Option<Numbers>,
) -> (CubeTensor, CubeTensor) {
    assert_fit(&parameter, &gradient, &[&velocity]);
    if parameter.shape().num_elements() == 0 {
        return (gradient, velocity);
    }
    let in_place = numbers.is_some();
    let parameter = into_contiguous(parameter);
    let (gradient, out, place) = output(&parameter, gradient, in_place);
    let velocity = writable(velocity, in_place);
    let (numbers, first) = Numbers::of(numbers);
    let Spread { cubes, cube, width } = Spread::over([&parameter, &velocity]);
    let (client, element) = (parameter.client.clone(), element(&parameter));
    // SAFETY: as for `adam`.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::sgd::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            parameter.into_linear_view(),
            gradient.into_linear_view(),
            out.as_linear_view_alias(place),
            velocity.clone().into_linear_view(),
            step.rate as f32,
            step.momentum as f32,
            step.taken_up as f32,
            step.weight_decay as f32,
            numbers.into(),
            first,
            step.nesterov,
            element,
        );
    }
    (out, velocity)
}
