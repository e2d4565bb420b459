use crate::names::message_lines;
use std::collections::VecDeque;
use std::io::BufRead;

/// The limit for the lines of a message. The longest error has fewer.
const LINES: usize = 20;

/// Returns the last message in `errors`, the standard error of another process of the program `tool`. A message
/// starts with the program's name and has all its lines. Without a message, returns the last line, of a panic for
/// example. Reads `errors` to the end.
pub fn last_complaint(tool: &str, errors: impl BufRead) -> Option<String> {
    let prefix = format!("{tool}: ");
    let (mut lines, mut message) = (VecDeque::new(), false);
    for line in errors.split(b'\n').map_while(Result::ok) {
        if let Some(line) = line.strip_prefix(prefix.as_bytes()) {
            (lines, message) = (VecDeque::from([line.to_vec()]), true);
        } else if !line.trim_ascii().is_empty() {
            if !message {
                lines.clear();
            }
            lines.push_back(line);
        }
        lines.truncate(LINES);
    }
    let said = lines.make_contiguous().join(&b'\n');
    let said = message_lines(&String::from_utf8_lossy(&said));
    (!said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_is_told_with_all_its_lines() {
        let said =
            "gelu: warning: old\ngelu: comparison.toml: TOML parse error\n  |\n3 | x \u{1b}[2J\n\n";
        let expected = "comparison.toml: TOML parse error\n  |\n3 | x \\u001b[2J";
        assert_eq!(last_complaint("gelu", said.as_bytes()).as_deref(), Some(expected));
    }

    #[test]
    fn of_what_is_no_message_the_last_line_is_told() {
        let said = b"one\ntwo \xff\n \n";
        assert_eq!(last_complaint("gelu", &said[..]).as_deref(), Some("two \u{fffd}"));
        assert_eq!(last_complaint("gelu", &b"\n \n"[..]), None);
    }

    #[test]
    fn what_never_ends_is_cut_short() {
        let said = format!("gelu: it goes on\n{}", "and on\n".repeat(1000));
        assert_eq!(last_complaint("gelu", said.as_bytes()).unwrap().lines().count(), LINES);
    }
}
