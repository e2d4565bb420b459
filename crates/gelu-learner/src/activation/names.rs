//! Resolves the names in a formula: arguments, functions, constants and learned constants.

use super::expression::{Binary, Expression, Unary};
use super::grammar::{Input, Node, word};
use super::problem::Problem;
use std::ops::Range;
use winnow::Parser;

/// Named constants.
const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

/// The variables of a target formula.
pub(super) const VARIABLES: [&str; 3] = ["x", "y", "z"];

/// The names of a formula's arguments: `x`, the two names of a gated unit, or [`VARIABLES`], of which the last ones
/// may be missing.
#[derive(Clone, Debug)]
pub(super) enum Scope<'a> {
    One,
    Gate([&'a str; 2]),
    Variables,
}

impl<'a> Scope<'a> {
    /// Reads the argument names from an activation's name, which may end with them: `mine(a, b)`.
    ///
    /// # Errors
    ///
    /// If the arguments are not two different names that are free in formulas. Positions count from the start of
    /// `head`.
    pub(super) fn of(head: &'a str) -> Result<Self, Problem> {
        let Some((_, arguments)) = head.split_once('(') else { return Ok(Self::One) };
        let place_of = |part: &str| {
            // `part` is a slice of `head`, so the pointers give its position.
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
            if word.parse(Input::new(name)).is_err() {
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

    /// Returns the name of the first argument.
    pub(super) fn first(&self) -> &'a str {
        match self {
            Self::One | Self::Variables => "x",
            Self::Gate([gate, _]) => gate,
        }
    }

    /// Returns the argument names with their expressions.
    pub(super) fn arguments(&self) -> Vec<(&'a str, Expression)> {
        let names: &[&str] = match self {
            Self::One => &["x"],
            Self::Gate(names) => names,
            Self::Variables => &VARIABLES,
        };
        let argument = |(index, name): (usize, &&'a str)| (*name, Expression::Argument(index));
        names.iter().enumerate().map(argument).collect()
    }

    /// Returns the problem if a required argument does not occur in the expression.
    pub(super) fn missing(&self, expression: &Expression) -> Option<String> {
        let arguments = self.arguments();
        let stands = |(_, argument): &(&str, Expression)| expression.contains(argument);
        let (name, _) = match self {
            // Variables after the last one that occurs are not required.
            Self::Variables => {
                let count = arguments.iter().rposition(stands).map_or(1, |last| last + 1);
                arguments[..count].iter().find(|argument| !stands(argument))?
            }
            _ => arguments.iter().find(|argument| !stands(argument))?,
        };
        let lost = match self {
            Self::One => "nothing would reach the next layer",
            Self::Gate(_) => "half of the unit's weights would learn nothing",
            Self::Variables => {
                "an input would say nothing; its variables are x, or x and y, or x, y and z"
            }
        };
        Some(format!("it does not use {name}, so {lost}"))
    }
}

/// The names in scope while a formula is resolved.
pub(super) struct Names<'a> {
    text: &'a str,
    arguments: Vec<(&'a str, Expression)>,
    /// Whether the formula may have learned constants.
    learns: bool,
    /// The learned constants and their initial values.
    learned: Vec<(&'a str, f64)>,
}

impl<'a> Names<'a> {
    pub(super) fn of(text: &'a str, scope: &Scope<'a>) -> Self {
        let learns = !matches!(scope, Scope::Variables);
        Self { text, arguments: scope.arguments(), learns, learned: Vec::new() }
    }

    /// Resolves `node` into an expression and the initial values of its learned constants.
    pub(super) fn resolved(mut self, node: &Node) -> Result<(Expression, Vec<f64>), Problem> {
        self.collect(node)?;
        let expression = self.resolve(node)?;
        Ok((expression, self.learned.into_iter().map(|(_, start)| start).collect()))
    }

    /// Collects the learned constants.
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
        let learned = match self.learns {
            true => format!("; a constant that is learned is {{{name}=1}}"),
            false => String::new(),
        };
        Err(problem(format!("unknown name `{name}`; there are: {known}{learned}")))
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
