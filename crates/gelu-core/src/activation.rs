use crate::{ActivationLayer, StochasticGelu, Unit, functional};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use burn_core::tensor::{Device, Tensor};
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Everything that can be picked as a network's nonlinearity.
///
/// Parses and prints its canonical name, also through serde; the names that other ecosystems use
/// are understood.
///
/// ```
/// use gelu_core::Activation;
/// assert_eq!("gelu_new".parse(), Ok(Activation::GeluTanh));
/// assert_eq!(Activation::GeluTanh.to_string(), "gelu-tanh");
/// let error = "glu".parse::<Activation>().unwrap_err().to_string();
/// assert!(error.starts_with("unknown activation `glu`; did you mean `gelu`?"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Activation {
    /// The exact GELU, `x·Φ(x)`.
    Gelu,
    /// The tanh form of GELU.
    GeluTanh,
    /// The sigmoid form of GELU, `x·σ(1.702·x)`.
    GeluSigmoid,
    /// SiLU (swish), `x·σ(x)`.
    Silu,
    /// ELU, α = 1.
    Elu,
    /// ReLU.
    Relu,
    /// The stochastic map whose mean is the GELU: drawn in training, the GELU otherwise.
    Soi,
    /// `x·Φ((x − μ)/σ)` with μ and σ learned.
    LearnableGelu,
    /// The unit with a Cauchy CDF, `x·(1/2 + atan(x)/π)`.
    Cauchy,
    /// The user's own; see [`Activation::custom`].
    Custom(CustomActivation),
}

/// Name, label for people, other ecosystems' names.
const NAMES: [(Activation, &str, &str, &[&str]); 9] = [
    (Activation::Gelu, "gelu", "GELU", &["gelu-exact", "gelu-erf", "gelu-none", "gelu-python"]),
    (
        Activation::GeluTanh,
        "gelu-tanh",
        "GELU (tanh)",
        &["gelu-new", "gelu-pytorch-tanh", "gelu-fast", "gelu-approximate", "gelu-accurate"],
    ),
    (Activation::GeluSigmoid, "gelu-sigmoid", "GELU (sigmoid)", &["quick-gelu", "gelu-quick"]),
    (Activation::Silu, "silu", "SiLU", &["swish"]),
    (Activation::Elu, "elu", "ELU", &[]),
    (Activation::Relu, "relu", "ReLU", &[]),
    (Activation::Soi, "soi", "SOI map", &["stochastic-gelu"]),
    (Activation::LearnableGelu, "learnable-gelu", "GELU (learnable)", &[]),
    (Activation::Cauchy, "cauchy", "Cauchy", &[]),
];

impl Activation {
    /// Every built-in activation, in the order they are listed.
    pub fn built_in() -> Vec<Self> {
        NAMES.iter().map(|(activation, ..)| activation.clone()).collect()
    }

