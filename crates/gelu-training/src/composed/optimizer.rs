use super::cast;
use crate::{AdamStep, EpsilonPlace, SgdStep};
use burn_core::backend::{
    Backend, Scalar, TensorMetadata, get_or_init_device_settings, tensor::FloatTensor,
};
use burn_core::tensor::BoolDType;

fn scaled<B: Backend>(x: FloatTensor<B>, factor: f64) -> FloatTensor<B> {
    B::float_mul_scalar(x, Scalar::Float(factor))
}

/// Returns the type of the device's comparison results.
fn bool_type<B: Backend>(x: &FloatTensor<B>) -> BoolDType {
    get_or_init_device_settings::<B>(&x.device()).bool_dtype
}

pub(crate) fn adam_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let moments = moments::<B>(&parameter, gradient, [moment_1, moment_2], step);
    let [moment_1, moment_2] = moments.clone();
    (stepped::<B>(parameter, moments, step), moment_1, moment_2)
}

pub(crate) fn amsgrad_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    maximum: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let [moment_1, moment_2] = moments::<B>(&parameter, gradient, [moment_1, moment_2], step);
    let is_greater = B::float_greater(moment_2.clone(), maximum.clone(), bool_type::<B>(&maximum));
    let maximum = B::float_mask_where(maximum, is_greater, moment_2.clone());
    let parameter = stepped::<B>(parameter, [moment_1.clone(), maximum.clone()], step);
    (parameter, moment_1, moment_2, maximum)
}

/// Returns the two moments after a gradient.
fn moments<B: Backend>(
    parameter: &FloatTensor<B>,
    gradient: FloatTensor<B>,
    [moment_1, moment_2]: [FloatTensor<B>; 2],
    step: AdamStep,
) -> [FloatTensor<B>; 2] {
    let AdamStep { beta_1, beta_2, penalty, .. } = step;
    let gradient = penalised::<B>(cast::<B>(gradient, moment_1.dtype()), parameter, penalty);
    let squared = B::float_mul(gradient.clone(), gradient.clone());
    [
        B::float_add(scaled::<B>(moment_1, beta_1), scaled::<B>(gradient, 1.0 - beta_1)),
        B::float_add(scaled::<B>(moment_2, beta_2), scaled::<B>(squared, 1.0 - beta_2)),
    ]
}

/// Returns the gradient plus that of an L2 penalty.
fn penalised<B: Backend>(
    gradient: FloatTensor<B>,
    parameter: &FloatTensor<B>,
    penalty: f64,
) -> FloatTensor<B> {
    if penalty == 0.0 {
        return gradient;
    }
    let parameter = cast::<B>(parameter.clone(), gradient.dtype());
    B::float_add(gradient, scaled::<B>(parameter, penalty))
}

/// Returns the parameter after a step along the first moment, divided by the root of the second.
fn stepped<B: Backend>(
    parameter: FloatTensor<B>,
    [moment_1, moment_2]: [FloatTensor<B>; 2],
    step: AdamStep,
) -> FloatTensor<B> {
    let AdamStep { rate, epsilon, epsilon_place, .. } = step;
    let dtype = parameter.dtype();
    let parameter = cast::<B>(parameter, moment_1.dtype());
    let shifted = |x| B::float_add_scalar(x, Scalar::Float(epsilon));
    let mut divisor = match epsilon_place {
        EpsilonPlace::Outside => shifted(B::float_sqrt(moment_2.clone())),
        EpsilonPlace::Inside => B::float_sqrt(shifted(moment_2.clone())),
    };
    let of_zero = step.epsilon_of_zero();
    if of_zero != epsilon {
        let dtype = bool_type::<B>(&moment_2);
        let is_zero = B::float_equal_elem(moment_2, Scalar::Float(0.0), dtype);
        divisor = B::float_mask_fill(divisor, is_zero, Scalar::Float(of_zero));
    }
    let change = B::float_div(scaled::<B>(moment_1.clone(), rate), divisor);
    cast::<B>(B::float_sub(decayed::<B>(parameter, moment_1, step), change), dtype)
}

/// Returns the parameter after decoupled decay.
fn decayed<B: Backend>(
    parameter: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    step: AdamStep,
) -> FloatTensor<B> {
    let AdamStep { kept, kept_against, .. } = step;
    let left = |parameter: FloatTensor<B>, kept: f64| match kept {
        1.0 => parameter,
        kept => scaled::<B>(parameter, kept),
    };
    if kept == kept_against {
        return left(parameter, kept);
    }
    let dtype = bool_type::<B>(&parameter);
    let [weight, moment] = [parameter.clone(), moment_1]
        .map(|x| B::float_greater_equal_elem(x, Scalar::Float(0.0), dtype));
    let against = B::bool_not_equal(weight, moment);
    B::float_mask_where(left(parameter.clone(), kept), against, left(parameter, kept_against))
}

