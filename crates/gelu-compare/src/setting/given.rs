use super::Value;
use crate::suggestion::unknown;
use crate::{Error, Result as OurResult};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A value for each of several axes, serialized as a map.
///
/// The order of the axes matters only to readers: settings are equal if they give the same axes the same values. A
/// setting that is read from a file may have another order.
#[derive(Clone, Debug, Default)]
pub struct Setting(Vec<(String, Value)>);

impl Setting {
    /// Creates a setting of axes with values.
    ///
    /// If an axis is named twice, the last value counts.
    pub fn new<N: Into<String>, V: Into<Value>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let mut setting = Self::default();
        for (name, value) in pairs {
            setting.set(&name.into(), value);
        }
        setting
    }

    /// Returns the value of an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == axis).map(|(_, value)| value)
    }

    /// Returns the value of an axis as it was typed; empty if there is none.
    pub fn text(&self, axis: &str) -> String {
        self.get(axis).map_or_else(String::new, |value| value.content().into_owned())
    }

    /// Returns the number of an axis; NaN if it has none.
    pub fn number(&self, axis: &str) -> f64 {
        self.get(axis).and_then(Value::as_number).unwrap_or(f64::NAN)
    }

    /// Returns the value of an axis, parsed as `T`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if there is no such axis, or if its value cannot be parsed. The message says what is
    /// expected if `T` is a type of the standard library, and has the error of `T` otherwise.
    pub fn read<T: FromStr<Err: fmt::Display>>(&self, axis: &str) -> OurResult<T> {
        let Some(value) = self.get(axis) else {
            let names: Vec<&str> = self.iter().map(|(name, _)| name).collect();
            let unknown = unknown("axis", axis, &names);
            return Err(Error::Usage(format!("this program asks for an {unknown}")));
        };
        let problem = |error: T::Err| expected::<T>().unwrap_or_else(|| error.to_string());
        value
            .content()
            .parse()
            .map_err(|error| Error::Usage(format!("{axis} is {value}: {}", problem(error))))
    }

    /// Sets the value of an axis, and replaces an existing one.
    pub fn set(&mut self, axis: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.0.iter_mut().find(|(name, _)| name == axis) {
            Some((_, there)) => *there = value,
            None => self.0.push((axis.to_owned(), value)),
        }
    }

    /// Returns the setting without the axis.
    #[must_use]
    pub fn without(&self, axis: &str) -> Self {
        Self(self.0.iter().filter(|(name, _)| name != axis).cloned().collect())
    }

    /// Returns whether no axis has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the axes with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the name of an arm in documents: the value if there is only one, otherwise `width 16, depth 2`.
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

/// Returns what is expected of a text that is parsed as `T`, if `T` is a type of the standard library. Such a type's
/// error names neither what is expected nor the text.
fn expected<T>() -> Option<String> {
    let whole =
        |least: i64, most: i64| format!("it has to be a whole number from {least} to {most}");
    Some(match std::any::type_name::<T>() {
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "u64" | "u128" | "usize" => "it has to be a whole number, at least 0".to_owned(),
        "i8" => whole(i8::MIN.into(), i8::MAX.into()),
        "i16" => whole(i16::MIN.into(), i16::MAX.into()),
        "i32" => whole(i32::MIN.into(), i32::MAX.into()),
        "i64" | "i128" | "isize" => "it has to be a whole number".to_owned(),
        "f32" | "f64" => "it has to be a number, as in 0.1 or 1e-3".to_owned(),
        "bool" => "it has to be true or false".to_owned(),
        "char" => "it has to be one character".to_owned(),
        _ => return None,
    })
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Setting {}

impl Hash for Setting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut pairs: Vec<&(String, Value)> = self.0.iter().collect();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.hash(state);
    }
}

impl fmt::Display for Setting {
    /// Writes `gelu lr 0.001 dropout 0.5`. A text value needs no name in front.
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

/// Serializes a setting for documents, with numbers as they were typed: `1e-3`.
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
                let mut setting = Setting::default();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if setting.get(&name).is_some() {
                        let problem = format!("the axis {name} has two values");
                        return Err(serde::de::Error::custom(problem));
                    }
                    setting.0.push((name, value));
                }
                Ok(setting)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Axis, Role};
    use std::collections::HashSet;

    #[test]
    fn the_order_in_which_axes_are_named_says_nothing() {
        let one = Setting::new([("zeta", 1.0), ("alpha", 3.0)]);
        let other = Setting::new([("alpha", 3.0), ("zeta", 1.0)]);
        assert_eq!(one, other);
        assert_eq!(HashSet::from([one.clone(), other]).len(), 1);
        for different in [
            Setting::new([("zeta", 3.0), ("alpha", 1.0)]),
            Setting::new([("zeta", 1.0)]),
            Setting::new([("zeta", 1.0), ("alpha", 3.0), ("more", 0.0)]),
        ] {
            assert_ne!(one, different);
            assert_ne!(different, one);
        }
    }

    #[test]
    fn what_cannot_be_read_is_answered_with_what_it_has_to_be() {
        fn refusal<T: FromStr<Err: fmt::Display>>(text: &str) -> String {
            match Setting::new([("depth", text)]).read::<T>("depth") {
                Ok(_) => panic!("{text} was read"),
                Err(error) => error.to_string(),
            }
        }
        let whole = "depth is 2.5: it has to be a whole number, at least 0";
        assert_eq!(refusal::<usize>("2.5"), whole);
        assert_eq!(refusal::<u8>("256"), "depth is 256: it has to be a whole number from 0 to 255");
        assert!(refusal::<i16>("x").ends_with("a whole number from -32768 to 32767"));
        assert!(refusal::<i64>("1e3").ends_with("it has to be a whole number"));
        assert!(refusal::<f64>("0,1").ends_with("it has to be a number, as in 0.1 or 1e-3"));
        assert!(refusal::<bool>("yes").ends_with("it has to be true or false"));
        // The error of another type is passed on.
        struct Even;
        impl FromStr for Even {
            type Err = &'static str;

            fn from_str(_: &str) -> Result<Self, Self::Err> {
                Err("it has to be even")
            }
        }
        assert_eq!(refusal::<Even>("3"), "depth is 3: it has to be even");
    }

    #[test]
    fn what_a_file_gives_back_is_the_same_and_gets_the_axes_order() {
        let axes = ["zeta", "alpha"].map(|name| Axis::new(name, Role::Compared, [1.0]));
        let one = Setting::new([("zeta", 1.0), ("alpha", 3.0)]);
        let read: Setting = toml::from_str(&toml::to_string(&one).unwrap()).unwrap();
        assert_eq!(read, one);
        assert_eq!(read.in_order_of(&axes).to_string(), "zeta 1 alpha 3");
        assert_eq!(one.in_order_of(&axes[1..]).to_string(), "alpha 3 zeta 1");
        let twice = serde_json::from_str::<Setting>(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap_err();
        assert!(twice.to_string().contains("the axis a has two values"), "{twice}");
    }
}
