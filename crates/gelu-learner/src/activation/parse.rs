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
/// What has a meaning besides functions and arguments.
const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: String,
    /// In bytes; empty at the end of the text.
    pub(super) place: Range<usize>,
}

/// What a formula's arguments are called: `x`, or the two of a gated unit.
#[derive(Clone, Debug)]
pub(super) enum Scope<'a> {
    One,
    Gate([&'a str; 2]),
}

impl<'a> Scope<'a> {
    /// Of an activation's name, which may have them behind it: `mine(a, b)`.
    ///
    /// # Errors
    ///
    /// If they are not two names that formulas have for nothing else; places are in the whole text.
    pub(super) fn of(head: &'a str) -> Result<Self, Problem> {
        let Some((_, arguments)) = head.split_once('(') else { return Ok(Self::One) };
        let place_of = |part: &str| {
            // A part of the text, so that its place follows from where it lies.
            let start = part.as_ptr() as usize - head.as_ptr() as usize;
            start..start + part.len()
        };
        let problem = |message: String, part: &str| Problem { message, place: place_of(part) };
        let Some(inside) = arguments.trim_end().strip_suffix(')') else {
            let message = "its arguments end with a bracket: mine(a, b)=…";
            return Err(problem(message.to_owned(), arguments));
        };
        let names: Vec<&str> = inside.split(',').map(str::trim).collect();
        let [gate, value] = names[..] else {
            let message = "a gated unit has two arguments, its gate and its value: mine(a, b)=…";
            return Err(problem(message.to_owned(), inside));
        };
        for name in [gate, value] {
            if word.parse(LocatingSlice::new(name)).is_err() {
                let message = "an argument is a letter, then letters, digits and _".to_owned();
                return Err(problem(message, name));
            }
            if is_function(name) || CONSTANTS.iter().any(|(known, _)| *known == name) {
                return Err(problem(format!("`{name}` has a meaning in formulas already"), name));
            }
        }
        if gate == value {
            return Err(problem(format!("`{value}` is the gate already"), value));
        }
        Ok(Self::Gate([gate, value]))
    }

    pub(super) fn is_gate(&self) -> bool {
        matches!(self, Self::Gate(_))
    }

    /// What the first argument is called.
    pub(super) fn first(&self) -> &'a str {
        match self {
            Self::One => "x",
            Self::Gate([gate, _]) => gate,
        }
    }

    /// All of them, with what they are.
    fn arguments(&self) -> Vec<(&'a str, Expression)> {
        let second = match self {
            Self::One => None,
            Self::Gate([_, value]) => Some((*value, Expression::Value)),
        };
        [(self.first(), Expression::X)].into_iter().chain(second).collect()
    }
}

/// What stands in the text, names not yet looked up.
#[derive(Clone, Debug)]
enum Node {
    Number { value: f64, place: Range<usize> },
    Name(Range<usize>),
    Learned { name: Range<usize>, start: Option<(f64, Range<usize>)> },
    Call { name: Range<usize>, arguments: Vec<Node> },
    Negated(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
}

type Input<'i> = LocatingSlice<&'i str>;

/// Parses a formula, and where the constants start that are learned.
pub(super) fn parse(text: &str, scope: &Scope<'_>) -> Result<(Expression, Vec<f64>), Problem> {
    if text.len() > LONGEST {
        let message = format!("it is longer than {LONGEST} characters");
        return Err(Problem { message, place: 0..text.len() });
    }
    let node =
        formula.parse(LocatingSlice::new(text)).map_err(|error| syntax(text, error.offset()))?;
    let mut names = Names { text, arguments: scope.arguments(), learned: Vec::new() };
    names.collect(&node)?;
    let expression = names.resolve(&node)?;
    for (name, argument) in &names.arguments {
        if !expression.contains(argument) {
            let lost = match scope {
                Scope::One => "nothing would reach the next layer",
                Scope::Gate(_) => "half of the unit's weights would learn nothing",
            };
            let message = format!("{name} does not stand in it, so {lost}");
            return Err(Problem { message, place: 0..text.len() });
        }
    }
    Ok((expression, names.learned.into_iter().map(|(_, start)| start).collect()))
}

fn syntax(text: &str, offset: usize) -> Problem {
    let before = text[..offset].trim_end().chars().next_back();
    let operand_expected = before.is_none_or(|c| "+-*/^(,".contains(c));
    let next = text[offset..].chars().next();
    let place = offset..offset + next.map_or(0, char::len_utf8);
    if let Some(wanted) = wanted_in_braces(&text[..offset]) {
        let message = match next {
            None => format!("it ends where {wanted} has to follow"),
            Some(found) => format!("`{found}` stands where {wanted} has to"),
        };
        return Problem { message, place };
    }
    let message = match (next, operand_expected) {
        (None, true) => format!("it ends where {OPERAND} has to follow"),
        (None, false) => "it ends before a bracket is closed".to_owned(),
        (Some(found), true) => format!("`{found}` stands where {OPERAND} has to"),
        (Some(')'), false) => "this bracket closes none".to_owned(),
        (Some('}'), false) => "this brace closes none".to_owned(),
        (Some(','), false) => "a comma separates the two arguments of min or max alone".to_owned(),
        (Some(found), false) => format!("`{found}` stands where an operator (+ - * / ^) has to"),
    };
    Problem { message, place }
}

/// What has to follow the text, if it ends within braces.
fn wanted_in_braces(before: &str) -> Option<&'static str> {
    let (outside, inside) = before.rsplit_once(['{', '}'])?;
    let opened = before[outside.len()..].starts_with('{');
    opened.then(|| match inside.trim() {
        "" => "the name of a constant",
        inside if inside.ends_with('=') => "the number that the constant starts at",
        inside if inside.contains('=') => "a closing brace",
        _ => "= with the number that the constant starts at, or a closing brace",
    })
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
        '{' => learned,
        'a'..='z' | 'A'..='Z' | '_' => name_or_call,
        _ => fail,
    };
    delimited(space0, bare, space0).parse_next(input)
}

