//! What a program prints: measures, and lines for the log.

use super::Pattern;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io::{BufRead, Write};

/// What is kept of a line; nobody prints a measure behind so much.
const LONGEST_LINE: usize = 64 << 10;
/// Lines that a failed run is explained by.
const LAST_LINES: usize = 20;
/// What of a line stands in an explanation.
const SHORT: usize = 400;
/// Of what a program prints, so much goes into the run's log.
const LARGEST_LOG: usize = 1 << 20;

/// Splits what is printed into lines, however long: of one that is longer than anybody means, the beginning. What ends
/// a line is a line feed or a carriage return, by which progress bars go on.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    /// Hands over the lines that these bytes complete.
    pub(super) fn feed(&mut self, bytes: &[u8], mut hear: impl FnMut(&str)) {
        for &byte in bytes {
            match byte {
                b'\n' | b'\r' => self.rest(&mut hear),
                _ if self.0.len() < LONGEST_LINE => self.0.push(byte),
                _ => {}
            }
        }
    }

    /// Hands over what comes behind the last line.
    pub(super) fn rest(&mut self, mut hear: impl FnMut(&str)) {
        if !self.0.is_empty() {
            hear(&String::from_utf8_lossy(&self.0));
            self.0.clear();
        }
    }
}

/// Reads all lines.
///
/// # Errors
///
/// When they cannot be read.
pub(super) fn for_each_line(
    mut output: impl BufRead,
    mut hear: impl FnMut(&str),
) -> std::io::Result<()> {
    let mut lines = Lines::default();
    loop {
        let read = match output.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => {
                lines.feed(bytes, &mut hear);
                bytes.len()
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        output.consume(read);
    }
    lines.rest(hear);
    Ok(())
}

/// What was printed last, and a log of what was printed first.
pub(super) struct Heard<W> {
    log: W,
    logged: usize,
    last: VecDeque<String>,
}

impl<W: Write> Heard<W> {
    pub(super) fn new(log: W) -> Self {
        Self { log, logged: 0, last: VecDeque::new() }
    }

    pub(super) fn hear(&mut self, line: &str) {
        let short: String = line.chars().take(SHORT).collect();
        self.last.push_back(short);
        if self.last.len() > LAST_LINES {
            self.last.pop_front();
        }
        if self.logged < LARGEST_LOG {
            // A full disk ends the run elsewhere.
            let _ = writeln!(self.log, "{line}");
            self.logged += line.len() + 1;
            if self.logged >= LARGEST_LOG {
                let _ = writeln!(self.log, "… what else it prints is left out");
            }
        }
    }

    /// The last lines.
    pub(super) fn last(&self) -> String {
        self.last.iter().cloned().collect::<Vec<_>>().join("\n")
    }
}

/// The measures of a line: those of its patterns, or of a JSON object where there are none. `None` where it
/// tells nothing.
pub(super) fn measures(line: &str, patterns: &[Pattern]) -> Option<Vec<(String, f64)>> {
    let told: Vec<(String, f64)> = match patterns {
        [] => object(line)?.into_iter().filter_map(|(name, v)| Some((name, number(&v)?))).collect(),
        _ => patterns
            .iter()
            .flat_map(|pattern| pattern.read(line))
            .filter_map(|(name, text)| Some((name.to_owned(), text.parse().ok()?)))
            .collect(),
    };
    (!told.is_empty()).then_some(told)
}

/// The JSON object that a line is. Python writes NaN and Infinity, which JSON does not have.
fn object(line: &str) -> Option<Map<String, Value>> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    serde_json::from_str(line).ok().or_else(|| {
        let mut quoted = line.to_owned();
        for word in ["-Infinity", "Infinity", "NaN"] {
            for before in [" ", ":"] {
                let (bare, text) = (format!("{before}{word}"), format!("{before}\"{word}\""));
                quoted = quoted.replace(&bare, &text);
            }
        }
        serde_json::from_str(&quoted).ok()
    })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::String(text) => match text.as_str() {
            "NaN" | "nan" => Some(f64::NAN),
            "Infinity" | "inf" => Some(f64::INFINITY),
            "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_and_progress_bars_are_read() {
        let mut lines = Vec::new();
        let long = "x".repeat(LONGEST_LINE + 10);
        let text = format!("one\r 10 %\r 20 %\n{long}\nlast");
        for_each_line(text.as_bytes(), |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [3, 5, 5, LONGEST_LINE, 4]);
        let mut heard = Heard::new(Vec::new());
        (0..200_000).for_each(|index| heard.hear(&format!("line {index}")));
        assert!(
            heard.last().ends_with("line 199999") && heard.last().lines().count() == LAST_LINES
        );
        assert!(heard.log.len() < LARGEST_LOG + 100, "{}", heard.log.len());
    }
}
