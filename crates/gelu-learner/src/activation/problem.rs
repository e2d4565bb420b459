use std::ops::Range;

const OPERAND: &str = "a number, x, a function or an opening bracket";

/// A problem in a formula, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: String,
    /// A range of bytes; empty at the end of the text.
    pub(super) place: Range<usize>,
}

impl Problem {
    /// Describes the syntax error at `offset`: the text found there, and the text expected.
    pub(super) fn of_syntax(text: &str, offset: usize) -> Self {
        let before = text[..offset].trim_end().chars().next_back();
        let operand_expected = before.is_none_or(|c| "+-*/^(,".contains(c));
        let next = text[offset..].chars().next();
        let place = offset..offset + next.map_or(0, char::len_utf8);
        if let Some(wanted) = wanted_in_braces(&text[..offset]) {
            let message = match next {
                None => format!("it ends; expected {wanted}"),
                Some(found) => format!("expected {wanted}, found `{found}`"),
            };
            return Self { message, place };
        }
        let message = match (next, operand_expected) {
            (None, true) => format!("it ends; expected {OPERAND}"),
            (None, false) => "a bracket is not closed".to_owned(),
            (Some(found), true) => format!("expected {OPERAND}, found `{found}`"),
            (Some(')'), false) => "this closing bracket has no opening one".to_owned(),
            (Some('}'), false) => "this closing brace has no opening one".to_owned(),
            (Some(','), false) => {
                "only the two arguments of min or max are separated by a comma".to_owned()
            }
            (Some(found), false) => {
                format!("expected an operator (+ - * / ^), found `{found}`")
            }
        };
        Self { message, place }
    }
}

/// Returns the text expected next if `before` ends inside braces.
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
