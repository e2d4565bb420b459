//! The grammar of formulas, written with winnow; [`names`](super::names) resolves the names in them.
//!
//! `^` binds tightest and to the right, then the sign, then `*` and `/`, then `+` and `-`:
//! `-x^2` is −(x²), `x^-2*3` is x⁻²·3.

use super::expression::Binary;
use std::ops::Range;
use winnow::ascii::{float, space0};
use winnow::combinator::{
    Infix, Prefix, cut_err, delimited, dispatch, expression, fail, opt, peek, preceded, separated,
};
use winnow::prelude::*;
use winnow::stream::LocatingSlice;
use winnow::token::{any, one_of, take_while};

/// A parsed formula whose names are not yet resolved.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Number { value: f64, place: Range<usize> },
    Name(Range<usize>),
    Learned { name: Range<usize>, start: Option<(f64, Range<usize>)> },
    Call { name: Range<usize>, arguments: Vec<Node> },
    Negated(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
}

pub(super) type Input<'i> = LocatingSlice<&'i str>;

pub(super) fn formula(input: &mut Input<'_>) -> ModalResult<Node> {
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

/// Parses the name of an argument, a function or a constant.
pub(super) fn word<'i>(input: &mut Input<'i>) -> ModalResult<&'i str> {
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
