use super::Formula;
use super::registry::{check_name, find, names};
use crate::{Error, Result};
use gelu_core::Activation;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// An activation as recipes, the command line and run folders name it.
///
/// - a built-in one (`gelu`)
/// - a formula with a name (`mine=x*tanh(x)`)
/// - a registered one ([`register`](super::register))
/// - a gated unit (`geglu`, `swiglu`, `reglu`, `singlu`, `gated:tanh`, or a formula in gate and value,
///   `mine(a,b)=a*sin(b)`), for networks that have gated units
/// - `polynorm`, for networks that support it
///
/// The text contains everything that a run depends on; parsing it gives an equal activation.
#[derive(Clone, Debug)]
pub struct NamedActivation {
    text: String,
    meaning: Meaning,
}

#[derive(Clone, Debug)]
enum Meaning {
    BuiltIn(Activation),
    Formula(Activation),
    Registered(Activation),
    Gate(Activation),
    PolyNorm,
    /// Read from a run folder, and unknown to this program: the program that made the folder registers more
    /// activations.
    Unknown,
}

/// The form in which a network uses an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nonlinearity<'a> {
    /// A function of one number.
    Function(&'a Activation),
    /// The function that a gated unit `f(gate(x))·up(x)` applies to its gate, or a function of gate and value.
    Gate(&'a Activation),
    /// A [`PolyNorm`](gelu_core::PolyNorm), a function of all features of a row.
    PolyNorm,
}

impl NamedActivation {
    /// Returns the names that [`Activation::built_in`] does not have: gated units, and functions of more than one
    /// number.
    pub fn others() -> impl Iterator<Item = &'static str> {
        GATES.iter().map(|unit| unit.name).chain([POLY_NORM.0])
    }

    /// Reads the text of an activation, even if this program does not know it, so that results can be shown without
    /// it.
    pub fn read(text: &str) -> Self {
        text.parse().unwrap_or_else(|_| Self { text: text.to_owned(), meaning: Meaning::Unknown })
    }

    /// Returns the form in which a network uses this activation.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if this program does not know the activation.
    pub fn nonlinearity(&self) -> Result<Nonlinearity<'_>> {
        match &self.meaning {
            Meaning::BuiltIn(it) | Meaning::Formula(it) | Meaning::Registered(it) => {
                Ok(Nonlinearity::Function(it))
            }
            Meaning::Gate(it) => Ok(Nonlinearity::Gate(it)),
            Meaning::PolyNorm => Ok(Nonlinearity::PolyNorm),
            // Parsing again gives the reason.
            Meaning::Unknown => {
                Err(self.text.parse::<Self>().err().unwrap_or_else(|| unknown(&self.text)))
            }
        }
    }

    /// Returns the activation, to train or plot it; for a gated unit, the activation of the gate.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if this program does not know the activation, or if it is not a function of one number.
    pub fn activation(&self) -> Result<&Activation> {
        match self.nonlinearity()? {
            Nonlinearity::Function(it) | Nonlinearity::Gate(it) => Ok(it),
            Nonlinearity::PolyNorm => Err(unknown(&self.text)),
        }
    }

    /// Returns whether this is a gated unit.
    pub fn is_gate(&self) -> bool {
        matches!(self.meaning, Meaning::Gate(_))
    }

    /// Returns the text that defines the activation: `gelu`, `mine=x*tanh(x)`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name: the text without a formula and its arguments.
    pub fn name(&self) -> &str {
        self.text.split(['=', '(']).next().unwrap_or_default()
    }

    /// Returns the name for readers: `GELU`, `mine`.
    pub fn label(&self) -> Cow<'_, str> {
        match &self.meaning {
            Meaning::BuiltIn(activation) => activation.label(),
            Meaning::Gate(activation) if self.formula().is_none() => {
                match GATES.iter().find(|unit| unit.name == self.text) {
                    Some(unit) => unit.label.into(),
                    None => format!("gated {}", activation.label()).into(),
                }
            }
            Meaning::PolyNorm => POLY_NORM.1.into(),
            _ => self.name().into(),
        }
    }

    /// Returns the formula, if the activation is defined by one.
    pub fn formula(&self) -> Option<&str> {
        self.text.split_once('=').map(|(_, formula)| formula)
    }
}

