//! Reads a program's output: measures, and lines for the log.

use super::json::{self, Leaf};
use super::{Pattern, ProgramRecipe};
use crate::names::excerpt;
use crate::scores::number::number;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{BufRead, Write};

/// The limit for a line in bytes. No program prints a measure further to the right.
const LONGEST_LINE: usize = 64 << 10;
/// The number of last lines that explain a failed run.
const LAST_LINES: usize = 20;
/// The limit for a line in an explanation, in characters.
const SHORT: usize = 400;
/// The limit for the output in a run's log, in bytes.
const LARGEST_LOG: usize = 1 << 20;

/// Splits output into lines. Of a line beyond [`LONGEST_LINE`], only the beginning counts. A line ends with a line
/// feed or with a carriage return, which progress bars use.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    /// Passes each line that these bytes complete to `hear`.
    pub(super) fn feed(&mut self, bytes: &[u8], mut hear: impl FnMut(&str)) {
        for &byte in bytes {
            match byte {
                b'\n' | b'\r' => self.rest(&mut hear),
                _ if self.0.len() < LONGEST_LINE => self.0.push(byte),
                _ => {}
            }
        }
    }

    /// Passes the text after the last line end to `hear`.
    pub(super) fn rest(&mut self, mut hear: impl FnMut(&str)) {
        if !self.0.is_empty() {
            hear(&String::from_utf8_lossy(&self.0));
            self.0.clear();
        }
    }
}

/// Passes every line of `output` to `hear`.
///
/// # Errors
///
/// Returns an error if the output cannot be read.
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

/// Stores the last lines of a program, and writes the first ones to a log.
pub(super) struct OutputLog<W> {
    log: W,
    logged: usize,
    last: VecDeque<String>,
}

impl<W: Write> OutputLog<W> {
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
            // Errors are ignored here; a full disk ends the run elsewhere.
            let _ = writeln!(self.log, "{line}");
            self.logged += line.len() + 1;
            if self.logged >= LARGEST_LOG {
                let _ = writeln!(self.log, "… what else it prints is left out");
            }
        }
    }

    /// Returns the last lines.
    pub(super) fn last(&self) -> String {
        self.last.iter().cloned().collect::<Vec<_>>().join("\n")
    }
}

/// The value of a measure in a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reading {
    Number(f64),
    /// Any other text, as written: `null`.
    Other(String),
}

/// The measures in a line.
pub(super) type Measures = Vec<(String, Reading)>;

/// Reads measures from lines.
#[derive(Clone, Debug)]
pub(super) struct LineReader {
    patterns: Vec<Pattern>,
    /// The measures that a run must report.
    required: Vec<String>,
    stderr: bool,
}

impl LineReader {
    pub(super) fn of(recipe: &ProgramRecipe) -> Self {
        let required = recipe.required().map(str::to_owned).collect();
        Self { patterns: recipe.read.clone(), required, stderr: recipe.stderr }
    }

    /// Returns whether standard error is read too.
    pub(super) fn reads_stderr(&self) -> bool {
        self.stderr
    }

    /// Returns the measures in a line: those of the patterns or, without patterns, those of a JSON object. Returns
    /// `None` if the line has none. Values that are not numbers are only included for required measures.
    ///
    /// # Errors
    ///
    /// Returns an error that explains why a line with a measure cannot be read.
    pub(super) fn read(&self, line: &str) -> Result<Option<Measures>, String> {
        let plain = plain(line);
        let mut told: Measures = match self.patterns.as_slice() {
            [] => self.object(&plain)?,
            patterns => {
                let mut all = Vec::new();
                for pattern in patterns {
                    let reading = |text: &str| match number(text.trim()) {
                        Some(number) => Reading::Number(number),
                        None => Reading::Other(text.to_owned()),
                    };
                    let read = pattern.read(&plain)?.into_iter();
                    all.extend(read.map(|(name, text)| (name.to_owned(), reading(text))));
                }
                all
            }
        };
        let is_epoch = |name: &str| name == "epoch";
        told.retain(|(name, reading)| match reading {
            Reading::Number(_) => true,
            Reading::Other(_) => is_epoch(name) || self.required.contains(name),
        });
        let no_epoch = told.iter().find_map(|(name, reading)| match reading {
            Reading::Number(number) if number.is_finite() => None,
            Reading::Number(number) => is_epoch(name).then(|| number.to_string()),
            Reading::Other(text) => is_epoch(name).then(|| excerpt(text)),
        });
        match no_epoch {
            Some(text) => Err(format!("its epoch is {text}, which is not a number")),
            None => Ok((!told.is_empty()).then_some(told)),
        }
    }

