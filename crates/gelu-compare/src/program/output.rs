//! What a program prints: measures, and lines for the log.

use super::Pattern;
use crate::measure::EpochMetrics;
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

/// Reads lines, however long: of one that is longer than anybody means, the beginning. What ends a line is
/// a line feed or a carriage return, by which progress bars go on.
pub(super) fn for_each_line(mut output: impl BufRead, mut hear: impl FnMut(&str)) {
    let mut line: Vec<u8> = Vec::new();
    loop {
        let read = match output.fill_buf() {
            Ok([]) | Err(_) => break,
            Ok(bytes) => {
                for &byte in bytes {
                    match byte {
                        b'\n' | b'\r' if line.is_empty() => {}
                        b'\n' | b'\r' => {
                            hear(&String::from_utf8_lossy(&line));
                            line.clear();
                        }
                        _ if line.len() < LONGEST_LINE => line.push(byte),
                        _ => {}
                    }
                }
                bytes.len()
            }
        };
        output.consume(read);
    }
    if !line.is_empty() {
        hear(&String::from_utf8_lossy(&line));
    }
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

/// The epochs that a program tells of, in order and without gaps: one for every `epoch` that is larger than
/// the one before. A program that goes on where it was killed tells the epochs behind that, and those before
/// are kept.
#[derive(Debug, Default)]
pub(super) struct Told {
    before: Vec<EpochMetrics>,
    epochs: Vec<EpochMetrics>,
    last: Option<f64>,
    /// Measures that have to be finite numbers.
    required: Vec<String>,
    lost: Option<usize>,
}

impl Told {
    /// After what an earlier session has told, with measures that have to be finite numbers.
    pub(super) fn after<'a>(
        before: Vec<EpochMetrics>,
        required: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self { before, required: required.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Takes what a line tells; whether an epoch has ended by it.
    pub(super) fn hear(&mut self, told: Vec<(String, f64)>) -> bool {
        let number = told.iter().find(|(name, _)| name == "epoch").map(|(_, number)| *number);
        let new = match (number, self.last) {
            (Some(number), Some(last)) => number > last,
            (Some(number), None) => {
                let kept = number - 1.0;
                let goes_on =
                    kept >= 1.0 && kept.fract() == 0.0 && kept <= self.before.len() as f64;
                if self.epochs.is_empty() && goes_on {
                    self.before.truncate(kept as usize);
                    self.epochs = std::mem::take(&mut self.before);
                }
                true
            }
            (None, _) => self.epochs.is_empty(),
        };
        // What was told before the first epoch belongs to it.
        let begun =
            self.last.is_none() && self.epochs.len() == 1 && number.is_some_and(|n| n <= 1.0);
        let ended = new && !self.epochs.is_empty() && !begun;
        if new && !begun {
            self.epochs.push(EpochMetrics::new(self.epochs.len() + 1));
        }
        self.last = number.or(self.last);
        if let Some(epoch) = self.epochs.last_mut() {
            for (name, value) in told.into_iter().filter(|(name, _)| name != "epoch") {
                if !value.is_finite() && self.required.contains(&name) {
                    self.lost.get_or_insert(epoch.epoch);
                }
                epoch.set(&name, value);
            }
        }
        ended
    }

    /// All there are.
    pub(super) fn epochs(&self) -> &[EpochMetrics] {
        &self.epochs
    }

    /// The first epoch in which a measure was no finite number that has to be one.
    pub(super) fn lost(&self) -> Option<usize> {
        self.lost
    }

    /// Those that can be kept: up to the first that is lost, with finite values alone.
    pub(super) fn kept(&self) -> Vec<EpochMetrics> {
        self.finite(self.lost.map_or(self.epochs.len(), |lost| lost - 1))
    }

    /// Those of them that have ended: all but the one that is told of.
    pub(super) fn ended(&self) -> Vec<EpochMetrics> {
        self.finite(self.epochs.len().saturating_sub(1))
    }

    fn finite(&self, until: usize) -> Vec<EpochMetrics> {
        let finite = |epoch: &EpochMetrics| {
            let mut epoch = epoch.clone();
            for (_, value) in &mut epoch.values {
                *value = value.filter(|value| value.is_finite());
            }
            epoch
        };
        self.epochs[..until].iter().map(finite).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Told {
        let mut all = Told::after(Vec::new(), ["loss"].into_iter());
        for line in lines {
            if let Some(measures) = measures(line, &[]) {
                all.hear(measures);
            }
        }
        all
    }

    fn shown(told: &Told) -> Vec<String> {
        told.epochs().iter().map(|epoch| serde_json::to_string(epoch).unwrap()).collect()
    }

    #[test]
    fn epochs_are_told_line_by_line_and_what_comes_without_one_belongs_to_the_last() {
        let all = told(&[
            "loading …",
            r#"{"epoch": 0, "loss": 2.5, "note": "text"}"#,
            r#"{"epoch": 0, "valid_loss": 3}"#,
            r#"{"epoch": 10, "loss": 1.5}"#,
            r#"{"test_error": 0.25}"#,
            "{not json}",
        ]);
        let expected = [
            r#"{"epoch":1,"loss":2.5,"valid_loss":3.0}"#,
            r#"{"epoch":2,"loss":1.5,"test_error":0.25}"#,
        ];
        assert_eq!(shown(&all), expected);
    }

    #[test]
    fn without_epochs_the_last_value_counts() {
        let all = told(&[r#"{"loss": 2}"#, r#"{"loss": 1, "error": 0.5}"#]);
        assert_eq!(shown(&all), [r#"{"epoch":1,"loss":1.0,"error":0.5}"#]);
        let first = told(&[r#"{"parameters": 7}"#, r#"{"epoch": 1, "loss": 1}"#]);
        assert_eq!(shown(&first), [r#"{"epoch":1,"parameters":7.0,"loss":1.0}"#]);
    }

    #[test]
    fn a_program_that_goes_on_keeps_what_it_told_before() {
        let before: Vec<EpochMetrics> =
            (1..=3).map(|e| EpochMetrics::new(e).with("loss", 1.0 / e as f64)).collect();
        let mut all = Told::after(before.clone(), ["loss"].into_iter());
        all.hear(measures(r#"{"epoch": 3, "loss": 0.25}"#, &[]).unwrap());
        let losses =
            |all: &Told| all.epochs().iter().filter_map(|e| e.get("loss")).collect::<Vec<_>>();
        assert_eq!(losses(&all), [1.0, 0.5, 0.25]);
        let mut anew = Told::after(before, ["loss"].into_iter());
        anew.hear(measures(r#"{"epoch": 1, "loss": 7}"#, &[]).unwrap());
        assert_eq!(losses(&anew), [7.0]);
    }

    #[test]
    fn what_is_no_number_is_a_run_that_diverged() {
        let all =
            told(&[r#"{"epoch": 1, "loss": 1}"#, r#"{"epoch": 2, "loss": NaN, "x":-Infinity}"#]);
        assert_eq!((all.lost(), all.kept().len(), all.ended().len()), (Some(2), 1, 1));
        let other = told(&[r#"{"epoch": 1, "loss": 1, "x": NaN}"#, r#"{"epoch": 2, "loss": 2}"#]);
        assert_eq!((other.lost(), other.kept().len()), (None, 2));
        assert_eq!((other.kept()[0].get("x"), other.kept()[0].get("loss")), (None, Some(1.0)));
        // From the first line on.
        let first = told(&[r#"{"loss": NaN}"#, r#"{"loss": 1}"#]);
        assert_eq!((first.lost(), first.kept().len(), first.ended().len()), (Some(1), 0, 0));
    }

    #[test]
    fn lines_of_any_length_and_progress_bars_are_read() {
        let mut lines = Vec::new();
        let long = "x".repeat(LONGEST_LINE + 10);
        let text = format!("one\r 10 %\r 20 %\n{long}\nlast");
        for_each_line(text.as_bytes(), |line| lines.push(line.to_owned()));
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [3, 5, 5, LONGEST_LINE, 4]);
        let mut heard = Heard::new(Vec::new());
        (0..200_000).for_each(|index| heard.hear(&format!("line {index}")));
        assert!(
            heard.last().ends_with("line 199999") && heard.last().lines().count() == LAST_LINES
        );
        assert!(heard.log.len() < LARGEST_LOG + 100, "{}", heard.log.len());
    }
}