pub(crate) fn sgd_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    velocity: FloatTensor<B>,
    step: SgdStep,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let SgdStep { rate, momentum, taken_up, nesterov, weight_decay } = step;
    let (dtype, wide) = (parameter.dtype(), velocity.dtype());
    let [parameter, gradient] = [parameter, gradient].map(|x| cast::<B>(x, wide));
    let gradient = penalised::<B>(gradient, &parameter, weight_decay);
    let taken_up = match taken_up {
        1.0 => gradient.clone(),
        part => scaled::<B>(gradient.clone(), part),
    };
    let velocity = B::float_add(scaled::<B>(velocity, momentum), taken_up);
    let direction = match nesterov {
        true => B::float_add(gradient, scaled::<B>(velocity.clone(), momentum)),
        false => velocity.clone(),
    };
    (cast::<B>(B::float_sub(parameter, scaled::<B>(direction, rate)), dtype), velocity)
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::super::beside::{assert_near, wave};
    use super::*;
    use crate::{AdamConfig, TrainingOps, WeightDecay};
    use burn_core::backend::Flex;
    use burn_core::tensor::{DType, TensorData};

    type Primitive = FloatTensor<Flex>;

    fn tensor(values: [f32; 3], dtype: DType) -> Primitive {
        Primitive::from_data(TensorData::new(values.to_vec(), [3]).convert_dtype(dtype))
    }

    fn numbers(x: &Primitive) -> Vec<f64> {
        x.clone().into_data().iter::<f64>().collect()
    }

    /// Compares with the kernels; the kernels' own test compares them with f64.
    #[test]
    fn sixteen_bits_are_stepped_as_by_a_kernel() {
        for dtype in [DType::F16, DType::BF16] {
            for size in [0.0, 1e-8, 1e-3, 0.5, 100.0] {
                for place in [EpsilonPlace::Outside, EpsilonPlace::Inside] {
                    let adam = AdamConfig::new().with_epsilon_place(place).build();
                    let sgd = SgdStep {
                        rate: 1e-3,
                        momentum: 0.9,
                        taken_up: 0.9,
                        nesterov: true,
                        weight_decay: 1e-3,
                    };
                    let start = || tensor([1.0, -0.5, 0.25], dtype);
                    let zeros = || tensor([0.0; 3], DType::F32);
                    let mut kernel = (start(), zeros(), zeros());
                    let mut ours = kernel.clone();
                    let (mut kernel_sgd, mut ours_sgd) = ((start(), zeros()), (start(), zeros()));
                    for time in 1..=1_000 {
                        let g = [1.0, (time as f32).sin(), (0.3 * time as f32).cos()];
                        let g = || tensor(g.map(|g| g * size), dtype);
                        let step = adam.numbers(1e-3, time);
                        kernel = Flex::adam_step(kernel.0, g(), kernel.1, kernel.2, step);
                        ours = adam_step::<Flex>(ours.0, g(), ours.1, ours.2, step);
                        kernel_sgd = Flex::sgd_step(kernel_sgd.0, g(), kernel_sgd.1, sgd);
                        ours_sgd = sgd_step::<Flex>(ours_sgd.0, g(), ours_sgd.1, sgd);
                    }
                    for (ours, kernel) in [
                        (&ours.0, &kernel.0),
                        (&ours.1, &kernel.1),
                        (&ours.2, &kernel.2),
                        (&ours_sgd.0, &kernel_sgd.0),
                        (&ours_sgd.1, &kernel_sgd.1),
                    ] {
                        assert_eq!(ours.dtype(), kernel.dtype());
                        let digits = if ours.dtype() == DType::F32 { 1e-5 } else { 2e-2 };
                        let (ours, kernel) = (numbers(ours), numbers(kernel));
                        let largest = kernel.iter().map(|x| x.abs()).fold(0.0, f64::max);
                        for (ours, kernel) in ours.into_iter().zip(kernel) {
                            let off = (ours - kernel).abs();
                            assert!(off <= digits * largest, "{dtype:?} {size}: {ours} {kernel}");
                        }
                    }
                }
            }
        }
    }

    /// Tests f32 with numbers that show each term of the formula: an ε as large as the moments, and moments
    /// above and below the maximum so far.
    #[test]
    fn steps_of_every_form_are_the_kernels() {
        let decays = [WeightDecay::NONE, WeightDecay::Penalty(0.3), WeightDecay::Cautious(0.3)];
        for place in [EpsilonPlace::Outside, EpsilonPlace::Inside] {
            for (decay, epsilon) in
                decays.into_iter().flat_map(|decay| [(decay, 0.1), (decay, 1e-8)])
            {
                let step = AdamStep::of(3, 0.1, [0.9, 0.99], epsilon, place).with_decay(decay, 0.1);
                let [w, g, m] = [0.37, 0.71, 1.3].map(|frequency| wave([33], frequency, 0.0));
                let [v, maximum] = [0.9, 1.7].map(|frequency| wave([33], frequency, 1.1));
                let kernel = Flex::adam_step(w.clone(), g.clone(), m.clone(), v.clone(), step);
                let found = adam_step::<Flex>(w.clone(), g.clone(), m.clone(), v.clone(), step);
                for (found, kernel) in <[_; 3]>::from(found).into_iter().zip(<[_; 3]>::from(kernel))
                {
                    assert_near(&format!("{step:?}"), found, kernel);
                }
                let kernel = Flex::amsgrad_step(
                    w.clone(),
                    g.clone(),
                    m.clone(),
                    v.clone(),
                    maximum.clone(),
                    step,
                );
                let found = amsgrad_step::<Flex>(w, g, m, v, maximum, step);
                for (found, kernel) in <[_; 4]>::from(found).into_iter().zip(<[_; 4]>::from(kernel))
                {
                    assert_near(&format!("greatest, {step:?}"), found, kernel);
                }
            }
        }
    }

    /// Tests steps where squares of gradients underflow and ε is negligible; the kernel has the same test.
    #[test]
    fn steps_without_a_second_moment_are_the_kernels() {
        for epsilon in [0.0, 1e-30, 1e-8] {
            let step = AdamStep::of(1, 0.1, [0.9, 0.999], epsilon, EpsilonPlace::Outside);
            let (w, zeros) = (|| tensor([1.0; 3], DType::F32), || tensor([0.0; 3], DType::F32));
            let g = || tensor([1e-19, 1e-30, 0.0], DType::F32);
            let kernel = Flex::adam_step(w(), g(), zeros(), zeros(), step);
            let found = adam_step::<Flex>(w(), g(), zeros(), zeros(), step);
            assert_near(&format!("{epsilon}"), found.0, kernel.0);
        }
    }
}
