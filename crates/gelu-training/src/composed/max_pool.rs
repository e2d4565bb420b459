use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings, tensor::FloatTensor,
};

const KERNEL: [usize; 2] = [2, 2];
const PADDING: [usize; 2] = [0, 0];
const DILATION: [usize; 2] = [1, 1];

pub(crate) fn max_pool_2x2<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    B::max_pool2d(x, KERNEL, KERNEL, PADDING, DILATION, false)
}

pub(crate) fn max_pool_2x2_gradient<B: Backend>(
    x: FloatTensor<B>,
    gradient: FloatTensor<B>,
) -> FloatTensor<B> {
    let indices = get_or_init_device_settings::<B>(&x.device()).int_dtype;
    let pooled =
        B::max_pool2d_with_indices(x.clone(), KERNEL, KERNEL, PADDING, DILATION, false, indices);
    let indices = pooled.indices;
    B::max_pool2d_with_indices_backward(
        x, KERNEL, KERNEL, PADDING, DILATION, false, gradient, indices,
    )
    .x_grad
}
