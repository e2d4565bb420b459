//! Parses text into an [`Expression`]: by the [`grammar`](super::grammar), then by resolving its
//! [`names`](super::names).

use super::expression::Expression;
use super::grammar::{Input, formula};
use super::names::{Names, Scope};
use super::problem::Problem;
use winnow::Parser;

/// The longest formula in characters. The limit keeps nesting from exhausting the stack.
const LONGEST: usize = 500;

/// Parses a formula; returns the expression and the initial values of its learned constants.
pub(super) fn parse(text: &str, scope: &Scope<'_>) -> Result<(Expression, Vec<f64>), Problem> {
    if text.len() > LONGEST {
        let message = format!("it is longer than {LONGEST} characters");
        return Err(Problem { message, place: 0..text.len() });
    }
    let node = formula
        .parse(Input::new(text))
        .map_err(|error| Problem::of_syntax(text, error.offset()))?;
    let (expression, starts) = Names::of(text, scope).resolved(&node)?;
    match scope.missing(&expression) {
        Some(message) => Err(Problem { message, place: 0..text.len() }),
        None => Ok((expression, starts)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::expression::Arguments;
    use super::*;

    fn value(text: &str, x: f64) -> f64 {
        let (expression, starts) =
            parse(text, &Scope::One).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
        expression.at(Arguments { given: &[x], learned: &starts })
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, expected) in [
            ("1 + 2*x", 7.0),
            ("10-x-2", 5.0),
            ("24/x/2", 4.0),
            ("2^x^2", 512.0),
            ("-x^2", -9.0),
            ("(-x)^2", 9.0),
            ("x^-2*9", 1.0),
            ("2*-x", -6.0),
            ("--x", 3.0),
            ("+x - -1", 4.0),
            (" ( x ) ", 3.0),
            ("1.5e1*x", 45.0),
            (".5*x", 1.5),
            ("min(x, 2) + max(1,x)", 5.0),
            ("abs(1 - x)*sqrt(x*x)", 6.0),
            ("x*{b=2}", 6.0),
            ("{b}^2*x + { b = -2e0 }", 10.0),
            ("{a=1}*x+{b=-4}*{a=1}", -1.0),
        ] {
            assert_eq!(value(text, 3.0), expected, "{text}");
        }
    }

    /// The values are Python's: math.tanh(math.log1p(math.exp(0.7))) and so on.
    #[test]
    fn functions_are_the_ones_they_are_named_for() {
        for (text, expected) in [
            ("tanh(ln(1+exp(x)))", 0.801_640_539_491_216_9),
            ("erf(x)", 0.677_801_193_837_418_5),
            ("sigmoid(x)", 0.668_187_772_168_166_2),
            ("x*pi + 0*e", 2.199_114_857_512_855),
            ("e^x", 2.013_752_707_470_476),
            ("sin(x)", 0.644_217_687_237_691),
            ("cos(x)", 0.764_842_187_284_488_5),
            ("log1p(x)", 0.530_628_251_062_170_4),
            ("expm1(x)", 1.013_752_707_470_476_6),
            ("softplus(x)", 1.103_186_048_885_458),
            ("softplus(-1000*x)", 0.0),
        ] {
            assert!((value(text, 0.7) - expected).abs() < 1e-14, "{text}: {}", value(text, 0.7));
        }
    }

    #[test]
    fn problems_are_placed_under_what_is_wrong() {
        for (text, place, message) in [
            ("x*tnh(x)", 2..5, "unknown function `tnh`; there are: exp, ln,"),
            ("x*y", 2..3, "unknown name `y`; there are: x, pi, e"),
            ("x*tanh", 2..6, "`tanh` is a function; write tanh(…)"),
            ("max(x)", 0..3, "`max` takes two arguments, not 1"),
            ("exp(x, 2)", 0..3, "`exp` takes one argument, not 2"),
            ("x*", 2..2, "it ends; expected a number"),
            ("", 0..0, "it ends; expected a number"),
            ("x**2", 2..3, "found `*`"),
            ("x + )", 4..5, "found `)`"),
            ("(x", 2..2, "a bracket is not closed"),
            ("tanh(x", 6..6, "a bracket is not closed"),
            ("x)", 1..2, "this closing bracket has no opening one"),
            ("x, 2", 1..2, "separated by a comma"),
            ("2x", 1..2, "expected an operator (+ - * / ^), found `x`"),
            ("x ² 3", 2..4, "expected an operator (+ - * / ^), found `²`"),
            ("x*1e999", 2..7, "too large"),
            ("1+2", 0..3, "it does not use x"),
            ("{b=1}", 0..5, "it does not use x"),
            ("x*{b}", 3..4, "nothing says where `b` starts; write {b=1}"),
            ("x*{b=1}+b", 8..9, "`b` is a constant that is learned; write {b}"),
            ("x*{b=1}+{b=2}", 11..12, "`b` starts at 1 already; write {b}"),
            ("x*{x=1}", 3..4, "`x` has a meaning in formulas already"),
            ("x*{sin=1}", 3..6, "`sin` has a meaning in formulas already"),
            ("x*{b=1e999}", 5..10, "a constant starts at a finite number"),
            ("x*{b=}", 5..6, "expected the number that the constant starts at, found `}`"),
            ("x*{b=y}", 5..6, "expected the number that the constant starts at, found `y`"),
            ("x*{", 3..3, "it ends; expected the name of a constant"),
            ("x*{1}", 3..4, "expected the name of a constant, found `1`"),
            ("x*{b=1", 6..6, "it ends; expected a closing brace"),
            ("x*{b 1}", 5..6, "expected = with the number"),
            ("x*{b=1}}", 7..8, "this closing brace has no opening one"),
        ] {
            let problem = parse(text, &Scope::One).expect_err(text);
            assert_eq!(problem.place, place, "{text}: {}", problem.message);
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
        }
    }

    #[test]
    fn deep_nesting_is_parsed_or_refused_but_never_crashes() {
        let deep = |depth: usize| format!("{}x{}", "(".repeat(depth), ")".repeat(depth));
        let parse = |text: &str| parse(text, &Scope::One);
        assert_eq!(parse(&deep(240)).unwrap(), (Expression::Argument(0), Vec::new()));
        assert!(parse(&deep(100_000)).unwrap_err().message.contains("longer than 500"));
        assert!(parse(&"-".repeat(500)).is_err());
        assert!(parse(&"(".repeat(500)).is_err());
        assert!(parse(&"{".repeat(500)).is_err());
    }
    #[test]
    fn gates_have_the_arguments_that_they_name() {
        let scope = Scope::of("mine( gate,up )").unwrap();
        let (expression, starts) = parse("gate*sin(up)+{c=0.5}", &scope).unwrap();
        let at =
            |x: f64, value: f64| expression.at(Arguments { given: &[x, value], learned: &starts });
        assert_eq!((at(3.0, 0.0), at(3.0, 1.0)), (0.5, 3.0 * 1f64.sin() + 0.5));
        for (text, message) in [
            ("gate*2", "it does not use up, so half of the unit's weights"),
            ("up*2", "it does not use gate"),
            ("x*gate*up", "unknown name `x`; there are: gate, up, pi, e"),
        ] {
            let problem = parse(text, &scope).expect_err(text);
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
        }
        for (head, place, message) in [
            ("mine(a)", 5..6, "a gated unit has two arguments"),
            ("mine(a, b", 5..9, "its arguments end with a bracket"),
            ("mine(a,b,c)", 5..10, "a gated unit has two arguments"),
            ("mine()", 5..5, "a gated unit has two arguments"),
            ("mine(a,2)", 7..8, "an argument is a letter"),
            ("mine(a,exp)", 7..10, "`exp` has a meaning in formulas already"),
            ("mine(e,b)", 5..6, "`e` has a meaning in formulas already"),
            ("mine(a, a)", 8..9, "`a` is the gate already"),
        ] {
            let problem = Scope::of(head).expect_err(head);
            assert_eq!(problem.place, place, "{head}: {}", problem.message);
            assert!(problem.message.contains(message), "{head}: {}", problem.message);
        }
    }
}
