//! The CPU kernels on tensors of Flex.

mod attention;
mod batch_norm;
mod cohort;
mod convolution;
mod linear;
mod max_pool;
mod optimizer;
mod row_norm;

use crate::{AdamStep, SgdStep, TrainingOps, composed};
use burn_core::backend::{
    Flex,
    ops::{ConvOptions, FloatTensorOps, ModuleOps},
    tensor::FloatTensor,
};
use burn_core::tensor::DType;
use burn_std::{bf16, f16};
use gelu_core::functional::Unit;

/// Calls an optimiser that is generic over the type of a tensor's elements.
macro_rules! by_dtype {
    ($x:ident, $optimizer:ident($($argument:expr),*)) => {
        match $x.dtype() {
            DType::F32 => optimizer::$optimizer::<f32>($($argument),*),
            DType::F64 => optimizer::$optimizer::<f64>($($argument),*),
            DType::F16 => optimizer::$optimizer::<f16>($($argument),*),
            DType::BF16 => optimizer::$optimizer::<bf16>($($argument),*),
            dtype => panic!("an optimiser steps float tensors, got {dtype:?}"),
        }
    };
}

impl TrainingOps for Flex {
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        by_dtype!(gradient, adam(parameter, gradient, moment_1, moment_2, step))
    }

    fn amsgrad_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        by_dtype!(gradient, amsgrad(parameter, gradient, [moment_1, moment_2, maximum], step))
    }

    fn sgd_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        by_dtype!(gradient, sgd(parameter, gradient, velocity, step))
    }

    fn linear_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        match linear::has_kernel([&x, &weight]) {
            true => linear::forward(x, weight),
            false => Self::float_matmul(x, weight),
        }
    }

    fn linear_input_gradient(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        match linear::has_kernel([&weight, &gradient]) {
            true => linear::input_gradient(weight, gradient),
            false => Self::float_matmul(gradient, Self::float_transpose(weight)),
        }
    }

    fn linear_weight_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        match linear::has_kernel([&x, &gradient]) {
            true => linear::weight_gradient(x, gradient),
            false => Self::float_matmul(Self::float_transpose(x), gradient),
        }
    }

    fn convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        match convolution::geometry(&x, &weight, &options) {
            Some(geometry) => convolution::forward(&geometry, x, weight, None),
            None => Self::conv2d(x, weight, None, options),
        }
    }

    fn biased_convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        match convolution::geometry(&x, &weight, &options) {
            Some(geometry) => convolution::forward(&geometry, x, weight, Some(bias)),
            None => Self::conv2d(x, weight, Some(bias), options),
        }
    }

    fn convolution_input_gradient(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        match convolution::geometry(&x, &weight, &options) {
            Some(geometry) => convolution::input_gradient(&geometry, x, weight, gradient),
            None => Self::conv2d_x_backward(x, weight, gradient, options),
        }
    }

    fn convolution_weight_gradient(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        match convolution::geometry(&x, &weight, &options) {
            Some(geometry) => convolution::weight_gradient(&geometry, x, weight, gradient),
            None => Self::conv2d_weight_backward(x, weight, gradient, options),
        }
    }

    fn convolution_bias_gradient(gradient: FloatTensor<Self>) -> FloatTensor<Self> {
        match gradient.dtype() {
            DType::F32 => convolution::bias_gradient(gradient),
            _ => composed::sum_of_channels::<Self>(gradient),
        }
    }

    fn max_pool_2x2(x: FloatTensor<Self>) -> FloatTensor<Self> {
        match max_pool::has_kernel(&x) {
            true => max_pool::forward(x),
            false => composed::max_pool_2x2::<Self>(x),
        }
    }

    fn max_pool_2x2_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        match max_pool::has_kernel(&x) {
            true => max_pool::gradient(x, gradient),
            false => composed::max_pool_2x2_gradient::<Self>(x, gradient),
        }
    }

    fn batch_norm_activation(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> FloatTensor<Self> {
        let parameters = [gamma, beta, mean, variance];
        if !batch_norm::has_kernel(&x) {
            return composed::batch_norm_activation::<Self>(x, parameters, epsilon, unit);
        }
        batch_norm::forward(x, parameters, epsilon, unit)
    }

    fn batch_norm_activation_train(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        if !batch_norm::has_kernel(&x) {
            return composed::batch_norm_activation_train::<Self>(x, gamma, beta, epsilon, unit);
        }
        batch_norm::train(x, [gamma, beta], epsilon, unit)
    }

    fn batch_norm_activation_gradients(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let parameters = [gamma, beta, mean, variance];
        if !batch_norm::has_kernel(&x) {
            return composed::batch_norm_activation_gradients::<Self>(
                x, parameters, gradient, epsilon, unit,
            );
        }
        batch_norm::backward(x, parameters, gradient, epsilon, unit)
    }

    fn row_norm(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> FloatTensor<Self> {
        match row_norm::has_kernel(&x) {
            true => row_norm::forward(x, gamma, epsilon, centred),
            false => composed::row_norm::<Self>(x, gamma, epsilon, centred),
        }
    }

    fn row_norm_gradients(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        match row_norm::has_kernel(&x) {
            true => row_norm::backward(x, gamma, gradient, epsilon, centred),
            false => composed::row_norm_gradients::<Self>(x, gamma, gradient, epsilon, centred),
        }
    }

    fn causal_attention(qkv: FloatTensor<Self>, heads: usize) -> FloatTensor<Self> {
        match attention::has_kernel(&qkv) {
            true => attention::forward(qkv, heads).0,
            false => composed::causal_attention::<Self>(qkv, heads),
        }
    }

    fn causal_attention_train(
        qkv: FloatTensor<Self>,
        heads: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        match attention::has_kernel(&qkv) {
            true => attention::forward(qkv, heads),
            false => composed::causal_attention_train::<Self>(qkv, heads),
        }
    }

    fn causal_attention_gradient(
        qkv: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        heads: usize,
    ) -> FloatTensor<Self> {
        match attention::has_kernel(&qkv) {
            true => attention::gradient(qkv, weights, gradient, heads),
            false => composed::causal_attention_gradient::<Self>(qkv, weights, gradient, heads),
        }
    }
}
