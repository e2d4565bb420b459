use std::f64::consts::FRAC_1_SQRT_2;

/// A formula as a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// An argument, by its index: `x` of an activation; the gate and the value of a gated unit; the variables of a
    /// [`TargetFormula`](super::TargetFormula).
    Argument(usize),
    /// A learned constant, by its index.
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

/// The values that an expression is evaluated at.
#[derive(Debug)]
pub struct Arguments<'a, T> {
    /// The values of the arguments.
    pub given: &'a [T],
    /// The values of the learned constants.
    pub learned: &'a [T],
}

impl<T> Clone for Arguments<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

/// Implemented by hand because a derive would require `T: Copy`; the fields are references.
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
    /// The functions that formulas call by name.
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

    /// Returns the value of the function at `x`.
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
            // `max` would turn a NaN into a number.
            Self::Softplus => (x + x.abs()) / 2.0 + (-x.abs()).exp().ln_1p(),
            Self::NormalCdf => libm::erfc(-x * FRAC_1_SQRT_2) / 2.0,
            Self::Gelu => x * Self::NormalCdf.apply(x),
            Self::Silu => x * Self::Sigmoid.apply(x),
            // `max` would turn a NaN into a number here, too.
            Self::Relu if x < 0.0 => 0.0,
            Self::Relu => x,
        }
    }
}

impl Binary {
    /// The functions that formulas call by name.
    pub(super) const NAMED: [(&str, Self); 2] = [("min", Self::Minimum), ("max", Self::Maximum)];

    /// Returns the value of the function at `a` and `b`.
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
    /// Returns the value of the expression, in double precision.
    ///
    /// # Panics
    ///
    /// If the expression has more arguments or learned constants than `arguments` gives.
    pub fn at(&self, arguments: Arguments<'_, f64>) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Argument(index) => arguments.given[*index],
            Self::Learned(index) => arguments.learned[*index],
            Self::Unary(function, argument) => function.apply(argument.at(arguments)),
            Self::Binary(function, a, b) => function.apply(a.at(arguments), b.at(arguments)),
        }
    }

    /// Returns whether `part` is this expression or a part of it.
    pub fn contains(&self, part: &Self) -> bool {
        let inside = match self {
            Self::Unary(_, argument) => argument.contains(part),
            Self::Binary(_, a, b) => a.contains(part) || b.contains(part),
            Self::Number(_) | Self::Argument(_) | Self::Learned(_) => false,
        };
        inside || self == part
    }
}
