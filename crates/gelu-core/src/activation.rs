pub(crate) mod burn_config;
mod custom;

pub use burn_config::NoCounterpart;
pub use custom::CustomActivation;

use crate::{InvalidParameter, Unit};
use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use gelu_kernels::ParseUnitError;
use gelu_kernels::functions::{compact, normalised};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Generates the enum of every [`Unit`] and of the stochastic, learnable and custom activations.
macro_rules! activations {
    ($($code:literal => $variant:ident $({ $parameter:ident })? ($file:ident :: $type:ident), $doc:literal;)*) => {
        /// A nonlinearity for a network. The enum lists all of them.
        ///
        /// An activation parses from its name and prints it, also through serde. A parameter follows
        /// the name after a colon. Parsing also accepts the names that other ecosystems use, in any
        /// case, and with or without separators between words.
        ///
        /// ```
        /// use gelu_core::Activation;
        /// assert_eq!("gelu_new".parse(), Ok(Activation::GeluTanh));
        /// assert_eq!("LeakyReLU".parse(), Ok(Activation::LeakyRelu { slope: 0.01 }));
        /// assert_eq!(Activation::GeluTanh.to_string(), "gelu-tanh");
        /// assert_eq!("elu:0.5".parse(), Ok(Activation::Elu { alpha: 0.5 }));
        /// let error = "gleu".parse::<Activation>().unwrap_err().to_string();
        /// assert!(error.starts_with("unknown activation `gleu`; did you mean `gelu`?"));
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Activation {
            $(
                #[doc = $doc]
                $variant $({
                    #[doc = concat!("The ", stringify!($parameter), " of the formula.")]
                    $parameter: f64,
                })?,
            )*
            /// The stochastic map whose mean is the GELU: random in training, the GELU otherwise.
            Soi,
            /// `x·Φ((x − μ)/σ)` with learnable μ and σ.
            LearnableGelu,
            /// Swish, `x·σ(β·x)`, with learnable β.
            LearnableSwish,
            /// xIELU, `αₚ·x² + x/2` for x > 0, else `αₙ·(e^x − 1 − x) + x/2`, with learnable αₚ and
            /// αₙ.
            Xielu,
            /// PReLU: `x` for x > 0, else `x` times a learnable slope.
            PRelu,
            /// A custom activation; see [`Activation::custom`].
            Custom(CustomActivation),
        }

        impl Activation {
            /// Returns the unit that computes this activation, or `None` if it is custom, learnable
            /// or stochastic.
            pub fn unit(&self) -> Option<Unit> {
                match *self {
                    $(Self::$variant $({ $parameter })? => Some(Unit::$variant $({ $parameter })?),)*
                    Self::Soi
                    | Self::LearnableGelu
                    | Self::LearnableSwish
                    | Self::Xielu
                    | Self::PRelu
                    | Self::Custom(_) => None,
                }
            }
        }

        impl From<Unit> for Activation {
            fn from(unit: Unit) -> Self {
                match unit {
                    $(Unit::$variant $({ $parameter })? => Self::$variant $({ $parameter })?,)*
                    _ => unreachable!("the table is that of all units"),
                }
            }
        }
    };
}

gelu_kernels::table!(activations);

/// The activations that are not a [`Unit`]: name, label for people, names in other ecosystems.
const OTHERS: [(Activation, &str, &str, &[&str]); 5] = [
    (Activation::Soi, "soi", "SOI map", &["stochastic-gelu"]),
    (Activation::LearnableGelu, "learnable-gelu", "GELU (learnable)", &[]),
    (Activation::LearnableSwish, "learnable-swish", "swish (learnable)", &["learned-swish"]),
    (Activation::Xielu, "xielu", "xIELU", &[]),
    (Activation::PRelu, "prelu", "PReLU", &[]),
];

/// Names of other ecosystems for activations that are not functions of one number, and what to write
/// instead.
const ELSEWHERE: [(&str, &str); 11] = [
    ("glu", "is a gated unit: a `GatedFeedForward` whose activation is `sigmoid`"),
    ("geglu", "is a gated unit: a `GatedFeedForward` whose activation is `gelu`"),
    ("swiglu", "is a gated unit: a `GatedFeedForward` whose activation is `silu`"),
    ("reglu", "is a gated unit: a `GatedFeedForward` whose activation is `relu`"),
    ("singlu", "is a gated unit: a GatedFeedForward of a custom gate, gate.sin() * value"),
    ("threshold", "has two parameters; where the second is 0 it is `thresholded-relu:0.1`"),
    ("rrelu", "draws its slope; once trained it is `leaky-relu:0.229` by PyTorch's defaults"),
    ("polynorm", "is no function of one number; it is a module of gelu-core, PolyNorm"),
    ("softmax", "is no elementwise function; Burn has it"),
    ("softmin", "is no elementwise function; Burn has it"),
    ("log-softmax", "is no elementwise function; Burn has it"),
];

