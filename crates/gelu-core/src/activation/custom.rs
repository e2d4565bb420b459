use super::Activation;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_core::tensor::Tensor;
use core::fmt;

type OfOne = dyn Fn(Tensor<1>, &[Tensor<1>]) -> Tensor<1> + Send + Sync;
type OfTwo = dyn Fn(Tensor<1>, Tensor<1>, &[Tensor<1>]) -> Tensor<1> + Send + Sync;

/// An activation made from a function of yours; see [`Activation::custom`],
/// [`Activation::custom_learned`] and [`Activation::custom_gate`].
#[derive(Clone)]
pub struct CustomActivation {
    name: String,
    /// The start values of the learnable constants.
    starts: Vec<f64>,
    function: Function,
}

#[derive(Clone)]
enum Function {
    OfOne(Arc<OfOne>),
    /// A function of a gate and a value.
    OfTwo(Arc<OfTwo>),
}

impl Activation {
    /// Creates a custom activation from a differentiable elementwise function. The function receives the
    /// tensor flattened, and has to return as many values as it receives. It is not called for an empty
    /// tensor.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use gelu_core::Activation;
    /// let square = Activation::custom("square", |x| x.clone() * x);
    /// let y = square.forward(Tensor::<2>::from_floats([[-2.0], [3.0]], &Device::default()));
    /// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [4.0, 9.0]);
    /// ```
    pub fn custom(
        name: &str,
        function: impl Fn(Tensor<1>) -> Tensor<1> + Send + Sync + 'static,
    ) -> Self {
        Self::custom_learned(name, &[], move |x, _| function(x))
    }

    /// Creates a [`custom`](Self::custom) activation with learnable constants, one for each number of
    /// `starts`, which is the constant's start value. The function receives the constants after the
    /// tensor, each as long as the tensor. A layer ([`init`](Self::init)) has one value of each constant
    /// per channel.
    ///
    /// # Panics
    ///
    /// If a start value is not finite in f32.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use gelu_core::{Activation, Channels};
    /// let device = Device::default();
    /// let scaled = Activation::custom_learned("scaled", &[2.0], |x, c| x * c[0].clone());
    /// let layer = scaled.init(Channels::Last(3), &device);
    /// let y = layer.forward(Tensor::<2>::ones([1, 3], &device));
    /// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [2.0; 3]);
    /// ```
    pub fn custom_learned(
        name: &str,
        starts: &[f64],
        function: impl Fn(Tensor<1>, &[Tensor<1>]) -> Tensor<1> + Send + Sync + 'static,
    ) -> Self {
        Self::Custom(CustomActivation::new(name, starts, Function::OfOne(Arc::new(function))))
    }

    /// Creates a custom gate for a gated unit whose result is not `f(gate)·value`: a function of both
    /// the gate and the value, and of learnable constants as in
    /// [`custom_learned`](Self::custom_learned). Outside a gated unit, the activation calls the function
    /// with the gate and a value of 1.
    ///
    /// # Panics
    ///
    /// If a start value is not finite in f32.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use gelu_core::{Activation, GatedFeedForwardConfig};
    /// let gate = Activation::custom_gate("wave", &[], |gate, value, _| gate + value.sin());
    /// let block = GatedFeedForwardConfig::new(8, 21).with_activation(gate);
    /// let device = Device::default();
    /// let y = block.init(&device).forward(Tensor::<3>::ones([2, 5, 8], &device));
    /// assert_eq!(y.dims(), [2, 5, 8]);
    /// ```
    pub fn custom_gate(
        name: &str,
        starts: &[f64],
        function: impl Fn(Tensor<1>, Tensor<1>, &[Tensor<1>]) -> Tensor<1> + Send + Sync + 'static,
    ) -> Self {
        Self::Custom(CustomActivation::new(name, starts, Function::OfTwo(Arc::new(function))))
    }
}

impl CustomActivation {
    fn new(name: &str, starts: &[f64], function: Function) -> Self {
        let out_of_range = starts.iter().find(|start| !(**start as f32).is_finite());
        assert!(
            out_of_range.is_none(),
            "the constants of `{name}` start from -3.4e38 to 3.4e38, got {starts:?}"
        );
        Self { name: name.to_owned(), starts: starts.to_vec(), function }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the start values of the learnable constants; empty if it has none.
    pub fn starts(&self) -> &[f64] {
        &self.starts
    }

    /// Returns the function's result, with the constants at their start values.
    pub(crate) fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        let like = x.clone();
        self.with(x, None, || self.starts.iter().map(|start| like.full_like(*start)).collect())
    }

    /// Returns the function's result for `x`, or for `x` as gate and `value`, with constants of the
    /// input's shape. An empty tensor is returned as it is, without a call of the function.
    pub(crate) fn with<const D: usize>(
        &self,
        x: Tensor<D>,
        value: Option<Tensor<D>>,
        constants: impl FnOnce() -> Vec<Tensor<D>>,
    ) -> Tensor<D> {
        let shape = x.dims();
        let length = shape.iter().product::<usize>();
        if length == 0 {
            return x;
        }
        let flat = |tensor: Tensor<D>| -> Tensor<1> { tensor.reshape([length]) };
        let constants: Vec<Tensor<1>> = constants().into_iter().map(flat).collect();
        let (result, factor) = match &self.function {
            Function::OfOne(function) => (function(flat(x), &constants), value),
            Function::OfTwo(function) => {
                let value = value.unwrap_or_else(|| x.ones_like());
                (function(flat(x), flat(value), &constants), None)
            }
        };
        assert_eq!(
            result.dims()[0],
            length,
            "the activation `{}` returned another number of values than it was given",
            self.name
        );
        let result = result.reshape(shape);
        match factor {
            Some(factor) => result * factor,
            None => result,
        }
    }
}

impl fmt::Debug for CustomActivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomActivation").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for CustomActivation {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.function, &other.function) {
            (Function::OfOne(own), Function::OfOne(others)) => Arc::ptr_eq(own, others),
            (Function::OfTwo(own), Function::OfTwo(others)) => Arc::ptr_eq(own, others),
            _ => false,
        };
        same && self.name == other.name && self.starts == other.starts
    }
}
