use crate::names::{number, printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A value of an axis: the text that was typed, so `1e3`, `1000` and `+1e3` are three values. Numbers are equal if
/// they are bit-identical. The only numbers are those that [`number`] writes as they were typed.
///
/// [`content`](Self::content) returns what programs get. The displayed form is one line of plain text.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// Any text.
    Text(String),
}

impl Value {
    /// Returns the number, if the value is one. This includes a number that is stored as text because it was typed as
    /// `1e-3`.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) if text.contains(['e', 'E']) => {
                text.parse().ok().filter(|number: &f64| number.is_finite())
            }
            _ => None,
        }
    }

    /// Returns whether the value explains itself without the axis's name: `gelu`, unlike 64 or `1e-3`.
    pub fn is_word(&self) -> bool {
        matches!(self, Self::Text(text) if !text.is_empty()) && self.as_number().is_none()
    }

    /// Returns the value as it was typed, including tabs and line feeds. This is what a program gets.
    pub fn content(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            other => other.to_string().into(),
        }
    }

    /// Returns the text, if the value is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value as JSON text for other programs. A number stays as it was typed if that is valid JSON: 32
    /// and `12e45`.
    pub fn to_json_text(&self) -> String {
        let content = self.content();
        let json: Result<serde_json::Number, _> = serde_json::from_str(&content);
        match self {
            Self::Flag(flag) => flag.to_string(),
            _ if self.as_number().is_some() && json.is_ok() => content.into_owned(),
            _ => serde_json::Value::from(content).to_string(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Flag(a), Self::Flag(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Self::Text(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Flag(flag) => flag.hash(state),
            Self::Number(number) => number.to_bits().hash(state),
            Self::Text(text) => text.hash(state),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(value) => f.write_str(&number(*value)),
            Self::Text(text) => f.write_str(&printable(text)),
        }
    }
}

impl FromStr for Value {
    type Err = Infallible;

    /// Parses `true` and `false`, and a number if it would be written in the same way (`0.1`, `64`). Everything else
    /// is text: `1.10` is a version, `12e45` may be a commit, and both stay as they are.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            _ => match text.parse::<f64>() {
                Ok(value) if value.is_finite() && number(value) == text => Self::Number(value),
                _ => Self::Text(text.to_owned()),
            },
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_a_command_gets() {
        let texts = [
            "gelu",
            "1.10",
            "007",
            "64",
            "0.1",
            "-3",
            "true",
            "",
            "nan",
            "inf",
            "+5",
            "1_000",
            "1e3",
            "+1e3",
            "1E3",
            "10e2",
            "1000",
            "12e45",
            "1e400",
            "9007199254740993",
            "-0",
            "0",
            "a\tb\nc",
        ];
        let values = texts.map(|text| text.parse::<Value>().unwrap());
        for (text, value) in texts.iter().zip(&values) {
            assert_eq!(value.content(), *text, "{value:?}");
            // The same holds after a round trip through a file.
            let file = toml::to_string(&std::collections::BTreeMap::from([("v", value)])).unwrap();
            let read: std::collections::BTreeMap<String, Value> = toml::from_str(&file).unwrap();
            assert_eq!((read["v"].content(), &read["v"]), ((*text).into(), value));
        }
        for (index, value) in values.iter().enumerate() {
            assert_eq!(values.iter().position(|other| other == value), Some(index), "{value:?}");
        }
        assert_eq!(values.last().unwrap().to_string(), "a\\u0009b\\u000ac");
        let number = |text: &str| text.parse::<Value>().unwrap().as_number();
        assert_eq!((number("1e-3"), number("64"), number("1.10")), (Some(1e-3), Some(64.0), None));
        assert_eq!((number("1e400"), number("fee"), number("+1e3")), (None, None, Some(1e3)));
        assert_eq!("true".parse::<Value>(), Ok(Value::Flag(true)));
    }

    #[test]
    fn values_are_read_back_from_json_and_whole_numbers_are_whole_for_other_programs() {
        for (value, text, plain) in [
            (Value::from(32.0), "32.0", "32"),
            (Value::from(0.5), "0.5", "0.5"),
            (Value::from("a"), "\"a\"", "\"a\""),
            (Value::from(true), "true", "true"),
            (Value::from(1e300), "1e+300", "1e300"),
            (Value::from("12e45"), "\"12e45\"", "12e45"),
            (Value::from("+1e3"), "\"+1e3\"", "\"+1e3\""),
            (Value::from("007"), "\"007\"", "\"007\""),
        ] {
            let written = serde_json::to_string(&value).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
            assert!(serde_json::from_str::<serde_json::Value>(&value.to_json_text()).is_ok());
            assert_eq!(value.to_json_text(), plain);
        }
    }

    #[test]
    fn nought_with_a_sign_is_another_value_wherever_values_are_told_apart() {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let hash = |value: &Value| {
            let mut hasher = DefaultHasher::new();
            value.hash(&mut hasher);
            hasher.finish()
        };
        let [plus, minus] = [Value::from(0.0), Value::from(-0.0)];
        assert_ne!(plus, minus);
        assert_ne!(hash(&plus), hash(&minus));
        assert_eq!((plus.content(), minus.content()), ("0".into(), "-0".into()));
    }
}
