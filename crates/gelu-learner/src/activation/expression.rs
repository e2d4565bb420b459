use std::f64::consts::FRAC_1_SQRT_2;

/// A formula as a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// An argument, by its place among them: that of an activation; of a gated unit, its gate and its
    /// value; the variables of a [`TargetFormula`](super::TargetFormula).
    Argument(usize),
    /// A constant that is learned, by its place among them.
    Learned(usize),
    /// A function of one value.
    Unary(Unary, Box<Self>),
    /// A function of two values.
    Binary(Binary, Box<Self>, Box<Self>),
}

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `−x`.
    Negate,
    /// `e^x`.
    Exp,
    /// The natural logarithm.
    Ln,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function, `2/√π · ∫₀ˣ e^(−t²) dt`.
    Erf,
    /// The square root.
    Sqrt,
    /// The absolute value.
    Abs,
    /// The logistic function, `1/(1 + e^−x)`.
    Sigmoid,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// `ln(1 + x)`, without cancellation at 0.
    Log1p,
    /// `e^x − 1`, without cancellation at 0.
    Expm1,
    /// `ln(1 + e^x)`, without overflow.
    Softplus,
    /// `Φ(x)`, the CDF of the standard normal distribution, without cancellation below 0.
    NormalCdf,
    /// `x·Φ(x)`.
    Gelu,
    /// `x/(1 + e^−x)`.
    Silu,
    /// The larger one of `x` and 0.
    Relu,
}

/// What an expression is evaluated at.
#[derive(Debug)]
pub struct Arguments<'a, T> {
    /// What it is a function of.
    pub given: &'a [T],
    /// The constants that are learned.
    pub learned: &'a [T],
}

impl<T> Clone for Arguments<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

/// Of references, whatever is behind them.
impl<T> Copy for Arguments<'_, T> {}

/// A function of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a − b`.
    Subtract,
    /// `a · b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// `a ^ b`.
    Power,
    /// The smaller one.
    Minimum,
    /// The larger one.
    Maximum,
}

impl Unary {
    /// Those that are called by a name.
    pub(super) const NAMED: [(&str, Self); 16] = [
        ("exp", Self::Exp),
        ("ln", Self::Ln),
        ("tanh", Self::Tanh),
        ("erf", Self::Erf),
        ("sqrt", Self::Sqrt),
        ("abs", Self::Abs),
        ("sigmoid", Self::Sigmoid),
        ("sin", Self::Sin),
        ("cos", Self::Cos),
        ("log1p", Self::Log1p),
        ("expm1", Self::Expm1),
        ("softplus", Self::Softplus),
        ("normal_cdf", Self::NormalCdf),
        ("gelu", Self::Gelu),
        ("silu", Self::Silu),
        ("relu", Self::Relu),
    ];

    /// On one number.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Exp => x.exp(),
            Self::Ln => x.ln(),
            Self::Tanh => x.tanh(),
            Self::Erf => libm::erf(x),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Log1p => x.ln_1p(),
            Self::Expm1 => x.exp_m1(),
            // A maximum alone would lose a NaN.
            Self::Softplus => (x + x.abs()) / 2.0 + (-x.abs()).exp().ln_1p(),
            Self::NormalCdf => libm::erfc(-x * FRAC_1_SQRT_2) / 2.0,
            Self::Gelu => x * Self::NormalCdf.apply(x),
            Self::Silu => x * Self::Sigmoid.apply(x),
            // A maximum would lose a NaN here, too.
            Self::Relu if x < 0.0 => 0.0,
            Self::Relu => x,
        }
    }
}

impl Binary {
    /// Those that are called by a name.
    pub(super) const NAMED: [(&str, Self); 2] = [("min", Self::Minimum), ("max", Self::Maximum)];

    /// On two numbers.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
            Self::Minimum => a.min(b),
            Self::Maximum => a.max(b),
        }
    }
}

impl Expression {
    /// Its value, in double precision.
    ///
    /// # Panics
    ///
    /// If it has more arguments or learned constants than it is given.
    pub fn at(&self, arguments: Arguments<'_, f64>) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Argument(index) => arguments.given[*index],
            Self::Learned(index) => arguments.learned[*index],
            Self::Unary(function, argument) => function.apply(argument.at(arguments)),
            Self::Binary(function, a, b) => function.apply(a.at(arguments), b.at(arguments)),
        }
    }

    /// Whether `part` stands in it.
    pub fn contains(&self, part: &Self) -> bool {
        let inside = match self {
            Self::Unary(_, argument) => argument.contains(part),
            Self::Binary(_, a, b) => a.contains(part) || b.contains(part),
            Self::Number(_) | Self::Argument(_) | Self::Learned(_) => false,
        };
        inside || self == part
    }
}
