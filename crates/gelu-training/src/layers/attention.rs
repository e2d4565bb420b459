use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;

/// Returns the attention of every position to itself and to earlier positions, in several heads (Vaswani et al.,
/// arXiv 1706.03762, §3.2). It uses [`TrainingOps::causal_attention`]:
///
/// ```text
/// softmax(Q·Kᵀ/√(width/heads), later positions masked)·V
/// ```
///
/// Queries, keys and values are next to each other, as one linear layer outputs them. They are stored for the
/// backward pass, together with the attention weights, `length²` numbers per head. On Flex, a weight below e^−64 of
/// the largest weight in its row counts as 0. For 16-bit inputs the attention is computed in f32, because products
/// of queries and keys easily overflow f16. Results and stored tensors have 16 bits.
///
/// # Shapes
///
/// - input: `[batch, length, 3·width]`
/// - output: `[batch, length, width]`
///
/// # Panics
///
/// If the last dimension of the input is not three times a multiple of the number of heads.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_training::layers::causal_attention;
///
/// let device = Device::default();
/// // Two places, one head of one number: the second sees two keys that are alike.
/// let qkv = Tensor::<3>::from_floats([[[1.0, 2.0, 10.0], [3.0, 2.0, 20.0]]], &device);
/// let y = causal_attention(qkv, 1).into_data().try_to_vec::<f32>().unwrap();
/// assert_eq!(y, [10.0, 15.0]);
/// ```
pub fn causal_attention(qkv: Tensor<3>, heads: usize) -> Tensor<3> {
    let [_, _, width] = qkv.dims();
    assert!(
        heads > 0 && width > 0 && width.is_multiple_of(3 * heads),
        "{width} numbers of a place are no queries, keys and values of {heads} heads"
    );
    Tensor::from_dispatch(Dispatch::causal_attention(dispatched(qkv), heads))
}