fn learned(input: &mut Input<'_>) -> ModalResult<Node> {
    let start = preceded(('=', space0), cut_err(float.with_span()));
    let inside = (preceded(space0, word.span()), preceded(space0, opt(start)));
    delimited('{', cut_err(inside), (space0, cut_err('}')))
        .map(|(name, start)| Node::Learned { name, start })
        .parse_next(input)
}

/// What names an argument, a function or a constant.
fn word<'i>(input: &mut Input<'i>) -> ModalResult<&'i str> {
    (
        one_of(|c: char| c.is_ascii_alphabetic() || c == '_'),
        take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_'),
    )
        .take()
        .parse_next(input)
}

fn number(input: &mut Input<'_>) -> ModalResult<Node> {
    float.with_span().map(|(value, place)| Node::Number { value, place }).parse_next(input)
}

fn name_or_call(input: &mut Input<'_>) -> ModalResult<Node> {
    let arguments = separated(1.., formula, ',');
    let call = delimited('(', cut_err(arguments), cut_err(')'));
    (word.span(), opt(preceded(space0, call)))
        .map(|(name, arguments)| match arguments {
            Some(arguments) => Node::Call { name, arguments },
            None => Node::Name(name),
        })
        .parse_next(input)
}

/// What names in a formula stand for.
struct Names<'a> {
    text: &'a str,
    arguments: Vec<(&'a str, Expression)>,
    /// The constants that are learned, and where they start.
    learned: Vec<(&'a str, f64)>,
}

impl<'a> Names<'a> {
    /// Finds the constants that are learned.
    fn collect(&mut self, node: &Node) -> Result<(), Problem> {
        match node {
            Node::Number { .. } | Node::Name(_) | Node::Learned { start: None, .. } => Ok(()),
            Node::Call { arguments, .. } => {
                arguments.iter().try_for_each(|node| self.collect(node))
            }
            Node::Negated(inner) => self.collect(inner),
            Node::Binary(_, a, b) => self.collect(a).and_then(|()| self.collect(b)),
            Node::Learned { name: place, start: Some((start, number)) } => {
                let name = &self.text[place.clone()];
                let problem = |message: String, place: &Range<usize>| {
                    Err(Problem { message, place: place.clone() })
                };
                if !start.is_finite() {
                    return problem("a constant starts at a finite number".to_owned(), number);
                }
                let known = self.arguments.iter().map(|(name, _)| *name);
                if known.chain(CONSTANTS.map(|(name, _)| name)).any(|known| known == name)
                    || is_function(name)
                {
                    return problem(format!("`{name}` has a meaning in formulas already"), place);
                }
                match self.learned.iter().find(|(known, _)| *known == name) {
                    Some((_, before)) if before != start => {
                        let message =
                            format!("`{name}` starts at {before} already; write {{{name}}}");
                        problem(message, number)
                    }
                    Some(_) => Ok(()),
                    None => {
                        self.learned.push((name, *start));
                        Ok(())
                    }
                }
            }
        }
    }

    fn resolve(&self, node: &Node) -> Result<Expression, Problem> {
        let problem =
            |message: String, place: &Range<usize>| Problem { message, place: place.clone() };
        Ok(match node {
            Node::Number { value, .. } if value.is_finite() => Expression::Number(*value),
            Node::Number { place, .. } => {
                return Err(problem("this number is too large".to_owned(), place));
            }
            Node::Name(place) => self.named(place)?,
            Node::Learned { name: place, .. } => {
                let name = &self.text[place.clone()];
                let index = self.learned.iter().position(|(known, _)| *known == name);
                Expression::Learned(index.ok_or_else(|| {
                    let message = format!("nothing says where `{name}` starts; write {{{name}=1}}");
                    problem(message, place)
                })?)
            }
            Node::Call { name, arguments } => self.call(name, arguments)?,
            Node::Negated(inner) => {
                Expression::Unary(Unary::Negate, Box::new(self.resolve(inner)?))
            }
            Node::Binary(operator, a, b) => {
                let (a, b) = (self.resolve(a)?, self.resolve(b)?);
                Expression::Binary(*operator, Box::new(a), Box::new(b))
            }
        })
    }

    fn named(&self, place: &Range<usize>) -> Result<Expression, Problem> {
        let name = &self.text[place.clone()];
        let problem = |message: String| Problem { message, place: place.clone() };
        if let Some((_, argument)) = self.arguments.iter().find(|(known, _)| *known == name) {
            return Ok(argument.clone());
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(Expression::Number(*value));
        }
        if is_function(name) {
            return Err(problem(format!("`{name}` is a function; write {name}(…)")));
        }
        if self.learned.iter().any(|(known, _)| *known == name) {
            return Err(problem(format!(
                "`{name}` is a constant that is learned; write {{{name}}}"
            )));
        }
        let arguments = self.arguments.iter().map(|(name, _)| *name);
        let known: Vec<&str> = arguments.chain(CONSTANTS.map(|(name, _)| name)).collect();
        let known = known.join(", ");
        Err(problem(format!(
            "unknown name `{name}`; there are: {known}; a constant that is learned is {{{name}=1}}"
        )))
    }

    fn call(&self, name: &Range<usize>, arguments: &[Node]) -> Result<Expression, Problem> {
        let problem = |message: String| Problem { message, place: name.clone() };
        let word = &self.text[name.clone()];
        let unary = Unary::NAMED.iter().find(|(known, _)| *known == word);
        let binary = Binary::NAMED.iter().find(|(known, _)| *known == word);
        match (unary, binary, arguments) {
            (Some((_, function)), _, [x]) => {
                Ok(Expression::Unary(*function, Box::new(self.resolve(x)?)))
            }
            (_, Some((_, function)), [a, b]) => {
                let (a, b) = (self.resolve(a)?, self.resolve(b)?);
                Ok(Expression::Binary(*function, Box::new(a), Box::new(b)))
            }
            (None, None, _) => {
                let names = function_names().collect::<Vec<_>>().join(", ");
                Err(problem(format!("unknown function `{word}`; there are: {names}")))
            }
            (unary, _, given) => {
                let takes = if unary.is_some() { "one argument" } else { "two arguments" };
                Err(problem(format!("`{word}` takes {takes}, not {}", given.len())))
            }
        }
    }
}

fn function_names() -> impl Iterator<Item = &'static str> {
    Unary::NAMED.iter().map(|(name, _)| *name).chain(Binary::NAMED.iter().map(|(name, _)| *name))
}

