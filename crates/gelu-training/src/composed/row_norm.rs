use super::{cast, widened};
use burn_core::backend::{Backend, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::Shape;

pub(crate) fn row_norm<B: Backend>(
    x: FloatTensor<B>,
    gamma: FloatTensor<B>,
    epsilon: f64,
    centred: bool,
) -> FloatTensor<B> {
    let (dtype, [x, gamma]) = (x.dtype(), [x, gamma].map(widened::<B>));
    cast::<B>(B::float_mul(normed::<B>(x, epsilon, centred).0, row::<B>(gamma)), dtype)
}

/// Returns the gradients for x and γ. With x̂ the norm without γ, they are
/// `scale·(γ·g − mean(γ·g) − x̂·mean(γ·g·x̂))` for x and `Σ g·x̂` for γ. The first mean is only subtracted
/// if the norm is centred.
pub(crate) fn row_norm_gradients<B: Backend>(
    x: FloatTensor<B>,
    gamma: FloatTensor<B>,
    gradient: FloatTensor<B>,
    epsilon: f64,
    centred: bool,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let ([x_type, gamma_type], width) = ([x.dtype(), gamma.dtype()], x.shape()[1]);
    let [x, gamma, gradient] = [x, gamma, gradient].map(widened::<B>);
    let (normed, scale) = normed::<B>(x, epsilon, centred);
    let of_gamma = B::float_sum_dim(B::float_mul(gradient.clone(), normed.clone()), 0);
    let inner = B::float_mul(gradient, row::<B>(gamma));
    let slope = B::float_mean_dim(B::float_mul(inner.clone(), normed.clone()), 1);
    let without = match centred {
        true => B::float_sub(inner.clone(), B::float_mean_dim(inner, 1)),
        false => inner,
    };
    let of_x = B::float_mul(B::float_sub(without, B::float_mul(normed, slope)), scale);
    let of_gamma = B::float_reshape(of_gamma, Shape::from([width]));
    (cast::<B>(of_x, x_type), cast::<B>(of_gamma, gamma_type))
}

/// Returns the norm without γ, and the factor that it multiplied by.
fn normed<B: Backend>(
    x: FloatTensor<B>,
    epsilon: f64,
    centred: bool,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let x = match centred {
        true => B::float_sub(x.clone(), B::float_mean_dim(x, 1)),
        false => x,
    };
    let square = B::float_mean_dim(B::float_mul(x.clone(), x.clone()), 1);
    let scale = B::float_recip(B::float_sqrt(B::float_add_scalar(square, epsilon.into())));
    (B::float_mul(x, scale.clone()), scale)
}

fn row<B: Backend>(gamma: FloatTensor<B>) -> FloatTensor<B> {
    let width = gamma.shape()[0];
    B::float_reshape(gamma, Shape::from([1, width]))
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::super::beside::{assert_near, wave};
    use super::*;
    use crate::TrainingOps;
    use burn_core::backend::Flex;

    #[test]
    fn norms_and_gradients_are_the_kernels() {
        for (epsilon, centred) in [(1e-5, true), (1e-5, false), (0.5, true), (0.5, false)] {
            let (x, gamma) = (wave([5, 7], 0.37, 2.0), wave([7], 0.9, 1.0));
            let gradient = || wave([5, 7], 0.71, 0.0);
            let found = row_norm::<Flex>(x.clone(), gamma.clone(), epsilon, centred);
            let kernel = Flex::row_norm(x.clone(), gamma.clone(), epsilon, centred);
            assert_near("norm", found, kernel);
            let found =
                row_norm_gradients::<Flex>(x.clone(), gamma.clone(), gradient(), epsilon, centred);
            let kernel = Flex::row_norm_gradients(x, gamma, gradient(), epsilon, centred);
            assert_near("of x", found.0, kernel.0);
            assert_near("of γ", found.1, kernel.1);
        }
    }
}
