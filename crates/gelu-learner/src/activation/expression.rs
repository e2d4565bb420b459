/// A formula as a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// The activation's argument.
    X,
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
}

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
    pub(super) const NAMED: [(&str, Self); 7] = [
        ("exp", Self::Exp),
        ("ln", Self::Ln),
        ("tanh", Self::Tanh),
        ("erf", Self::Erf),
        ("sqrt", Self::Sqrt),
        ("abs", Self::Abs),
        ("sigmoid", Self::Sigmoid),
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
    /// Its value at `x`, in double precision.
    pub fn at(&self, x: f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::X => x,
            Self::Unary(function, argument) => function.apply(argument.at(x)),
            Self::Binary(function, a, b) => function.apply(a.at(x), b.at(x)),
        }
    }

    /// Whether `x` stands in it.
    pub fn depends_on_x(&self) -> bool {
        match self {
            Self::Number(_) => false,
            Self::X => true,
            Self::Unary(_, argument) => argument.depends_on_x(),
            Self::Binary(_, a, b) => a.depends_on_x() || b.depends_on_x(),
        }
    }
}
