//! Text to [`Expression`]: the grammar through winnow, then the meaning of the names.
//!
//! `^` binds tightest and to the right, then the sign, then `*` and `/`, then `+` and `-`:
//! `-x^2` is −(x²), `x^-2*3` is x⁻²·3.

use super::expression::{Binary, Expression, Unary};
use std::ops::Range;
use winnow::ascii::{float, space0};
use winnow::combinator::{
    Infix, Prefix, cut_err, delimited, dispatch, expression, fail, opt, peek, preceded, separated,
};
use winnow::prelude::*;
use winnow::stream::LocatingSlice;
use winnow::token::{any, one_of, take_while};

/// A longer one is refused before it is parsed, so that no nesting exhausts the stack.
const LONGEST: usize = 500;
const OPERAND: &str = "a number, x, a function or an opening bracket";

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: String,
    /// In bytes; empty at the end of the text.
    pub(super) place: Range<usize>,
}

/// What stands in the text, names not yet looked up.
#[derive(Clone, Debug)]
enum Node {
    Number { value: f64, place: Range<usize> },
    Name(Range<usize>),
    Call { name: Range<usize>, arguments: Vec<Node> },
    Negated(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
}

type Input<'i> = LocatingSlice<&'i str>;

/// Parses a formula.
pub(super) fn parse(text: &str) -> Result<Expression, Problem> {
    if text.len() > LONGEST {
        let message = format!("it is longer than {LONGEST} characters");
        return Err(Problem { message, place: 0..text.len() });
    }
    let node =
        formula.parse(LocatingSlice::new(text)).map_err(|error| syntax(text, error.offset()))?;
    let expression = resolve(&node, text)?;
    match expression.depends_on_x() {
        true => Ok(expression),
        false => {
            let message =
                "x does not stand in it, so nothing would reach the next layer".to_owned();
            Err(Problem { message, place: 0..text.len() })
        }
    }
}

fn syntax(text: &str, offset: usize) -> Problem {
    let before = text[..offset].trim_end().chars().next_back();
    let operand_expected = before.is_none_or(|c| "+-*/^(,".contains(c));
    let next = text[offset..].chars().next();
    let message = match (next, operand_expected) {
        (None, true) => format!("it ends where {OPERAND} has to follow"),
        (None, false) => "it ends before a bracket is closed".to_owned(),
        (Some(found), true) => format!("`{found}` stands where {OPERAND} has to"),
        (Some(')'), false) => "this bracket closes none".to_owned(),
        (Some(','), false) => "a comma separates the two arguments of min or max alone".to_owned(),
        (Some(found), false) => format!("`{found}` stands where an operator (+ - * / ^) has to"),
    };
    Problem { message, place: offset..offset + next.map_or(0, char::len_utf8) }
}

fn formula(input: &mut Input<'_>) -> ModalResult<Node> {
    expression(operand)
        .prefix(preceded(
            space0,
            dispatch! {one_of(['-', '+']);
                '-' => Prefix(5, |_: &mut _, a| Ok(Node::Negated(Box::new(a)))),
                '+' => Prefix(5, |_: &mut _, a| Ok(a)),
                _ => fail,
            },
        ))
        .infix(dispatch! {one_of(['+', '-', '*', '/', '^']);
            '+' => Infix::Left(1, |_: &mut _, a, b| Ok(joined(Binary::Add, a, b))),
            '-' => Infix::Left(1, |_: &mut _, a, b| Ok(joined(Binary::Subtract, a, b))),
            '*' => Infix::Left(3, |_: &mut _, a, b| Ok(joined(Binary::Multiply, a, b))),
            '/' => Infix::Left(3, |_: &mut _, a, b| Ok(joined(Binary::Divide, a, b))),
            '^' => Infix::Right(7, |_: &mut _, a, b| Ok(joined(Binary::Power, a, b))),
            _ => fail,
        })
        .parse_next(input)
}

fn joined(operator: Binary, a: Node, b: Node) -> Node {
    Node::Binary(operator, Box::new(a), Box::new(b))
}

fn operand(input: &mut Input<'_>) -> ModalResult<Node> {
    let bare = dispatch! {peek(any);
        '(' => delimited('(', cut_err(formula), cut_err(')')),
        '0'..='9' | '.' => number,
        'a'..='z' | 'A'..='Z' | '_' => name_or_call,
        _ => fail,
    };
    delimited(space0, bare, space0).parse_next(input)
}

fn number(input: &mut Input<'_>) -> ModalResult<Node> {
    float.with_span().map(|(value, place)| Node::Number { value, place }).parse_next(input)
}

fn name_or_call(input: &mut Input<'_>) -> ModalResult<Node> {
    let word = (
        one_of(|c: char| c.is_ascii_alphabetic() || c == '_'),
        take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_'),
    );
    let arguments = separated(1.., formula, ',');
    let call = delimited('(', cut_err(arguments), cut_err(')'));
    (word.span(), opt(preceded(space0, call)))
        .map(|(name, arguments)| match arguments {
            Some(arguments) => Node::Call { name, arguments },
            None => Node::Name(name),
        })
        .parse_next(input)
}

fn resolve(node: &Node, text: &str) -> Result<Expression, Problem> {
    let problem = |message: String, place: &Range<usize>| Problem { message, place: place.clone() };
    Ok(match node {
        Node::Number { value, .. } if value.is_finite() => Expression::Number(*value),
        Node::Number { place, .. } => {
            return Err(problem("this number is too large".to_owned(), place));
        }
        Node::Name(place) => match &text[place.clone()] {
            "x" => Expression::X,
            "pi" => Expression::Number(std::f64::consts::PI),
            "e" => Expression::Number(std::f64::consts::E),
            name if is_function(name) => {
                return Err(problem(format!("`{name}` is a function; write {name}(…)"), place));
            }
            name => {
                let message = format!("unknown name `{name}`; there are: x, pi, e");
                return Err(problem(message, place));
            }
        },
        Node::Call { name, arguments } => {
            let word = &text[name.clone()];
            let unary = Unary::NAMED.iter().find(|(known, _)| *known == word);
            let binary = Binary::NAMED.iter().find(|(known, _)| *known == word);
            match (unary, binary, &arguments[..]) {
                (Some((_, function)), _, [x]) => {
                    Expression::Unary(*function, Box::new(resolve(x, text)?))
                }
                (_, Some((_, function)), [a, b]) => {
                    let (a, b) = (resolve(a, text)?, resolve(b, text)?);
                    Expression::Binary(*function, Box::new(a), Box::new(b))
                }
                (None, None, _) => {
                    let names = function_names().collect::<Vec<_>>().join(", ");
                    let message = format!("unknown function `{word}`; there are: {names}");
                    return Err(problem(message, name));
                }
                (unary, _, given) => {
                    let takes = if unary.is_some() { "one argument" } else { "two arguments" };
                    let message = format!("`{word}` takes {takes}, not {}", given.len());
                    return Err(problem(message, name));
                }
            }
        }
        Node::Negated(inner) => Expression::Unary(Unary::Negate, Box::new(resolve(inner, text)?)),
        Node::Binary(operator, a, b) => {
            let (a, b) = (resolve(a, text)?, resolve(b, text)?);
            Expression::Binary(*operator, Box::new(a), Box::new(b))
        }
    })
}

fn function_names() -> impl Iterator<Item = &'static str> {
    Unary::NAMED.iter().map(|(name, _)| *name).chain(Binary::NAMED.iter().map(|(name, _)| *name))
}

