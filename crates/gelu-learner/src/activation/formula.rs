use super::expression::{Arguments, Expression};
use super::names::Scope;
use super::parse::parse;
use super::problem::Problem;
use crate::{Error, Result};
use burn::tensor::Tensor;
use gelu_core::Activation;
use std::fmt;

/// A formula of one's own: an expression in `x` with `+ - * / ^`, numbers, `pi`, `e`, the functions exp,
/// ln, tanh, erf, sqrt, abs, sigmoid, sin, cos, log1p, expm1, softplus, normal_cdf, gelu, silu, relu, min and
/// max, and constants that are learned, `{b=1}` with where they start and `{b}` where they stand again; or one
/// in the gate and the value of a gated unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Without white space, so that spaces make no difference to a run's identity.
    text: String,
    expression: Expression,
    /// Where the constants start that are learned.
    starts: Vec<f64>,
    is_gate: bool,
}

impl Formula {
    /// Parses a formula in `x`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with what is wrong, the formula, and a caret under the place.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_named("", text)
    }

    /// Parses the formula of an activation called `name`, which messages repeat: `mine`, or with what a
    /// gated unit's gate and value are called, `mine(a, b)`.
    pub(super) fn parse_named(name: &str, text: &str) -> Result<Self> {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}=") };
        let scope = Scope::of(name).map_err(|problem| show("", &prefix, &problem))?;
        let (expression, starts) =
            parse(text, &scope).map_err(|problem| show(&prefix, text, &problem))?;
        let is_gate = scope.is_gate();
        let compact = text.chars().filter(|c| !c.is_whitespace()).collect();
        let formula = Self { text: compact, expression, starts, is_gate };
        // What a figure shows of an activation; a formula that is nowhere a number there trains
        // nothing.
        if !(-80..=80).any(|step| formula.at(f64::from(step) / 20.0).is_finite()) {
            let x = scope.first();
            let message = format!("it is not a finite number for any {x} from -4 to 4");
            return Err(show(&prefix, text, &Problem { message, place: 0..text.len() }));
        }
        Ok(formula)
    }

    /// Whether it is one in the gate and the value of a gated unit.
    pub fn is_gate(&self) -> bool {
        self.is_gate
    }

    /// Where the constants start that are learned, in the order in which they first stand in it.
    pub fn starts(&self) -> &[f64] {
        &self.starts
    }

    /// Its value at every element of `x`, any shape `[any]`, with its constants as they start; that of a
    /// gated unit for a value of 1.
    pub fn on(&self, x: Tensor<1>) -> Tensor<1> {
        let value = x.ones_like();
        let learned: Vec<_> = self.starts.iter().map(|start| x.full_like(*start)).collect();
        self.expression.on(Arguments { given: &[x, value], learned: &learned })
    }

    /// Its value at one number, in double precision, as [`on`](Self::on).
    pub fn at(&self, x: f64) -> f64 {
        self.expression.at(Arguments { given: &[x, 1.0], learned: &self.starts })
    }

    /// The activation of that name.
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
