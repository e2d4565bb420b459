use super::NamedActivation;
use crate::{Error, Result};
use std::str::FromStr;

/// A comma-separated list of activations, as the command line takes it. Commas inside the brackets of a formula
/// belong to the formula.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivationList(pub Vec<NamedActivation>);

impl ActivationList {
    /// Checks that no two activations have the same name and different formulas.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming both activations.
    pub fn check_names(activations: &[NamedActivation]) -> Result<()> {
        for (index, second) in activations.iter().enumerate() {
            let first = activations[..index]
                .iter()
                .find(|first| first.name() == second.name() && first.text() != second.text());
            if let Some(first) = first {
                return Err(Error::Usage(format!(
                    "the name `{}` is used twice, for {first} and for {second}",
                    second.name()
                )));
            }
        }
        Ok(())
    }
}

/// Splits a list at its commas, except at commas inside brackets.
pub fn listed(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

impl FromStr for ActivationList {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = listed(text);
        let activations: Vec<NamedActivation> = parts.map(str::parse).collect::<Result<_>>()?;
        Self::check_names(&activations)?;
        Ok(Self(activations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_belong_to_the_formula() {
        let list: ActivationList =
            "gelu,mine=max(x,min(0,x/2)), relu,gate(a,b)=a*{c=1}*b".parse().unwrap();
        let texts: Vec<&str> = list.0.iter().map(NamedActivation::text).collect();
        assert_eq!(texts, ["gelu", "mine=max(x,min(0,x/2))", "relu", "gate(a,b)=a*{c=1}*b"]);
    }

    #[test]
    fn one_name_for_two_formulas_is_refused() {
        let error = "a=x*2,a=x*3".parse::<ActivationList>().unwrap_err().to_string();
        assert_eq!(error, "the name `a` is used twice, for a=x*2 and for a=x*3");
        assert!("a=x*2,a=x * 2".parse::<ActivationList>().is_ok(), "that is one activation");
        assert!("gelu,,relu".parse::<ActivationList>().is_err());
    }
}
