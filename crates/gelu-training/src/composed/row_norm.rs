use burn_core::backend::{Backend, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::Shape;

pub(crate) fn row_norm<B: Backend>(
    x: FloatTensor<B>,
    gamma: FloatTensor<B>,
    epsilon: f64,
    centred: bool,
) -> FloatTensor<B> {
    B::float_mul(normed::<B>(x, epsilon, centred).0, row::<B>(gamma))
}

/// With x̂ the norm without γ: `scale·(γ·g − mean(γ·g) − x̂·mean(γ·g·x̂))`, the first mean only where it was
/// taken off x; and `Σ g·x̂` for γ.
pub(crate) fn row_norm_gradients<B: Backend>(
    x: FloatTensor<B>,
    gamma: FloatTensor<B>,
    gradient: FloatTensor<B>,
    epsilon: f64,
    centred: bool,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let width = x.shape()[1];
    let (normed, scale) = normed::<B>(x, epsilon, centred);
    let of_gamma = B::float_sum_dim(B::float_mul(gradient.clone(), normed.clone()), 0);
    let inner = B::float_mul(gradient, row::<B>(gamma));
    let slope = B::float_mean_dim(B::float_mul(inner.clone(), normed.clone()), 1);
    let without = match centred {
        true => B::float_sub(inner.clone(), B::float_mean_dim(inner, 1)),
        false => inner,
    };
    let of_x = B::float_mul(B::float_sub(without, B::float_mul(normed, slope)), scale);
    (of_x, B::float_reshape(of_gamma, Shape::from([width])))
}

/// The norm without γ, and what it was multiplied by.
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
