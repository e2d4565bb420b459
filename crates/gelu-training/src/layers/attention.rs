use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;

/// Attention of every place to itself and to those before it, in several heads (Vaswani et al., arXiv 1706.03762,
/// §3.2), by [`TrainingOps::causal_attention`]:
///
/// ```text
/// softmax(Q·Kᵀ/√(width/heads), later places masked)·V
/// ```
///
/// Queries, keys and values stand side by side, as one linear layer gives them. Its backward pass keeps them
/// and the weights, `length²` numbers a head. On Flex a weight below e^−64 of its row's largest counts as 0. 16-bit
/// inputs attend in f32, since products of queries and keys soon pass what f16 holds; results and what is kept are
/// of 16 bits.
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