fn is_function(word: &str) -> bool {
    function_names().any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, x: f64) -> f64 {
        parse(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}")).at(x)
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
            ("x*", 2..2, "it ends where a number"),
            ("", 0..0, "it ends where a number"),
            ("x**2", 2..3, "`*` stands where a number"),
            ("x + )", 4..5, "`)` stands where a number"),
            ("(x", 2..2, "ends before a bracket is closed"),
            ("tanh(x", 6..6, "ends before a bracket is closed"),
            ("x)", 1..2, "this bracket closes none"),
            ("x, 2", 1..2, "a comma separates"),
            ("2x", 1..2, "`x` stands where an operator"),
            ("x ² 3", 2..4, "`²` stands where an operator"),
            ("x*1e999", 2..7, "too large"),
            ("1+2", 0..3, "x does not stand in it"),
        ] {
            let problem = parse(text).expect_err(text);
            assert_eq!(problem.place, place, "{text}: {}", problem.message);
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
        }
    }

    #[test]
    fn deep_nesting_is_parsed_or_refused_but_never_crashes() {
        let deep = |depth: usize| format!("{}x{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(parse(&deep(240)).unwrap(), Expression::X);
        assert!(parse(&deep(100_000)).unwrap_err().message.contains("longer than 500"));
        assert!(parse(&"-".repeat(500)).is_err());
        assert!(parse(&"(".repeat(500)).is_err());
    }
}
