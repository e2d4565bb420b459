//! Names of units, with their parameters: parsing, printing, serde.

use super::{Function, Job, Kind, Parameter, Unit};
use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;
#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names of a function.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The canonical name.
    pub name: &'static str,
    /// The name as people write it.
    pub label: &'static str,
    /// The names that other ecosystems use.
    pub aliases: &'static [&'static str],
    pub parameter: Option<Parameter>,
}

struct NamesOf;

impl Job for NamesOf {
    type Output = Names;

    fn run<F: Function>(self) -> Names {
        Names { name: F::NAME, label: F::LABEL, aliases: F::ALIASES, parameter: F::PARAMETER }
    }
}

impl Kind {
    /// Returns the function's names.
    pub fn names(self) -> Names {
        self.with(NamesOf)
    }

    /// Returns the function with this code on the wire.
    pub fn from_code(code: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u64 == code)
    }
}

/// Returns a name in this crate's notation: lower case, with hyphens.
pub fn normalised(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('_', "-")
}

/// Returns a name in the form that comparisons use: `LeakyReLU`, `leaky_relu` and `leaky-relu`
/// become the same.
pub fn compact(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Unit {
    /// Returns the unit itself if its parameter is in range. Parsing checks the parameter, too. A
    /// unit that a program constructs is checked on first use, with a panic.
    ///
    /// ```
    /// use gelu_kernels::Unit;
    /// assert_eq!(Unit::Celu { alpha: 2.0 }.validated(), Ok(Unit::Celu { alpha: 2.0 }));
    /// let error = Unit::Celu { alpha: -1.0 }.validated().unwrap_err().to_string();
    /// assert!(error.starts_with("the alpha of `celu` is a number from 1e-18 to 1e18, got `-1`"));
    /// ```
    ///
    /// # Errors
    ///
    /// If the parameter is outside the function's range; the message names the range.
    pub fn validated(self) -> Result<Self, InvalidParameter> {
        let (Names { name, parameter, .. }, given) = (self.kind().names(), self.parameter());
        match parameter {
            Some(of) if !of.allows(given) => {
                let is_short = given == 0.0 || (1e-5..1e16).contains(&given.abs());
                let given = if is_short { format!("{given}") } else { format!("{given:e}") };
                Err(InvalidParameter { name, parameter, given })
            }
            _ => Ok(self),
        }
    }

    /// Returns the unit itself if its parameter is in range.
    ///
    /// # Panics
    ///
    /// If [`validated`](Self::validated) returns an error.
    #[doc(hidden)]
    #[inline]
    pub fn checked(self) -> Self {
        self.validated().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the canonical name, followed by the parameter if it is not the default: `elu`,
    /// `elu:0.5`.
    pub fn name(self) -> Cow<'static, str> {
        let Names { name, parameter, .. } = self.kind().names();
        match parameter.filter(|parameter| parameter.default != self.parameter()) {
            Some(_) => format!("{name}:{}", self.parameter()).into(),
            None => name.into(),
        }
    }

    /// Returns the name as people write it: `GELU`, `ELU (alpha = 0.5)`.
    pub fn label(self) -> Cow<'static, str> {
        let Names { label, parameter, .. } = self.kind().names();
        match parameter.filter(|parameter| parameter.default != self.parameter()) {
            Some(Parameter { name, .. }) => {
                format!("{label} ({name} = {})", self.parameter()).into()
            }
            None => label.into(),
        }
    }
}

/// Parses a name or `name:parameter`. Without a parameter, the unit has its default.
///
/// ```
/// use gelu_kernels::Unit;
/// assert_eq!("gelu".parse(), Ok(Unit::Gelu));
/// assert_eq!("ELU:0.5".parse(), Ok(Unit::Elu { alpha: 0.5 }));
/// ```
impl FromStr for Unit {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let normal = normalised(text);
        let (name, given) = match normal.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (normal.as_str(), None),
        };
        let wanted = compact(name);
        let is_wanted = |kind: &Kind| {
            let names = kind.names();
            compact(names.name) == wanted
                || names.aliases.iter().any(|name| compact(name) == wanted)
        };
        let kind = Kind::ALL.into_iter().find(is_wanted);
        let kind = kind.ok_or_else(|| ParseUnitError::Name(text.to_owned()))?;
        let Names { name, parameter, .. } = kind.names();
        let Some(given) = given else {
            let default = parameter.map_or(0.0, |parameter| parameter.default);
            return Ok(Self::from_parts(kind, default));
        };
        match (parameter, given.parse()) {
            (Some(parameter), Ok(value)) if parameter.allows(value) => {
                Ok(Self::from_parts(kind, value))
            }
            _ => {
                let given = given.to_owned();
                Err(ParseUnitError::Parameter(InvalidParameter { name, parameter, given }))
            }
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(feature = "serde")]
impl Serialize for Unit {
    /// Fails if the parameter is out of range, because such a unit could not be read back.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unit = self.validated().map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&unit.name())
    }
}

