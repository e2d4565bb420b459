//! The baseline: the arm with which every other arm is compared.

use super::ProgramRecipe;
use crate::setting::{Axis, Role, Setting, Value};
use crate::suggestion::did_you_mean;
use crate::{Error, Result};

impl ProgramRecipe {
    /// Returns the baseline that was named, or `None` if none was.
    ///
    /// # Errors
    ///
    /// Returns an error if the baseline is not among the compared arms.
    pub(super) fn baseline(&self) -> Result<Option<Setting>> {
        let Some(text) = &self.baseline else { return Ok(None) };
        let compared: Vec<&Axis> = Role::Compared.of(&self.axes).collect();
        // The value as typed or, failing that, an equal number.
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
            false => {
                let one_of =
                    |axis: &&Axis| format!("{} is one of {}", axis.name, listed(&axis.values));
                let listed: Vec<String> = compared.iter().map(one_of).collect();
                Err(Error::Usage(format!(
                    "the baseline {text} is not among what is compared: {}{}",
                    listed.join("; "),
                    meant(text, &compared)
                )))
            }
        }
    }
}

/// Returns suggestions for a mistyped baseline, as the end of a sentence.
fn meant(text: &str, compared: &[&Axis]) -> String {
    let of_axis = |axis: &&Axis| -> Vec<String> {
        let typed = |value: &Value| match compared {
            [_] => value.to_string(),
            _ => format!("{}={value}", axis.name),
        };
        axis.values.iter().map(typed).collect()
    };
    let arms: Vec<String> = compared.iter().flat_map(of_axis).collect();
    let arms: Vec<&str> = arms.iter().map(String::as_str).collect();
    let typed = match compared {
        [_] => vec![text],
        _ => text.split(',').filter(|pair| !arms.contains(pair)).collect(),
    };
    let questions = typed.into_iter().filter_map(|part| did_you_mean(part, &arms));
    questions.map(|question| format!("; {question}")).collect()
}

fn listed(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_mistyped_baseline_is_answered_with_what_was_meant() {
        let mut recipe = example();
        recipe.axis(Axis::new("activation", Role::Compared, ["gelu", "relu"]));
        let said = |recipe: &mut ProgramRecipe, baseline: &str| {
            recipe.baseline = Some(baseline.to_owned());
            recipe.baseline().unwrap_err().to_string()
        };
        let both = said(&mut recipe, "activation=rleu,width=16");
        let expected = "width is one of 16, 32; activation is one of gelu, relu; \
                        did you mean `activation=relu`?";
        assert!(both.ends_with(expected), "{both}");
        recipe.axes.retain(|axis| axis.name == "activation");
        let one = said(&mut recipe, "rleu");
        assert!(one.ends_with("activation is one of gelu, relu; did you mean `relu`?"), "{one}");
        let far = said(&mut recipe, "softplus");
        assert!(far.ends_with("activation is one of gelu, relu"), "{far}");
    }
}