    fn object(&self, line: &str) -> Result<Measures, String> {
        let line = line.trim();
        if !line.starts_with('{') {
            return Ok(Vec::new());
        }
        let leaves = match json::leaves(line) {
            Ok(leaves) => leaves,
            // Any program may print a brace.
            Err(_) if !self.required.iter().any(|name| line.contains(&format!("\"{name}\""))) => {
                return Ok(Vec::new());
            }
            Err(_) if line.len() >= LONGEST_LINE => {
                return Err(format!("it is longer than {LONGEST_LINE} bytes"));
            }
            Err(problem) => return Err(format!("it is no JSON object: {problem}")),
        };
        let reading = |leaf| match leaf {
            Leaf::Number(number) => Reading::Number(number),
            Leaf::Other(text) => Reading::Other(text),
        };
        Ok(leaves.into_iter().map(|(name, leaf)| (name, reading(leaf))).collect())
    }

    /// Returns the reason why a line that names a measure does not report it, or `None` if it does not name the
    /// measure.
    pub(super) fn why_not(&self, line: &str, of_stderr: bool, name: &str) -> Option<String> {
        let plain = plain(line);
        let line = plain.trim();
        let last = name.rsplit('.').next().unwrap_or(name);
        if !line.contains(last) {
            return None;
        }
        Some(match line.find('{').map(|start| (start, json::leaves(&line[start..]))) {
            _ if of_stderr && !self.stderr => {
                "it was printed to standard error, which is read with --stderr".to_owned()
            }
            _ if !self.patterns.is_empty() => "no --read pattern matches this line".to_owned(),
            Some((start, Ok(_))) if start > 0 => {
                "text stands before the JSON object: print the object on a line of its own"
                    .to_owned()
            }
            Some((0, Err(problem))) => format!("it is no JSON object: {problem}"),
            _ => format!(
                "it is no JSON object: say how it is printed, as in --read '{last} {{{name}}}'"
            ),
        })
    }
}

