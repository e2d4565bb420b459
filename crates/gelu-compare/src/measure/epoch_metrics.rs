use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// What one finished epoch measured, by column; `None` where there is a column and no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochMetrics {
    /// From 1.
    pub epoch: usize,
    /// In the order in which they were reported.
    pub values: Vec<(Cow<'static, str>, Option<f64>)>,
}

impl EpochMetrics {
    /// The column with the number of the epoch that a run restores if it ends here: early stopping.
    pub const RESTORED: &str = "restored_epoch";

    /// The epoch that the run restores, where it would restore one.
    pub fn restored(&self) -> Option<usize> {
        self.get(Self::RESTORED).filter(|epoch| *epoch >= 1.0).map(|epoch| epoch as usize)
    }

    /// An epoch that has measured nothing yet.
    pub fn new(epoch: usize) -> Self {
        Self { epoch, values: Vec::new() }
    }

    /// The same with a value.
    #[must_use]
    pub fn with(mut self, column: &'static str, value: impl Into<Option<f64>>) -> Self {
        self.put(Cow::Borrowed(column), value.into());
        self
    }

    /// Sets a value, whether there was one or not.
    pub fn set(&mut self, column: &str, value: impl Into<Option<f64>>) {
        self.put(Cow::Owned(column.to_owned()), value.into());
    }

    fn put(&mut self, column: Cow<'static, str>, value: Option<f64>) {
        match self.values.iter_mut().find(|(name, _)| *name == column) {
            Some((_, there)) => *there = value,
            None => self.values.push((column, value)),
        }
    }

    /// The value of a column, where it was measured.
    pub fn get(&self, column: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == column)?.1
    }

    /// Columns with their values, where there is one.
    pub fn measured(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().filter_map(|(name, value)| Some((name.as_ref(), (*value)?)))
    }
}

impl Serialize for EpochMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.values.len()))?;
        map.serialize_entry("epoch", &self.epoch)?;
        for (name, value) in &self.values {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for EpochMetrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Columns;
        impl<'de> Visitor<'de> for Columns {
            type Value = EpochMetrics;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an epoch and what it measured")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<EpochMetrics, M::Error> {
                let mut epoch = None;
                let mut values = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "epoch" => epoch = Some(map.next_value()?),
                        _ => values.push((Cow::Owned(name), map.next_value()?)),
                    }
                }
                let epoch = epoch.ok_or_else(|| serde::de::Error::missing_field("epoch"))?;
                Ok(EpochMetrics { epoch, values })
            }
        }
        deserializer.deserialize_map(Columns)
    }
}

impl JsonSchema for EpochMetrics {
    fn schema_name() -> Cow<'static, str> {
        "EpochMetrics".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What one finished epoch measured, by column; null where there is no value.",
            "type": "object",
            "properties": {
                "epoch": { "description": "From 1.", "type": "integer", "minimum": 1 }
            },
            "required": ["epoch"],
            "additionalProperties": { "type": ["number", "null"] }
        })
    }
}
