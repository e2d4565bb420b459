//! The arm that every other one is compared with.

use super::Study;
use crate::setting::{Axis, Role, Setting, Value};
use crate::{Error, Result};

impl Study {
    /// The arm that is named as the baseline; `None` where none is.
    ///
    /// # Errors
    ///
    /// When that is not among what is compared.
    pub(super) fn baseline(&self) -> Result<Option<Setting>> {
        let Some(text) = &self.baseline else { return Ok(None) };
        let compared: Vec<&Axis> = Role::Compared.of(&self.axes).collect();
        // As it was typed, or else by the number that it is.
        let value = |axis: &Axis, text: &str| {
            let typed = text.parse::<Value>().unwrap_or_else(|never| match never {});
            let equal = |known: &&Value| known.as_number() == typed.as_number();
            let known = axis.values.iter().find(|known| **known == typed);
            let known = known
                .or_else(|| axis.values.iter().find(equal).filter(|v| v.as_number().is_some()));
            known.cloned().unwrap_or(typed)
        };
        let arm = match compared.as_slice() {
            [axis] => Setting::new([(axis.name.clone(), value(axis, text))]),
            _ => {
                let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
                let of = |axis: &&&Axis| {
                    let found = pairs.clone().find(|(name, _)| *name == axis.name);
                    Some((axis.name.clone(), value(axis, found?.1)))
                };
                Setting::new(compared.iter().filter_map(|axis| of(&axis)))
            }
        };
        let known = |axis: &&Axis| arm.get(&axis.name).is_some_and(|v| axis.values.contains(v));
        match compared.iter().all(known) {
            true => Ok(Some(arm)),
            false => Err(Error::Usage(format!(
                "the baseline {text} is not among what is compared: {}",
                compared
                    .iter()
                    .map(|axis| format!("{} is one of {}", axis.name, listed(&axis.values)))
                    .collect::<Vec<_>>()
                    .join("; ")
            ))),
        }
    }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