    /// An activation of the user's own, from a differentiable elementwise function. It is given
    /// the tensor flattened, and has to return as many values.
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
        Self::Custom(CustomActivation { name: name.to_owned(), function: Arc::new(function) })
    }

    /// It as a module, for a network that is given any activation.
    ///
    /// `channels` is the size of dimension 1 of what it will be applied to: the learnable GELU has
    /// a μ and a σ for each (or one for all, with 1).
    pub fn init(&self, channels: usize, device: &Device) -> ActivationLayer {
        ActivationLayer::new(self, channels, device)
    }

    /// The function on a tensor of any rank. The stochastic map is drawn on autodiff devices; the
    /// learnable GELU is what it starts as, the GELU (it learns as a module: [`init`](Self::init)).
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., any]`
    ///
    /// # Panics
    ///
    /// If a custom function returns another number of values than it was given.
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Custom(custom) => custom.forward(x),
            Self::Soi => StochasticGelu::new().forward(x),
            Self::LearnableGelu => functional::gelu(x),
            _ => functional::unit(x, self.unit().expect("the others are units")),
        }
    }

    /// The kernel's name for it; `None` for what is custom, learned or drawn.
    pub fn unit(&self) -> Option<Unit> {
        Some(match self {
            Self::Gelu => Unit::Gelu,
            Self::GeluTanh => Unit::GeluTanh,
            Self::GeluSigmoid => Unit::GeluSigmoid,
            Self::Silu => Unit::Silu,
            Self::Elu => Unit::Elu,
            Self::Relu => Unit::Relu,
            Self::Cauchy => Unit::Cauchy,
            Self::Soi | Self::LearnableGelu | Self::Custom(_) => return None,
        })
    }

    /// Its canonical name.
    pub fn name(&self) -> &str {
        match self {
            Self::Custom(custom) => &custom.name,
            _ => self.entry().1,
        }
    }

    /// Its name as people write it: `GELU`, `ReLU`, `GELU (tanh)`.
    pub fn label(&self) -> &str {
        match self {
            Self::Custom(custom) => &custom.name,
            _ => self.entry().2,
        }
    }

    fn entry(&self) -> &'static (Self, &'static str, &'static str, &'static [&'static str]) {
        let found = NAMES.iter().find(|(activation, ..)| activation == self);
        found.expect("every built-in activation is in the table")
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Activation {
    type Err = UnknownActivation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().to_ascii_lowercase().replace('_', "-");
        NAMES
            .iter()
            .find(|(_, name, _, aliases)| *name == wanted || aliases.contains(&wanted.as_str()))
            .map(|(activation, ..)| activation.clone())
            .ok_or_else(|| UnknownActivation { name: text.to_owned() })
    }
}

impl Serialize for Activation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Activation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An activation made of the user's function; see [`Activation::custom`].
#[derive(Clone)]
pub struct CustomActivation {
    name: String,
    function: Arc<dyn Fn(Tensor<1>) -> Tensor<1> + Send + Sync>,
}

impl CustomActivation {
    fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        let shape = x.dims();
        let flat: Tensor<1> = x.reshape([-1]);
        let length = flat.dims()[0];
        let result = (self.function)(flat);
        assert_eq!(
            result.dims()[0],
            length,
            "the activation `{}` returned another number of values than it was given",
            self.name
        );
        result.reshape(shape)
    }
}

impl fmt::Debug for CustomActivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomActivation").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for CustomActivation {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

/// A name that no built-in activation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownActivation {
    name: String,
}

impl fmt::Display for UnknownActivation {
    /// Names the nearest one first, then all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.name.to_ascii_lowercase().replace('_', "-");
        let mut names: Vec<&str> = NAMES.iter().map(|(_, name, ..)| *name).collect();
        let nearest = names.iter().min_by_key(|name| edit_distance(name, &wanted));
        let there = match nearest.filter(|name| edit_distance(name, &wanted) <= 2) {
            Some(nearest) => format!("did you mean `{nearest}`? There"),
            None => "there".to_owned(),
        };
        names.sort_by_key(|name| edit_distance(name, &wanted));
        write!(f, "unknown activation `{}`; {there} are: {}", self.name, names.join(", "))
    }
}

impl core::error::Error for UnknownActivation {}

/// How many characters have to be inserted, deleted, replaced or swapped with their neighbour
/// (optimal string alignment).
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
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn every_name_and_alias_parses_and_names_are_unique() {
        let mut seen: Vec<&str> = Vec::new();
        for (activation, name, label, aliases) in &NAMES {
            assert_eq!(activation.to_string(), *name);
            assert_eq!(activation.label(), *label);
            for text in aliases.iter().chain([name]) {
                assert_eq!(text.parse(), Ok(activation.clone()));
                assert_eq!(text.to_uppercase().replace('-', "_").parse(), Ok(activation.clone()));
                assert!(!seen.contains(text), "{text} names two activations");
                seen.push(text);
            }
        }
    }

    #[test]
    fn names_of_other_ecosystems_are_understood() {
        for (theirs, ours) in [
            ("gelu_pytorch_tanh", Activation::GeluTanh),
            ("quick_gelu", Activation::GeluSigmoid),
            ("Swish", Activation::Silu),
            ("ReLU", Activation::Relu),
        ] {
            assert_eq!(theirs.parse(), Ok(ours));
        }
    }

    #[test]
    fn unknown_name_lists_all_nearest_first() {
        let error = "rleu".parse::<Activation>().unwrap_err().to_string();
        let expected = "unknown activation `rleu`; did you mean `relu`? There are: relu, gelu, elu, silu, soi, cauchy, gelu-tanh, gelu-sigmoid, learnable-gelu";
        assert_eq!(error, expected);
        let far = "transformer".parse::<Activation>().unwrap_err().to_string();
        assert!(far.starts_with("unknown activation `transformer`; there are: "), "{far}");
    }

    #[test]
    fn serde_uses_the_canonical_name() {
        let json = serde_json::to_string(&Activation::built_in()).unwrap();
        assert_eq!(
            json,
            r#"["gelu","gelu-tanh","gelu-sigmoid","silu","elu","relu","soi","learnable-gelu","cauchy"]"#
        );
        let read: Vec<Activation> = serde_json::from_str(&json).unwrap();
        assert_eq!(read, Activation::built_in());
        assert!(serde_json::from_str::<Activation>("\"nope\"").is_err());
    }

    #[test]
    fn custom_activation_shows_its_name_and_equals_its_clones() {
        let twice = Activation::custom("twice", |x| x * 2.0);
        assert_eq!(format!("{twice} {}", twice.label()), "twice twice");
        assert_eq!(twice, twice.clone());
        assert_ne!(twice, Activation::custom("twice", |x| x * 2.0));
    }

    #[test]
    #[should_panic(expected = "another number of values")]
    fn custom_function_that_changes_the_size_is_refused() {
        let half = Activation::custom("half", |x| x.narrow(0, 0, 1));
        half.forward(Tensor::<1>::from_floats([1.0, 2.0], &Default::default()));
    }
}
