use crate::names::{number, printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A value of an axis. Numbers are equal where their bits are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(f64),
    /// Any text.
    Text(String),
}

impl Value {
    /// The number, where it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// As JSON for programs in languages that tell whole numbers from others: 32, not 32.0.
    pub fn to_plain_json(&self) -> serde_json::Value {
        /// Up to here every whole number is a double.
        const WHOLE: f64 = 9_007_199_254_740_992.0;
        match *self {
            Self::Number(number) if number.fract() == 0.0 && number.abs() <= WHOLE => {
                (number as i64).into()
            }
            Self::Number(number) => number.into(),
            Self::Flag(flag) => flag.into(),
            Self::Text(ref text) => text.as_str().into(),
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

    /// `true` and `false`, a number where it would be written so (`0.1`, `64`, `1e-3`), or else a text:
    /// `1.10` is a version, and stays what it is.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            _ => match text.parse::<f64>() {
                Ok(value) if value.is_finite() && is_written_so(text, value) => Self::Number(value),
                _ => Self::Text(text.to_owned()),
            },
        })
    }
}

fn is_written_so(text: &str, value: f64) -> bool {
    number(value) == text || text.contains(['e', 'E'])
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
        for text in
            ["gelu", "1.10", "007", "64", "0.1", "-3", "true", "", "nan", "inf", "+5", "1_000"]
        {
            let value: Value = text.parse().unwrap();
            assert_eq!(value.to_string(), text, "{value:?}");
        }
        let number = |text: &str| text.parse::<Value>().unwrap().as_number();
        assert_eq!((number("1e-3"), number("64"), number("1.10")), (Some(1e-3), Some(64.0), None));
        assert_eq!("true".parse::<Value>(), Ok(Value::Flag(true)));
    }

    #[test]
    fn values_are_read_back_from_json_and_whole_numbers_are_whole_for_other_programs() {
        for (value, text, plain) in [
            (Value::from(32.0), "32.0", "32"),
            (Value::from(0.5), "0.5", "0.5"),
            (Value::from("a"), "\"a\"", "\"a\""),
            (Value::from(true), "true", "true"),
            (Value::from(1e300), "1e+300", "1e+300"),
        ] {
            let written = serde_json::to_string(&value).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
            assert_eq!(value.to_plain_json().to_string(), plain);
        }
    }
}