fn is_function(word: &str) -> bool {
    function_names().any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use super::super::expression::Arguments;
    use super::*;

    fn value(text: &str, x: f64) -> f64 {
        let (expression, starts) =
            parse(text, &Scope::One).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
        expression.at(Arguments { x: &x, value: &f64::NAN, learned: &starts })
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
            ("{b=1}", 0..5, "x does not stand in it"),
            ("x*{b}", 3..4, "nothing says where `b` starts; write {b=1}"),
            ("x*{b=1}+b", 8..9, "`b` is a constant that is learned; write {b}"),
            ("x*{b=1}+{b=2}", 11..12, "`b` starts at 1 already; write {b}"),
            ("x*{x=1}", 3..4, "`x` has a meaning in formulas already"),
            ("x*{sin=1}", 3..6, "`sin` has a meaning in formulas already"),
            ("x*{b=1e999}", 5..10, "a constant starts at a finite number"),
            ("x*{b=}", 5..6, "`}` stands where the number that the constant starts at has to"),
            ("x*{b=y}", 5..6, "`y` stands where the number that the constant starts at has to"),
            ("x*{", 3..3, "it ends where the name of a constant has to follow"),
            ("x*{1}", 3..4, "`1` stands where the name of a constant has to"),
            ("x*{b=1", 6..6, "it ends where a closing brace has to follow"),
            ("x*{b 1}", 5..6, "`1` stands where = with the number"),
            ("x*{b=1}}", 7..8, "this brace closes none"),
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
        assert_eq!(parse(&deep(240)).unwrap(), (Expression::X, Vec::new()));
        assert!(parse(&deep(100_000)).unwrap_err().message.contains("longer than 500"));
        assert!(parse(&"-".repeat(500)).is_err());
        assert!(parse(&"(".repeat(500)).is_err());
        assert!(parse(&"{".repeat(500)).is_err());
    }
    #[test]
    fn gates_have_the_arguments_that_they_name() {
        let scope = Scope::of("mine( gate,up )").unwrap();
        let (expression, starts) = parse("gate*sin(up)+{c=0.5}", &scope).unwrap();
        let at = |x: f64, value: f64| {
            expression.at(Arguments { x: &x, value: &value, learned: &starts })
        };
        assert_eq!((at(3.0, 0.0), at(3.0, 1.0)), (0.5, 3.0 * 1f64.sin() + 0.5));
        for (text, message) in [
            ("gate*2", "up does not stand in it, so half of the unit's weights"),
            ("up*2", "gate does not stand in it"),
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