impl PartialEq for NamedActivation {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for NamedActivation {}

impl fmt::Display for NamedActivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for NamedActivation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((head, formula)) = text.split_once('=') {
            let name = head.split('(').next().unwrap_or_default().trim();
            check_name(name)?;
            if Self::others().any(|taken| taken.eq_ignore_ascii_case(name)) {
                return Err(Error::Usage(format!(
                    "`{name}` already names a layer that networks have; give the formula another name"
                )));
            }
            if find(name).is_some() {
                return Err(Error::Usage(format!(
                    "`{name}` already names an activation that this program registers; give the \
                     formula another name"
                )));
            }
            let formula = Formula::parse_named(head.trim(), formula)?;
            let head: String = head.chars().filter(|c| !c.is_whitespace()).collect();
            let text = format!("{head}={formula}");
            let meaning = if formula.is_gate() { Meaning::Gate } else { Meaning::Formula };
            return Ok(Self { text, meaning: meaning(formula.into_activation(name)) });
        }
        if let Some(unit) = GATES.iter().find(|unit| text.eq_ignore_ascii_case(unit.name)) {
            let activation = match unit.gate {
                Gate::Function(name) => name.parse::<Activation>().map_err(|_| unknown(name))?,
                Gate::Formula(head, formula) => {
                    Formula::parse_named(head, formula)?.into_activation(unit.name)
                }
            };
            return Ok(Self { text: unit.name.to_owned(), meaning: Meaning::Gate(activation) });
        }
        if let Some(function) = text.strip_prefix(GATED) {
            let activation = function.parse::<Activation>().map_err(|_| unknown(function))?;
            let is_its = |unit: &&GatedUnit| unit.gate == Gate::Function(&activation.name());
            let text = match GATES.iter().find(is_its) {
                Some(unit) => unit.name.to_owned(),
                None => format!("{GATED}{}", activation.name()),
            };
            return Ok(Self { text, meaning: Meaning::Gate(activation) });
        }
        if text.eq_ignore_ascii_case(POLY_NORM.0) {
            return Ok(Self { text: POLY_NORM.0.to_owned(), meaning: Meaning::PolyNorm });
        }
        match (find(text), text.parse::<Activation>()) {
            (Some(own), _) => Ok(Self { text: text.to_owned(), meaning: Meaning::Registered(own) }),
            (None, Ok(activation)) => Ok(activation.into()),
            (None, Err(_)) => Err(unknown(text)),
        }
    }
}

/// A gated unit with a name of its own.
struct GatedUnit {
    name: &'static str,
    /// The name for readers.
    label: &'static str,
    gate: Gate<'static>,
}

#[derive(PartialEq)]
enum Gate<'a> {
    /// The function of the gate.
    Function(&'a str),
    /// A formula in gate and value, after a head with the names of both.
    Formula(&'a str, &'a str),
}

impl GatedUnit {
    const fn of(name: &'static str, label: &'static str, gate: Gate<'static>) -> Self {
        Self { name, label, gate }
    }
}

/// The first three are from Shazeer, arXiv 2002.05202. We take SinGLU (openreview.net/forum?id=qq4yipldw2) as GLU
/// with a sine instead of the sigmoid: its abstract calls it a gated unit of first order and gives no formula.
const GATES: [GatedUnit; 4] = [
    GatedUnit::of("geglu", "GEGLU", Gate::Function("gelu")),
    GatedUnit::of("swiglu", "SwiGLU", Gate::Function("silu")),
    GatedUnit::of("reglu", "ReGLU", Gate::Function("relu")),
    GatedUnit::of("singlu", "SinGLU", Gate::Formula("singlu(a,b)", "sin(a)*b")),
];
/// The name of a [`PolyNorm`](gelu_core::PolyNorm), and its name for readers.
const POLY_NORM: (&str, &str) = ("polynorm", "PolyNorm");
/// The prefix of a gated unit without a name of its own, before its function.
const GATED: &str = "gated:";