/// Returns a line without escape sequences of terminals, and without a byte order mark.
fn plain(line: &str) -> Cow<'_, str> {
    let line = line.trim_start_matches('\u{feff}');
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.next() {
                // A control sequence ends with a character from `@` to `~`, a title with a bell or a backslash after
                // an escape.
                Some('[') => drop(rest.by_ref().find(|c| ('@'..='~').contains(c))),
                Some(']') => drop(rest.by_ref().find(|c| "\u{7}\\".contains(*c))),
                _ => {}
            },
            c => plain.push(c),
        }
    }
    Cow::Owned(plain)
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
        let mut heard = OutputLog::new(Vec::new());
        (0..200_000).for_each(|index| heard.hear(&format!("line {index}")));
        assert!(
            heard.last().ends_with("line 199999") && heard.last().lines().count() == LAST_LINES
        );
        assert!(heard.log.len() < LARGEST_LOG + 100, "{}", heard.log.len());
    }

    fn reader(patterns: &[&str]) -> LineReader {
        let patterns = patterns.iter().map(|text| text.parse().unwrap()).collect();
        LineReader { patterns, required: vec!["loss".to_owned()], stderr: false }
    }

    /// Returns the measures in a line as texts: `loss 0.5`, `loss "n/a"`.
    fn read(patterns: &[&str], line: &str) -> Result<Vec<String>, String> {
        let shown = |(name, reading): (String, Reading)| match reading {
            Reading::Number(number) => format!("{name} {number}"),
            Reading::Other(text) => format!("{name} {text:?}"),
        };
        let read = reader(patterns).read(line)?.unwrap_or_default();
        Ok(read.into_iter().map(shown).collect())
    }

    #[test]
    fn objects_are_read_in_colours_and_behind_a_mark() {
        for line in [
            "\u{feff}{\"loss\": 0.5}",
            "\u{1b}[1;31m{\"loss\": \u{1b}[0m0.5}",
            "\u{1b}]0;title\u{7} {\"loss\": 0.5} ",
            "{\"loss\": 0.5, \"note\": \"loss is NaN\", \"all\": [NaN, {\"loss\": 3}]}",
        ] {
            assert_eq!(read(&[], line), Ok(vec!["loss 0.5".to_owned()]), "{line}");
        }
        assert_eq!(
            read(&["loss {loss}"], "\u{1b}[32mloss\u{1b}[0m \u{1b}[1m0.5\u{1b}[0m").unwrap(),
            ["loss 0.5"]
        );
    }

    #[test]
    fn a_line_that_reports_what_decides_is_read_or_a_problem() {
        for line in
            ["{not json}", "{'loss': 0.5}", "{\"lo", "text", "{}", "{\"loss\"", "{\"x\": 1} y"]
        {
            let problem = ["{\"loss\""].contains(&line);
            assert_eq!(read(&[], line).is_err(), problem, "{line}");
        }
        let problem = read(&[], "{\"epoch\": 1, \"loss\": 0,5}").unwrap_err();
        assert!(problem.starts_with("it is no JSON object: where a name"), "{problem}");
        let long = format!("{{\"loss\": 0.5, \"all\": [{}", "1, ".repeat(LONGEST_LINE));
        assert!(read(&[], &long).unwrap_err().contains("longer than 65536 bytes"));
        assert!(
            read(&[], "{\"epoch\": NaN, \"loss\": 1}").unwrap_err().contains("its epoch is NaN")
        );
    }

    #[test]
    fn what_was_captured_or_written_and_is_no_number_is_never_one() {
        let group = r"loss: (?<loss>\S+) (?<other>\S+)";
        assert_eq!(read(&[group], "loss: n/a n/a").unwrap(), ["loss \"n/a\""]);
        assert_eq!(read(&[group], "loss: 0.5 n/a").unwrap(), ["loss 0.5"]);
        assert_eq!(read(&[], r#"{"loss": null, "x": null}"#).unwrap(), ["loss \"null\""]);
        assert_eq!(
            read(&[], r#"{"loss": "0.5", "x": 1}"#).unwrap(),
            ["loss \"\\\"0.5\\\"\"", "x 1"]
        );
    }

    #[test]
    fn a_line_that_did_not_report_what_it_names_is_explained() {
        let why = |patterns: &[&str], line: &str, of_stderr| {
            reader(patterns).why_not(line, of_stderr, "loss").unwrap_or_default()
        };
        assert_eq!(why(&[], "epoch 3", false), "");
        for (line, of_stderr, reason) in [
            ("{\"loss\": 0.5}", true, "--stderr"),
            ("INFO:root:{\"loss\": 0.5}", false, "text stands before the JSON object"),
            ("{'loss': 0.5}", false, "\"double quotes\" belongs stands `\\'loss"),
            (
                "loss: 0.5",
                false,
                "it is no JSON object: say how it is printed, as in --read 'loss {loss}'",
            ),
        ] {
            assert!(
                why(&[], line, of_stderr).contains(reason),
                "{line}: {}",
                why(&[], line, of_stderr)
            );
        }
        assert_eq!(why(&["val {loss}"], "loss 0.5", false), "no --read pattern matches this line");
    }

    /// All readers must return the same bits as the standard library.
    #[test]
    fn twenty_thousand_numbers_keep_every_bit() {
        use rand::{Rng, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut tried = 0;
        while tried < 20_000 {
            let exact = f64::from_bits(random.next_u64());
            if !exact.is_finite() {
                continue;
            }
            tried += 1;
            // The shortest text, the 17 digits of C's %.17g, and more digits than the number has.
            for text in [format!("{exact:e}"), format!("{exact:.16e}"), format!("{exact:.30e}")] {
                let expected: f64 = text.parse().unwrap();
                let same = |read: f64, by: &str| {
                    assert_eq!(read.to_bits(), expected.to_bits(), "{text} by {by}: {read:e}");
                };
                same(serde_json::from_str(&text).unwrap(), "serde_json");
                same(
                    serde_json::from_str::<serde_json::Value>(&text).unwrap().as_f64().unwrap(),
                    "serde_json's tree",
                );
                same(number(&text).unwrap(), "number");
                let table: std::collections::BTreeMap<String, f64> =
                    toml::from_str(&format!("a = {text}")).unwrap();
                same(table["a"], "toml");
                let mut rows = csv::ReaderBuilder::new()
                    .has_headers(false)
                    .from_reader(text.as_bytes())
                    .into_deserialize();
                let row: (f64,) = rows.next().unwrap().unwrap();
                same(row.0, "csv");
                let line = reader(&[]).read(&format!("{{\"loss\": {text}}}")).unwrap().unwrap();
                assert_eq!(line, [("loss".to_owned(), Reading::Number(expected))]);
            }
            let written = crate::names::number(exact);
            assert_eq!(written.parse::<f64>().unwrap().to_bits(), exact.to_bits(), "{written}");
        }
    }
}
