use burn::tensor::{Int, Tensor};

/// Examples and their classes, as tensors on one device: a batch.
///
/// # Shapes
///
/// - `inputs`: `[examples, features]`, or tokens `[windows, context]`, of which each is followed by an example
/// - `labels`: `[examples]`
/// - `targets`: `[examples]`
#[derive(Clone, Debug)]
pub struct Examples {
    /// One row an example, or one a window.
    pub inputs: BatchInputs,
    /// The class of each; 0 where there are none.
    pub labels: Tensor<1, Int>,
    /// The number that is to be found for each, where there are no classes.
    pub targets: Option<Tensor<1>>,
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