impl Activation {
    /// Returns every built-in activation with its default parameter.
    pub fn built_in() -> Vec<Self> {
        let others = OTHERS.iter().map(|(activation, ..)| activation.clone());
        Unit::ALL.into_iter().map(Self::from).chain(others).collect()
    }

    /// Returns the canonical name, followed by a colon and the parameter if it is not the default.
    pub fn name(&self) -> Cow<'_, str> {
        match (self.unit(), self) {
            (Some(unit), _) => unit.name(),
            (None, Self::Custom(custom)) => custom.name().into(),
            (None, _) => self.other().1.into(),
        }
    }

    /// Returns the name as people write it: `GELU`, `ReLU`, `ELU (alpha = 0.5)`.
    pub fn label(&self) -> Cow<'_, str> {
        match (self.unit(), self) {
            (Some(unit), _) => unit.label(),
            (None, Self::Custom(custom)) => custom.name().into(),
            (None, _) => self.other().2.into(),
        }
    }

    fn other(&self) -> &'static (Self, &'static str, &'static str, &'static [&'static str]) {
        let found = OTHERS.iter().find(|(activation, ..)| activation == self);
        found.expect("what is no unit and not custom is in the table")
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Activation {
    type Err = UnknownActivation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<Unit>() {
            Ok(unit) => return Ok(unit.into()),
            Err(ParseUnitError::Parameter(invalid)) => return Err(Self::Err::Parameter(invalid)),
            Err(ParseUnitError::Name(_)) => {}
        }
        let wanted = compact(text);
        let is_wanted = |name: &str| compact(name) == wanted;
        if let Some((activation, ..)) = OTHERS.iter().find(|(_, name, _, aliases)| {
            is_wanted(name) || aliases.iter().any(|alias| is_wanted(alias))
        }) {
            return Ok(activation.clone());
        }
        Err(match ELSEWHERE.iter().find(|(name, _)| is_wanted(name)) {
            Some((name, advice)) => UnknownActivation::Elsewhere { name, advice },
            None => UnknownActivation::Name(text.to_owned()),
        })
    }
}

impl Serialize for Activation {
    /// Serialises the activation as its name. It is an error if the name could not be read back: for
    /// a custom activation, and for a parameter out of range.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Custom(custom) = self {
            return Err(serde::ser::Error::custom(alloc::format!(
                "the activation `{}` is a function of the program's own and cannot be saved; \
                 save the rest, and set it again after loading",
                custom.name()
            )));
        }
        match self.unit() {
            Some(unit) => unit.serialize(serializer),
            None => serializer.serialize_str(&self.name()),
        }
    }
}

impl<'de> Deserialize<'de> for Activation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The error for a text that names no built-in activation, or whose parameter is out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownActivation {
    /// The name is unknown.
    Name(String),
    /// The parameter is out of range.
    Parameter(InvalidParameter),
    /// The name belongs to something that is not an activation.
    #[non_exhaustive]
    Elsewhere {
        /// The name in this crate's notation.
        name: &'static str,
        /// What the name stands for, and what to write instead.
        advice: &'static str,
    },
}

impl fmt::Display for UnknownActivation {
    /// Lists all names, the most similar one first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = match self {
            Self::Parameter(invalid) => return invalid.fmt(f),
            Self::Elsewhere { name, advice } => return write!(f, "`{name}` {advice}"),
            Self::Name(given) => given,
        };
        let wanted = normalised(given);
        let built_in = Activation::built_in();
        let mut names: Vec<Cow<'_, str>> = built_in.iter().map(Activation::name).collect();
        names.sort_by_key(|name| edit_distance(name, &wanted));
        write!(f, "unknown activation `{given}`; ")?;
        match names.first().filter(|name| edit_distance(name, &wanted) <= 2) {
            Some(nearest) => write!(f, "did you mean `{nearest}`? There are: ")?,
            None => f.write_str("there are: ")?,
        }
        f.write_str(&names.join(", "))
    }
}

impl core::error::Error for UnknownActivation {}

/// Returns the number of characters that have to be inserted, deleted, replaced or swapped with their
/// neighbour (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = rows[i][j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests;
