use burn_core::backend::{
    Backend, TensorMetadata, ops::AttentionModuleOptions, tensor::FloatTensor,
};
use burn_core::tensor::{Shape, Slice, TensorData};

pub(crate) fn causal_attention<B: Backend>(qkv: FloatTensor<B>, heads: usize) -> FloatTensor<B> {
    let [query, key, value] = parts::<B>(qkv, heads);
    let options = AttentionModuleOptions { is_causal: true, ..Default::default() };
    side_by_side::<B>(B::attention(query, key, value, None, None, options))
}

pub(crate) fn causal_attention_train<B: Backend>(
    qkv: FloatTensor<B>,
    heads: usize,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let [query, key, value] = parts::<B>(qkv, heads);
    let scores = B::float_matmul(query, B::float_transpose(key));
    let scores = B::float_mul_scalar(scores.clone(), scale(&value.shape()).into());
    let weights = B::softmax(masked::<B>(scores), 3);
    (side_by_side::<B>(B::float_matmul(weights.clone(), value)), weights)
}

/// With G the gradient of the output: `dV = Pᵀ·G`, and with `dS = P∘(G·Vᵀ − rowsum(P∘(G·Vᵀ)))/√size`
/// `dQ = dS·K` and `dK = dSᵀ·Q`.
pub(crate) fn causal_attention_gradient<B: Backend>(
    qkv: FloatTensor<B>,
    weights: FloatTensor<B>,
    gradient: FloatTensor<B>,
    heads: usize,
) -> FloatTensor<B> {
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
    B::float_cat([of_query, of_key, of_value].map(side_by_side::<B>).into(), 2)
}

/// Queries, keys and values, each `[batch, heads, length, size]`.
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

/// `[batch, heads, length, size]` as `[batch, length, heads·size]`.
fn side_by_side<B: Backend>(by_head: FloatTensor<B>) -> FloatTensor<B> {
    let [batch, heads, length, size] = by_head.shape().dims();
    let by_place = B::float_swap_dims(by_head, 1, 2);
    B::float_reshape(by_place, Shape::from([batch, length, heads * size]))
}

/// Scores with −∞ where a place is later than the one that looks.
fn masked<B: Backend>(scores: FloatTensor<B>) -> FloatTensor<B> {
    let length = scores.shape()[3];
    let beyond = |index: usize| index % length > index / length;
    let mask =
        (0..length * length).map(|index| if beyond(index) { f32::NEG_INFINITY } else { 0.0 });
    let data = TensorData::new(mask.collect::<Vec<_>>(), [1, 1, length, length]);
    let mask = B::float_from_data(data.convert_dtype(scores.dtype()), &scores.device());
    B::float_add(scores, mask)
}

/// What a query's product with a key is multiplied by.
fn scale(by_head: &Shape) -> f64 {
    1.0 / (by_head[3] as f64).sqrt()
}
