use burn::tensor::{Device, Int, Tensor, TensorData};

/// A batch: examples and their classes, as tensors on one device.
///
/// # Shapes
///
/// - `inputs`: `[examples, features]`, or tokens `[windows, context]`; each token is an example whose class is the
///   next token
/// - `labels`: `[examples]`
#[derive(Clone, Debug)]
pub struct Examples {
    /// One row per example, or per window.
    pub inputs: BatchInputs,
    /// The class of each example; 0 if there are no classes.
    pub labels: Tensor<1, Int>,
    /// The numbers to predict, if there are no classes.
    pub targets: Option<Targets>,
}

/// Numbers to predict, one per example.
#[derive(Clone, Debug)]
pub struct Targets {
    /// `[examples]`
    pub numbers: Tensor<1>,
    /// The variance of all numbers to predict in the same split, if the unexplained share of it is measured.
    pub variance: Option<f64>,
}

impl Targets {
    /// Creates targets from numbers on a device.
    pub(super) fn new(numbers: Vec<f32>, variance: Option<f64>, device: &Device) -> Self {
        let count = numbers.len();
        Self { numbers: Tensor::from_data(TensorData::new(numbers, [count]), device), variance }
    }

    /// Returns these targets with changed tensors.
    pub(super) fn map(self, change: impl FnOnce(Tensor<1>) -> Tensor<1>) -> Self {
        Self { numbers: change(self.numbers), ..self }
    }
}

impl Examples {
    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.labels.dims()[0]
    }

    /// Returns whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The inputs of a network.
#[derive(Clone, Debug)]
pub enum BatchInputs {
    /// `[examples, features]`
    Numbers(Tensor<2>),
    /// `[windows, context]`; the class of every token is the next token.
    Tokens(Tensor<2, Int>),
}

impl BatchInputs {
    /// Returns the inputs `[examples, features]`.
    ///
    /// # Panics
    ///
    /// If the inputs are tokens.
    pub fn numbers(self) -> Tensor<2> {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Tokens(_) => panic!("a network of numbers was given tokens"),
        }
    }

    /// Returns the tokens `[windows, context]`.
    ///
    /// # Panics
    ///
    /// If the inputs are not tokens.
    pub fn tokens(self) -> Tensor<2, Int> {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Numbers(_) => panic!("a network of tokens was given numbers"),
        }
    }

    pub(super) fn autodiff(self) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(numbers.autodiff()),
            Self::Tokens(tokens) => Self::Tokens(tokens.autodiff()),
        }
    }
}

impl From<Tensor<2>> for BatchInputs {
    fn from(numbers: Tensor<2>) -> Self {
        Self::Numbers(numbers)
    }
}
