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
                None => format!("it ends where {wanted} has to follow"),
                Some(found) => format!("`{found}` stands where {wanted} has to"),
            };
            return Self { message, place };
        }
        let message = match (next, operand_expected) {
            (None, true) => format!("it ends where {OPERAND} has to follow"),
            (None, false) => "it ends before a bracket is closed".to_owned(),
            (Some(found), true) => format!("`{found}` stands where {OPERAND} has to"),
            (Some(')'), false) => "this bracket closes none".to_owned(),
            (Some('}'), false) => "this brace closes none".to_owned(),
            (Some(','), false) => {
                "a comma separates the two arguments of min or max alone".to_owned()
            }
            (Some(found), false) => {
                format!("`{found}` stands where an operator (+ - * / ^) has to")
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