/// Returns the error for an unknown name, with the nearest known name.
fn unknown(text: &str) -> Error {
    let given = text.to_ascii_lowercase();
    let distance = |name: &str| strsim::osa_distance(&given, name);
    let nearest = NamedActivation::others().min_by_key(|name| distance(name));
    let to_built_in = Activation::built_in().iter().map(|one| distance(&one.name())).min();
    let meant = nearest.filter(|name| (1..=2).contains(&distance(name)));
    if let Some(meant) = meant.filter(|name| to_built_in.is_none_or(|least| distance(name) < least))
    {
        return Error::Usage(format!("unknown activation `{text}`; did you mean `{meant}`?"));
    }
    let own = names();
    let registered = match own.is_empty() {
        true => String::new(),
        false => format!("; this program adds: {}", own.join(", ")),
    };
    let listed = match text.parse::<Activation>() {
        Err(unknown) => unknown.to_string(),
        Ok(_) => format!("unknown activation `{text}`"),
    };
    Error::Usage(format!("{listed}{registered}; or write a formula, name=x*tanh(x)"))
}

impl From<Activation> for NamedActivation {
    fn from(activation: Activation) -> Self {
        let text = activation.name().into_owned();
        match activation {
            Activation::Custom(_) => Self { text, meaning: Meaning::Registered(activation) },
            _ => Self { text, meaning: Meaning::BuiltIn(activation) },
        }
    }
}

impl From<&Activation> for NamedActivation {
    fn from(activation: &Activation) -> Self {
        activation.clone().into()
    }
}

impl From<&Self> for NamedActivation {
    fn from(activation: &Self) -> Self {
        activation.clone()
    }
}

