use super::{cast, widened};
use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings, ops::AttentionModuleOptions,
    tensor::FloatTensor,
};
use burn_core::tensor::{Shape, Slice};

/// Returns the output of causal attention. 16-bit types are widened, because products of queries and keys
/// overflow f16 long before their softmax would.
pub(crate) fn causal_attention<B: Backend>(qkv: FloatTensor<B>, heads: usize) -> FloatTensor<B> {
    let dtype = qkv.dtype();
    let [query, key, value] = parts::<B>(widened::<B>(qkv), heads);
    let options = AttentionModuleOptions { is_causal: true, ..Default::default() };
    cast::<B>(side_by_side::<B>(B::attention(query, key, value, None, None, options)), dtype)
}

pub(crate) fn causal_attention_train<B: Backend>(
    qkv: FloatTensor<B>,
    heads: usize,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let dtype = qkv.dtype();
    let [query, key, value] = parts::<B>(widened::<B>(qkv), heads);
    let scores = B::float_matmul(query, B::float_transpose(key));
    let scores = B::float_mul_scalar(scores, scale(&value.shape()).into());
    let weights = B::softmax(masked::<B>(scores), 3);
    let out = side_by_side::<B>(B::float_matmul(weights.clone(), value));
    (cast::<B>(out, dtype), cast::<B>(weights, dtype))
}

/// Returns the gradient for `qkv`. With G the gradient of the output, it consists of `dV = Pᵀ·G`, and with
/// `dS = P∘(G·Vᵀ − rowsum(P∘(G·Vᵀ)))/√size`, `dQ = dS·K` and `dK = dSᵀ·Q`.
pub(crate) fn causal_attention_gradient<B: Backend>(
    qkv: FloatTensor<B>,
    weights: FloatTensor<B>,
    gradient: FloatTensor<B>,
    heads: usize,
) -> FloatTensor<B> {
    let (dtype, [qkv, weights, gradient]) =
        (qkv.dtype(), [qkv, weights, gradient].map(widened::<B>));
    let [batch, length, width] = gradient.shape().dims();
    let [query, key, value] = parts::<B>(qkv, heads);
    let by_head = Shape::from([batch, length, heads, width / heads]);
    let gradient = B::float_swap_dims(B::float_reshape(gradient, by_head), 1, 2);
    let scale = scale(&value.shape());
    let of_value = B::float_matmul(B::float_transpose(weights.clone()), gradient.clone());
    let of_weights = B::float_matmul(gradient, B::float_transpose(value));
    let share = B::float_mul(weights.clone(), of_weights.clone());
    let of_scores = B::float_mul(weights, B::float_sub(of_weights, B::float_sum_dim(share, 3)));
    let of_scores = B::float_mul_scalar(of_scores, scale.into());
    let of_query = B::float_matmul(of_scores.clone(), key);
    let of_key = B::float_matmul(B::float_transpose(of_scores), query);
    let of_qkv = B::float_cat([of_query, of_key, of_value].map(side_by_side::<B>).into(), 2);
    cast::<B>(of_qkv, dtype)
}

/// Returns queries, keys and values, each `[batch, heads, length, size]`.
fn parts<B: Backend>(qkv: FloatTensor<B>, heads: usize) -> [FloatTensor<B>; 3] {
    let [batch, length, width] = qkv.shape().dims();
    let size = width / 3 / heads;
    let split = B::float_reshape(qkv, Shape::from([batch, length, 3, heads, size]));
    [0, 1, 2].map(|part| {
        let all = Slice::full();
        let slices = [all, all, Slice::new(part, Some(part + 1), 1), all, all];
        let part = B::float_slice(split.clone(), &slices);
        let part = B::float_reshape(part, Shape::from([batch, length, heads, size]));
        B::float_swap_dims(part, 1, 2)
    })
}

/// Converts `[batch, heads, length, size]` to `[batch, length, heads·size]`.
fn side_by_side<B: Backend>(by_head: FloatTensor<B>) -> FloatTensor<B> {
    let [batch, heads, length, size] = by_head.shape().dims();
    let by_place = B::float_swap_dims(by_head, 1, 2);
    B::float_reshape(by_place, Shape::from([batch, length, heads * size]))
}

/// Returns the scores with −∞ where the key's position is later than the query's. The scores are replaced, not
/// added to, because ∞ − ∞ would be NaN.
fn masked<B: Backend>(scores: FloatTensor<B>) -> FloatTensor<B> {
    let (shape, device) = (scores.shape(), scores.device());
    let (length, settings) = (shape[3], get_or_init_device_settings::<B>(&device));
    let places = B::int_arange(0..length as i64, &device, settings.int_dtype);
    let [looks, is_seen] = [[1, 1, length, 1], [1, 1, 1, length]]
        .map(|shape| B::int_reshape(places.clone(), Shape::from(shape)));
    let is_later = B::bool_expand(B::int_lower(looks, is_seen, settings.bool_dtype), shape);
    B::float_mask_fill(scores, is_later, f32::NEG_INFINITY.into())
}

/// Returns the factor of a query's product with a key.
fn scale(by_head: &Shape) -> f64 {
    1.0 / (by_head[3] as f64).sqrt()
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::super::beside::{assert_near, wave};
    use super::*;
    use crate::TrainingOps;
    use burn_core::backend::Flex;

    #[test]
    fn attention_and_its_gradient_are_the_kernels() {
        for (length, heads, size) in [(1, 1, 2), (6, 3, 4), (9, 2, 5)] {
            let width = heads * size;
            let qkv = || wave([2, length, 3 * width], 0.7311, 0.0);
            let kernel = Flex::causal_attention_train(qkv(), heads);
            let found = causal_attention_train::<Flex>(qkv(), heads);
            assert_near("weights", found.1, kernel.1.clone());
            assert_near("trained", found.0, kernel.0.clone());
            assert_near("plain", causal_attention::<Flex>(qkv(), heads), kernel.0);
            let gradient = || wave([2, length, width], 0.377, 0.0);
            let found =
                causal_attention_gradient::<Flex>(qkv(), kernel.1.clone(), gradient(), heads);
            let kernel = Flex::causal_attention_gradient(qkv(), kernel.1, gradient(), heads);
            assert_near("gradient", found, kernel);
        }
    }
}
