use super::expression::Expression;
use super::parse::{Problem, parse};
use crate::{Error, Result};
use burn::tensor::Tensor;
use std::fmt;

/// A formula of one's own: an expression in `x` with `+ - * / ^`, numbers, `pi`, `e`, and the
/// functions exp, ln, tanh, erf, sqrt, abs, sigmoid, min and max.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Without white space, so that spaces make no difference to a run's identity.
    text: String,
    expression: Expression,
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with what is wrong, the formula, and a caret under the place.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_named("", text)
    }

    /// Parses the formula of an activation called `name`, which messages repeat.
    pub(super) fn parse_named(name: &str, text: &str) -> Result<Self> {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}=") };
        let expression = parse(text).map_err(|problem| show(&prefix, text, &problem))?;
        // What a figure shows of an activation; a formula that is nowhere a number there trains
        // nothing.
        if !(-80..=80).any(|step| expression.at(f64::from(step) / 20.0).is_finite()) {
            let message = "it is not a finite number for any x from -4 to 4".to_owned();
            return Err(show(&prefix, text, &Problem { message, place: 0..text.len() }));
        }
        let text = text.chars().filter(|c| !c.is_whitespace()).collect();
        Ok(Self { text, expression })
    }

    /// Its value at every element of `x`, any shape `[any]`.
    pub fn on(&self, x: Tensor<1>) -> Tensor<1> {
        self.expression.on(&x)
    }

    /// Its value at one number, in double precision.
    pub fn at(&self, x: f64) -> f64 {
        self.expression.at(x)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn show(prefix: &str, text: &str, problem: &Problem) -> Error {
    // A tab or line break would move the caret away from its place.
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let columns = |part: &str| part.chars().count();
    let before = columns(prefix) + columns(&text[..problem.place.start]);
    let carets = columns(&text[problem.place.clone()]).max(1);
    Error::Usage(format!(
        "wrong formula: {}\n  {prefix}{line}\n  {}{}",
        problem.message,
        " ".repeat(before),
        "^".repeat(carets)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_make_no_other_formula() {
        assert_eq!(Formula::parse(" x * tanh( x )").unwrap(), Formula::parse("x*tanh(x)").unwrap());
        assert_eq!(Formula::parse("x * 2").unwrap().to_string(), "x*2");
    }

    #[test]
    fn caret_stands_under_the_place() {
        let error = Formula::parse_named("mine", "x*tnh(x)").unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert!(lines[0].starts_with("wrong formula: unknown function `tnh`"), "{error}");
        assert_eq!(lines[1..], ["  mine=x*tnh(x)", "         ^^^"]);
    }

    #[test]
    fn formula_that_is_nowhere_a_number_is_refused() {
        let error = Formula::parse("ln(-1-x^2)").unwrap_err().to_string();
        assert!(error.contains("not a finite number for any x"), "{error}");
        assert!(Formula::parse("ln(x)").is_ok(), "half of the line is enough");
    }
}
