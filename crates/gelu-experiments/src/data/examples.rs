use burn::tensor::{Device, Int, Tensor, TensorData};

/// Examples and their classes, as tensors on one device: a batch.
///
/// # Shapes
///
/// - `inputs`: `[examples, features]`, or tokens `[windows, context]`, of which each is followed by an example
/// - `labels`: `[examples]`
#[derive(Clone, Debug)]
pub struct Examples {
    /// One row an example, or one a window.
    pub inputs: BatchInputs,
    /// The class of each; 0 where there are none.
    pub labels: Tensor<1, Int>,
    /// The numbers that are to be found, where there are no classes.
    pub targets: Option<Targets>,
}

/// Numbers that are to be found, one for each example.
#[derive(Clone, Debug)]
pub struct Targets {
    /// `[examples]`
    pub numbers: Tensor<1>,
    /// The variance of all such numbers of that part of the data, where the share of it that is left unexplained is
    /// measured.
    pub variance: Option<f64>,
}

impl Targets {
    /// Those numbers on a device.
    pub(super) fn new(numbers: Vec<f32>, variance: Option<f64>, device: &Device) -> Self {
        let count = numbers.len();
        Self { numbers: Tensor::from_data(TensorData::new(numbers, [count]), device), variance }
    }

    /// The same with other tensors.
    pub(super) fn map(self, change: impl FnOnce(Tensor<1>) -> Tensor<1>) -> Self {
        Self { numbers: change(self.numbers), ..self }
    }
}

impl Examples {
    /// How many.
    pub fn len(&self) -> usize {
        self.labels.dims()[0]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a network is given.
#[derive(Clone, Debug)]
pub enum BatchInputs {
    /// `[examples, features]`
    Numbers(Tensor<2>),
    /// `[windows, context]`: the class of every token is the one that follows it.
    Tokens(Tensor<2, Int>),
}

impl BatchInputs {
    /// The inputs `[examples, features]`.
    ///
    /// # Panics
    ///
    /// If they are tokens.
    pub fn numbers(self) -> Tensor<2> {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Tokens(_) => panic!("a network of numbers was given tokens"),
        }
    }

    /// The tokens `[windows, context]`.
    ///
    /// # Panics
    ///
    /// If they are none.
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
