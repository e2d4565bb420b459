use super::expression::{Arguments, Expression};
use super::formula::show;
use super::names::{Scope, VARIABLES};
use super::parse::parse;
use super::problem::Problem;
use super::registry::is_name;
use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A named formula that a network learns: `wave=sin(3*x)*y`.
///
/// The syntax is that of [`Formula`](super::Formula), but the variables are `x`, `x` and `y`, or `x`, `y` and `z`,
/// and there are no learned constants. The text contains everything that a run depends on; parsing it gives an equal
/// formula.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFormula {
    /// The text without white space.
    text: String,
    expression: Expression,
    variables: usize,
}

impl TargetFormula {
    /// The largest number of variables.
    pub const MOST_VARIABLES: usize = VARIABLES.len();

    /// Returns the name.
    pub fn name(&self) -> &str {
        self.text.split('=').next().unwrap_or_default()
    }

    /// Returns the number of variables, 1 to 3.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// Returns the value at `point`, in double precision: NaN or infinite where the formula is undefined.
    ///
    /// # Panics
    ///
    /// If `point` has fewer numbers than the formula has variables.
    pub fn at(&self, point: &[f64]) -> f64 {
        self.expression.at(Arguments { given: point, learned: &[] })
    }

    /// Checks that no two formulas have the same name.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming both formulas.
    pub fn check_names(formulas: &[Self]) -> Result<()> {
        for (index, second) in formulas.iter().enumerate() {
            let mut before = formulas[..index].iter();
            if let Some(first) = before.find(|f| f.name() == second.name() && *f != second) {
                let name = second.name();
                return Err(Error::Usage(format!(
                    "the name `{name}` is used twice, for {first} and for {second}"
                )));
            }
        }
        Ok(())
    }
}

impl FromStr for TargetFormula {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((name, formula)) = text.split_once('=') else {
            return Err(Error::Usage(format!(
                "`{}` is no formula with a name; one that is to be learned is written name=formula, as in \
                 wave=sin(3*x)*y",
                text.trim().escape_debug()
            )));
        };
        let name = name.trim();
        if !is_name(name) {
            return Err(Error::Usage(format!(
                "`{}` cannot name a formula; a name is a letter, then letters, digits, - and _, at most 32 of \
                 them",
                name.escape_debug()
            )));
        }
        let prefix = format!("{name}=");
        let refuse = |problem: Problem| show(&prefix, formula, &problem);
        let (expression, learned) = parse(formula, &Scope::Variables).map_err(refuse)?;
        if !learned.is_empty() {
            let message =
                "a formula that is to be learned has no constants to learn; write numbers";
            let place = formula.find('{').unwrap_or(0)..formula.find('}').map_or(0, |end| end + 1);
            return Err(refuse(Problem { message: message.to_owned(), place }));
        }
        let stands = |index: &usize| expression.contains(&Expression::Argument(*index));
        let variables = (0..Self::MOST_VARIABLES).filter(stands).count();
        let compact: String = formula.chars().filter(|c| !c.is_whitespace()).collect();
        Ok(Self { text: format!("{name}={compact}"), expression, variables })
    }
}

impl fmt::Display for TargetFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for TargetFormula {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TargetFormula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::list::listed;
    use super::*;

    /// The values are Python's: math.sin(3*0.5)*-0.25 and so on.
    #[test]
    fn variables_are_those_that_stand_in_it() {
        for (text, variables, expected) in [
            ("a = sin(3*x)", 1, 0.997_494_986_604_054_4),
            ("b=sin(3*x)*y", 2, -0.249_373_746_651_013_6),
            ("c=x*y+z/(1+x^2)", 3, 0.675),
            ("d=max(x, y)", 2, 0.5),
        ] {
            let formula: TargetFormula = text.parse().unwrap();
            assert_eq!(formula.variables(), variables, "{text}");
            let value = formula.at(&[0.5, -0.25, 1.0]);
            assert!((value - expected).abs() < 1e-15, "{text}: {value}");
            assert_eq!(formula.to_string().parse::<TargetFormula>().unwrap(), formula);
            assert!(!formula.to_string().contains(' '));
        }
    }

    #[test]
    fn what_is_wrong_is_said_under_its_place() {
        for (text, message) in [
            ("sin(x)", "`sin(x)` is no formula with a name"),
            ("a/b=x", "`a/b` cannot name a formula"),
            ("=x", "`` cannot name a formula"),
            ("2a=x", "`2a` cannot name"),
            ("f=sin(y)", "it does not use x"),
            ("f=x*z", "it does not use y, so an input would say nothing"),
            ("f=2", "it does not use x"),
            ("f=x*w", "unknown name `w`; there are: x, y, z, pi, e\n"),
            ("f=x*{b=2}", "has no constants to learn"),
            ("f=x*tnh(y)", "unknown function `tnh`"),
        ] {
            let error = text.parse::<TargetFormula>().unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        let error = "f=x*tnh(y)".parse::<TargetFormula>().unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines[1..], ["  f=x*tnh(y)", "      ^^^"]);
    }

    #[test]
    fn names_are_used_once() {
        let list = |text| listed(text).map(|f| f.parse().unwrap()).collect::<Vec<TargetFormula>>();
        TargetFormula::check_names(&list("a=max(x,y), b=x")).unwrap();
        let list = list("a=x,a=x^2");
        let error = TargetFormula::check_names(&list).unwrap_err().to_string();
        assert!(error.contains("the name `a` is used twice, for a=x and for a=x^2"), "{error}");
    }
}