#[cfg(feature = "serde")]
impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The error for a parameter that is out of the function's range.
#[derive(Clone, Debug)]
pub struct InvalidParameter {
    name: &'static str,
    parameter: Option<Parameter>,
    given: String,
}

impl PartialEq for InvalidParameter {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.given) == (other.name, &other.given)
    }
}

impl Eq for InvalidParameter {}

impl fmt::Display for InvalidParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, parameter, given } = self;
        match parameter {
            None => write!(f, "`{name}` has no parameter, got `{given}`; write `{name}`"),
            Some(parameter) => {
                let Parameter { name: symbol, default, least, most } = parameter;
                write!(
                    f,
                    "the {symbol} of `{name}` is a number from {least:e} to {most:e}, got `{given}`; \
                     write for instance `{name}:{default}`"
                )
            }
        }
    }
}

impl core::error::Error for InvalidParameter {}

/// The reason why a text is not a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseUnitError {
    /// No unit has this name.
    Name(String),
    /// The unit exists, but the parameter after its name is out of range.
    Parameter(InvalidParameter),
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "no unit is called `{name}`"),
            Self::Parameter(invalid) => invalid.fmt(f),
        }
    }
}

impl core::error::Error for ParseUnitError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn codes_on_the_wire_are_those_they_were_published_with() {
        // Add a line for a new function; never change a line.
        let published: [(u8, &str); 34] = [
            (0, "gelu"),
            (1, "gelu-tanh"),
            (2, "gelu-sigmoid"),
            (3, "silu"),
            (4, "elu"),
            (5, "relu"),
            (6, "cauchy"),
            (7, "identity"),
            (8, "normal-cdf"),
            (9, "clipped-gelu"),
            (10, "mish"),
            (11, "celu"),
            (12, "selu"),
            (13, "leaky-relu"),
            (14, "relu6"),
            (15, "squared-relu"),
            (16, "softplus"),
            (17, "sigmoid"),
            (18, "tanh"),
            (19, "hard-sigmoid"),
            (20, "hard-swish"),
            (21, "hard-mish"),
            (22, "laplace"),
            (23, "log-sigmoid"),
            (24, "softsign"),
            (25, "hardtanh"),
            (26, "tanhshrink"),
            (27, "softshrink"),
            (28, "hardshrink"),
            (29, "thresholded-relu"),
            (30, "gelu2"),
            (31, "leaky-relu2"),
            (32, "smooth-relu2"),
            (33, "sqrtsoftplus"),
        ];
        let mut codes: Vec<_> =
            Kind::ALL.into_iter().map(|kind| (kind as u8, kind.names().name)).collect();
        codes.sort_unstable();
        assert_eq!(codes, published);
    }

    #[test]
    fn the_readme_counts_the_functions() {
        let readme = include_str!("../../README.md");
        let others = Unit::ALL.len() - 1;
        assert!(readme.contains(&format!("\nGELU and {others} other activation functions")));
    }

    #[test]
    fn parameters_are_read_and_printed() {
        for unit in Unit::ALL {
            assert_eq!(unit.to_string().parse(), Ok(unit));
        }
        let half = Unit::Elu { alpha: 0.5 };
        assert_eq!("ELU:0.5".parse(), Ok(half));
        assert_eq!((&*half.name(), &*half.label()), ("elu:0.5", "ELU (alpha = 0.5)"));
        assert_eq!("leaky_relu:1e-1".parse(), Ok(Unit::LeakyRelu { slope: 0.1 }));
        assert_eq!("gelu_10".parse(), Ok(Unit::ClippedGelu { limit: 10.0 }));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_unit_is_saved_as_its_name() {
        let half = Unit::Elu { alpha: 0.5 };
        assert_eq!(serde_json::to_string(&half).unwrap(), "\"elu:0.5\"");
        assert_eq!(serde_json::from_str::<Unit>("\"elu:0.5\"").unwrap(), half);
    }

    #[test]
    fn a_wrong_parameter_is_refused_with_what_it_may_be() {
        for (text, expected) in [
            ("gelu:1", "`gelu` has no parameter, got `1`; write `gelu`"),
            (
                "celu:0",
                "the alpha of `celu` is a number from 1e-18 to 1e18, got `0`; write for instance \
                 `celu:1`",
            ),
            (
                "elu:x",
                "the alpha of `elu` is a number from -1e18 to 1e18, got `x`; write for instance \
                 `elu:1`",
            ),
            (
                "elu:nan",
                "the alpha of `elu` is a number from -1e18 to 1e18, got `nan`; write for instance \
                 `elu:1`",
            ),
            (
                "smooth-relu2:1e-23",
                "the a of `smooth-relu2` is a number from 1e-9 to 1e9, got `1e-23`; write for \
                 instance `smooth-relu2:0.2`",
            ),
        ] {
            let error = text.parse::<Unit>().unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let error = Unit::SmoothRelu2 { a: 1e200 }.validated().unwrap_err().to_string();
        assert!(error.contains("from 1e-9 to 1e9, got `1e200`;"), "{error}");
        assert_eq!("nope".parse::<Unit>(), Err(ParseUnitError::Name("nope".into())));
    }
}