impl Serialize for NamedActivation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Works like [`NamedActivation::read`]: an activation that this program does not know can be shown but not trained.
impl<'de> Deserialize<'de> for NamedActivation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::register;
    use burn::tensor::{Device, Tensor};

    fn at(activation: &NamedActivation, x: f32) -> f32 {
        let x = Tensor::<1>::from_floats([x], &Device::default());
        activation.activation().unwrap().forward(x).into_data().iter::<f32>().next().unwrap()
    }

    #[test]
    fn every_kind_parses_from_its_own_text() {
        register("named-test", |x| x * 3.0).unwrap();
        for (text, canonical, label, value) in [
            ("swish", "silu", "SiLU", 1.761_594_2),
            ("mine = x * 2 + 1", "mine=x*2+1", "mine", 5.0),
            ("named-test", "named-test", "named-test", 6.0),
        ] {
            let parsed: NamedActivation = text.parse().unwrap();
            assert_eq!((parsed.text(), parsed.label().as_ref()), (canonical, label));
            assert_eq!(at(&parsed, 2.0), value);
            let json = serde_json::to_string(&parsed).unwrap();
            assert_eq!(json, format!("\"{canonical}\""));
            assert_eq!(serde_json::from_str::<NamedActivation>(&json).unwrap(), parsed);
        }
    }

    #[test]
    fn formulas_learn_and_gate() {
        let learned: NamedActivation = "mine = x*sigmoid({b = 1}*x)".parse().unwrap();
        assert_eq!((learned.text(), learned.name()), ("mine=x*sigmoid({b=1}*x)", "mine"));
        assert!(!learned.is_gate() && (at(&learned, 2.0) - 1.761_594_2).abs() < 1e-6);
        let channels = gelu_core::Channels::Last(3);
        let layer = learned.activation().unwrap().init(channels, &Device::default());
        assert_eq!(burn::module::Module::num_params(&layer), 3);
        let gate: NamedActivation = "wave ( a, b ) = a * sin(b)".parse().unwrap();
        assert_eq!((gate.text(), gate.name()), ("wave(a,b)=a*sin(b)", "wave"));
        assert_eq!((&*gate.label(), gate.is_gate()), ("wave", true));
        for activation in [learned, gate] {
            assert_eq!(activation.text().parse::<NamedActivation>().unwrap(), activation);
        }
        let problem = |text: &str| text.parse::<NamedActivation>().unwrap_err().to_string();
        assert!(problem("gelu(a,b)=a*b").contains("already names an activation, GELU"));
        assert!(problem("wave(a,b)=a*y").contains("unknown name `y`; there are: a, b, pi, e"));
        assert!(problem("wave(a,b)=a").ends_with("  wave(a,b)=a\n            ^"));
    }

    #[test]
    fn names_that_are_taken_are_refused() {
        let problem = |text: &str| text.parse::<NamedActivation>().unwrap_err().to_string();
        assert!(problem("gelu=x*x").contains("already names an activation, GELU"));
        assert!(problem("=x*x").contains("cannot name an activation"));
        for taken in ["swiglu(a,b)=a*b", "PolyNorm=x*x"] {
            assert!(problem(taken).contains("already names a layer"), "{}", problem(taken));
        }
        register("named-taken", |x| x).unwrap();
        assert!(problem("named-taken=x*x").contains("this program registers"));
        for (given, meant) in
            [("rleu", "relu"), ("PolyNorn", "polynorm"), ("swiglue", "swiglu"), ("gelo", "gelu")]
        {
            let said = problem(given);
            assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
        }
        assert!(problem("rleu").contains("this program adds: "), "{}", problem("rleu"));
    }

    #[test]
    fn what_is_unknown_can_be_read_but_not_trained() {
        let unknown = NamedActivation::read("unheard-of");
        assert_eq!((unknown.text(), unknown.label().as_ref()), ("unheard-of", "unheard-of"));
        assert!(unknown.activation().unwrap_err().to_string().contains("unknown activation"));
    }

    #[test]
    fn a_poly_norm_is_no_function_of_one_number() {
        let named: NamedActivation = "PolyNorm".parse().unwrap();
        assert_eq!(
            (named.text(), &*named.label(), named.is_gate()),
            ("polynorm", "PolyNorm", false)
        );
        assert_eq!(named.nonlinearity().unwrap(), Nonlinearity::PolyNorm);
        let error = named.activation().unwrap_err().to_string();
        assert!(error.contains("a module of gelu-core, PolyNorm"), "{error}");
    }

    #[test]
    fn sin_glu_is_the_sine_of_the_gate_times_the_value() {
        let unit: NamedActivation = "SinGLU".parse().unwrap();
        assert_eq!((unit.text(), &*unit.label(), unit.is_gate()), ("singlu", "SinGLU", true));
        let device = Device::default().autodiff();
        let layer = unit.activation().unwrap().init(gelu_core::Channels::Shared, &device);
        for step in -80_i8..=80 {
            let (a, b) = (0.1 * f32::from(step), 0.7_f32);
            let [gate, value] =
                [a, b].map(|x| Tensor::<1>::from_floats([x], &device).require_grad());
            let y = layer.gated(gate.clone(), value.clone());
            let gradients = y.clone().backward();
            let slope = |of: &Tensor<1>| of.grad(&gradients).unwrap().into_scalar::<f32>();
            let (wide, b) = (f64::from(a), f64::from(b));
            for (found, exact) in [
                (y.into_scalar::<f32>(), wide.sin() * b),
                (slope(&gate), wide.cos() * b),
                (slope(&value), wide.sin()),
            ] {
                let off = (f64::from(found) - exact).abs();
                assert!(off <= 2.0 * f64::from(f32::EPSILON) * exact.abs(), "{a}: {found} {exact}");
            }
        }
    }

    #[test]
    fn every_other_name_is_one() {
        for name in NamedActivation::others() {
            let named: NamedActivation = name.parse().unwrap();
            assert_eq!(named.text(), name);
            assert!(!matches!(named.nonlinearity().unwrap(), Nonlinearity::Function(_)), "{name}");
        }
    }

    #[test]
    fn gates_have_their_names_and_functions() {
        for (text, name, label, function) in [
            ("geglu", "geglu", "GEGLU", Activation::Gelu),
            ("SwiGLU", "swiglu", "SwiGLU", Activation::Silu),
            ("gated:relu", "reglu", "ReGLU", Activation::Relu),
            ("gated:relu2", "gated:squared-relu", "gated squared ReLU", Activation::SquaredRelu),
        ] {
            let gate: NamedActivation = text.parse().unwrap();
            assert_eq!((gate.text(), &*gate.label(), gate.is_gate()), (name, label, true));
            assert_eq!(gate.activation().unwrap(), &function);
            assert_eq!(name.parse::<NamedActivation>().unwrap(), gate);
        }
        assert!(!"gelu".parse::<NamedActivation>().unwrap().is_gate());
        let error = "gated:gulu".parse::<NamedActivation>().unwrap_err().to_string();
        assert!(error.contains("unknown activation"), "{error}");
    }
}
