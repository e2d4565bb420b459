use super::expression::{Arguments, Expression};
use super::names::Scope;
use super::parse::parse;
use super::problem::Problem;
use crate::{Error, Result};
use burn::tensor::Tensor;
use gelu_core::Activation;
use std::fmt;

/// A user-defined formula for an activation or a gated unit.
///
/// It is an expression in `x` (or in the gate and the value of a gated unit) with `+ - * / ^`, numbers, `pi`, `e`,
/// the functions exp, ln, tanh, erf, sqrt, abs, sigmoid, sin, cos, log1p, expm1, softplus, normal_cdf, gelu, silu,
/// relu, min and max, and learned constants. `{b=1}` declares a learned constant with its initial value; `{b}` uses
/// it again.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The formula without white space, so that spaces do not change a run's identity.
    text: String,
    expression: Expression,
    /// The initial values of the learned constants.
    starts: Vec<f64>,
    is_gate: bool,
}

impl Formula {
    /// Parses a formula in `x`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with the problem, the formula, and a caret under the position of the problem.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_named("", text)
    }

    /// Parses the formula of the activation `name`, which error messages repeat. `name` is `mine`, or for a gated
    /// unit `mine(a, b)` with the names of its gate and its value.
    pub(super) fn parse_named(name: &str, text: &str) -> Result<Self> {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}=") };
        let scope = Scope::of(name).map_err(|problem| show("", &prefix, &problem))?;
        let (expression, starts) =
            parse(text, &scope).map_err(|problem| show(&prefix, text, &problem))?;
        let is_gate = scope.is_gate();
        let compact = text.chars().filter(|c| !c.is_whitespace()).collect();
        let formula = Self { text: compact, expression, starts, is_gate };
        // Figures show an activation from −4 to 4. A formula that is not finite anywhere in this range cannot be
        // trained.
        if !(-80..=80).any(|step| formula.at(f64::from(step) / 20.0).is_finite()) {
            let x = scope.first();
            let message = format!("it is not a finite number for any {x} from -4 to 4");
            return Err(show(&prefix, text, &Problem { message, place: 0..text.len() }));
        }
        Ok(formula)
    }

    /// Returns whether this is a formula in the gate and the value of a gated unit.
    pub fn is_gate(&self) -> bool {
        self.is_gate
    }

    /// Returns the initial values of the learned constants, in the order of their first occurrence in the formula.
    pub fn starts(&self) -> &[f64] {
        &self.starts
    }

    /// Returns the value of the formula at every element of `x`, any shape `[any]`, with the learned constants at
    /// their initial values. For a gated unit, `x` is the gate and the value is 1.
    pub fn on(&self, x: Tensor<1>) -> Tensor<1> {
        let value = x.ones_like();
        let learned: Vec<_> = self.starts.iter().map(|start| x.full_like(*start)).collect();
        self.expression.on(Arguments { given: &[x, value], learned: &learned })
    }

    /// Returns the value of the formula at `x`, in double precision; otherwise like [`on`](Self::on).
    pub fn at(&self, x: f64) -> f64 {
        self.expression.at(Arguments { given: &[x, 1.0], learned: &self.starts })
    }

    /// Converts the formula into an activation called `name`.
    pub fn into_activation(self, name: &str) -> Activation {
        let Self { expression, starts, is_gate, .. } = self;
        match is_gate {
            true => Activation::custom_gate(name, &starts, move |x, value, learned| {
                expression.on(Arguments { given: &[x, value], learned })
            }),
            false => Activation::custom_learned(name, &starts, move |x, learned| {
                expression.on(Arguments { given: &[x], learned })
            }),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn show(prefix: &str, text: &str, problem: &Problem) -> Error {
    // A tab or line break would shift the caret.
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
        let learned = Formula::parse("x * { b = 1 } + { b }").unwrap();
        assert_eq!((learned.to_string().as_str(), learned.starts()), ("x*{b=1}+{b}", &[1.0][..]));
    }

    #[test]
    fn caret_stands_under_the_place() {
        let error = Formula::parse_named("mine", "x*tnh(x)").unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert!(lines[0].starts_with("wrong formula: unknown function `tnh`"), "{error}");
        assert_eq!(lines[1..], ["  mine=x*tnh(x)", "         ^^^"]);
        let error = Formula::parse_named("mine(a, pi)", "a*pi").unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines[0], "wrong formula: `pi` has a meaning in formulas already");
        assert_eq!(lines[1..], ["  mine(a, pi)=", "          ^^"]);
    }

    #[test]
    fn formula_that_is_nowhere_a_number_is_refused() {
        let error = Formula::parse("ln(-1-x^2)").unwrap_err().to_string();
        assert!(error.contains("not a finite number for any x"), "{error}");
        assert!(Formula::parse("ln(x)").is_ok(), "half of the line is enough");
    }

    #[test]
    fn a_gate_is_a_function_of_both() {
        let formula = Formula::parse_named("mine(a, b)", "a*sigmoid({c=2}*b)").unwrap();
        assert!(formula.is_gate() && (formula.at(3.0) - 2.642_391_2).abs() < 1e-6);
        let activation = formula.into_activation("mine");
        let device = burn::tensor::Device::default();
        let layer = activation.init(gelu_core::Channels::Shared, &device);
        let of = |value: f32| Tensor::<1>::from_floats([value], &device);
        let y = layer.gated(of(3.0), of(0.5)).into_scalar::<f32>();
        // 3·σ(1)
        assert!((y - 2.193_175_7).abs() < 1e-6, "{y}");
    }
}
