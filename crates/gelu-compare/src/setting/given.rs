use super::Value;
use crate::{Error, Result as OurResult};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::str::FromStr;

/// A value for each of some axes, in the axes' order; written as a map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Setting(Vec<(String, Value)>);

impl Setting {
    /// Of these axes and values.
    pub fn new<N: Into<String>, V: Into<Value>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == axis).map(|(_, value)| value)
    }

    /// The value of an axis as it was typed; empty where there is none.
    pub fn text(&self, axis: &str) -> String {
        self.get(axis).map_or_else(String::new, |value| value.content().into_owned())
    }

    /// The number that an axis has; NaN where it has none.
    pub fn number(&self, axis: &str) -> f64 {
        self.get(axis).and_then(Value::as_number).unwrap_or(f64::NAN)
    }

    /// The value of an axis, as whatever it can be read as.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where there is no such axis, or its value is no such thing.
    pub fn read<T: FromStr<Err: fmt::Display>>(&self, axis: &str) -> OurResult<T> {
        let Some(value) = self.get(axis) else {
            let names: Vec<&str> = self.iter().map(|(name, _)| name).collect();
            return Err(Error::Usage(format!(
                "this program asks for {axis}, and there is no such axis; there are: {}",
                names.join(", ")
            )));
        };
        value.content().parse().map_err(|error| {
            let wanted = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
            Error::Usage(format!("{axis} is {value}, which is no {wanted}: {error}"))
        })
    }

    /// Gives an axis another value, or one at all.
    pub fn set(&mut self, axis: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.0.iter_mut().find(|(name, _)| name == axis) {
            Some((_, there)) => *there = value,
            None => self.0.push((axis.to_owned(), value)),
        }
    }

    /// Whether it gives no axis a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Axes and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value alone where it is one, else `width 16, depth 2`: how documents name an arm.
    pub fn canonical(&self) -> String {
        match self.0.as_slice() {
            [(_, value)] => value.to_string(),
            several => {
                let pair = |(name, value): &(String, Value)| format!("{name} {value}");
                several.iter().map(pair).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

impl fmt::Display for Setting {
    /// `gelu lr 0.001 dropout 0.5`: texts say themselves what they are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            match value.is_word() {
                true => write!(f, "{space}{value}")?,
                false => write!(f, "{space}{name} {value}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// As documents have it: numbers as they were typed, `1e-3`.
pub(crate) fn as_typed<S: Serializer>(setting: &Setting, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(setting.0.len()))?;
    for (name, value) in &setting.0 {
        match value {
            Value::Text(_) if value.as_number().is_some() => {
                let text = RawValue::from_string(value.to_json_text());
                map.serialize_entry(name, &text.map_err(serde::ser::Error::custom)?)?;
            }
            _ => map.serialize_entry(name, value)?,
        }
    }
    map.end()
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Setting;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value for each axis")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Setting, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Setting(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
