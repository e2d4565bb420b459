//! A program's reports, and explanations for missing ones.

use super::ProgramRecipe;
use super::output::{LineReader, Measures};
use super::reported_metrics::ReportedMetrics;
use crate::measure::EpochMetrics;
use crate::names::printable;
use crate::suggestion::did_you_mean;

/// Reads the lines of a program, and stores those that explain why a measure is missing.
pub(super) struct Reports {
    reader: LineReader,
    required: Vec<String>,
    has_patterns: bool,
    /// The first line that reports a measure but cannot be read, with the reason.
    unreadable: Option<String>,
    /// The first line that names a required measure but does not report it, with the reason.
    passed_over: Option<String>,
}

impl Reports {
    pub(super) fn of(recipe: &ProgramRecipe) -> Self {
        Self {
            reader: LineReader::of(recipe),
            required: recipe.required().map(str::to_owned).collect(),
            has_patterns: !recipe.read.is_empty(),
            unreadable: None,
            passed_over: None,
        }
    }

    /// Returns the measures in a line of standard output or standard error.
    pub(super) fn read(&mut self, line: &str, of_stderr: bool) -> Option<Measures> {
        let read = match of_stderr && !self.reader.reads_stderr() {
            true => Ok(None),
            false => self.reader.read(line),
        };
        match read {
            Ok(Some(reported)) => return Some(reported),
            Ok(None) if self.passed_over.is_none() => {
                let why_not = |name: &String| self.reader.why_not(line, of_stderr, name);
                let why = self.required.iter().find_map(why_not);
                self.passed_over = why.map(|why| format!("its line {}: {why}", quoted(line)));
            }
            Ok(None) => {}
            Err(problem) if self.unreadable.is_none() => {
                let problem = format!("its line {} cannot be read: {problem}", quoted(line));
                self.unreadable = Some(problem);
            }
            Err(_) => {}
        }
        None
    }

    /// Returns the problem if a line that reports a measure cannot be read. The run has then failed.
    pub(super) fn unreadable(&self) -> Option<String> {
        self.unreadable.clone()
    }

    /// Returns the problem if the last report of a required measure was not a number. The run has then failed.
    pub(super) fn no_number(&self, reported: &ReportedMetrics) -> Option<String> {
        let (name, text) = reported.missing()?;
        Some(format!(
            "its last report of {name} is {}, which is not a number: is it NaN, or was it not measured? print NaN, which \
             is a run that diverged, or leave the name out",
            quoted(text)
        ))
    }

    /// Returns the message for a missing measure: what the program reported instead, and what to do.
    pub(super) fn never_told(&self, name: &str, epochs: &[EpochMetrics]) -> String {
        let columns = crate::runs::columns(epochs.iter());
        let there = match columns.is_empty() {
            true => "it reported no metric at all".to_owned(),
            false => format!("it reported {}", columns.join(", ")),
        };
        let nested = columns.iter().find(|column| column.ends_with(&format!(".{name}")));
        let advice = match (nested, &self.passed_over, did_you_mean(name, &columns)) {
            (Some(nested), _, _) => format!("name that with its object, {nested}"),
            (None, Some(line), _) => line.clone(),
            (None, None, Some(question)) => question,
            (None, None, None) if self.has_patterns => {
                "no --read pattern matches a line that the program printed".to_owned()
            }
            (None, None, None) => format!(
                "print a line such as {{\"{name}\": 0.5}}, or say how it is printed with --read"
            ),
        };
        format!("it never reported {name}: {there}; {advice}")
    }
}

/// Returns a line for an explanation, cut if it is long.
fn quoted(line: &str) -> String {
    const MOST: usize = 200;
    let shown: String = line.trim().chars().take(MOST).collect();
    let rest = if line.trim().chars().nth(MOST).is_some() { "…" } else { "" };
    format!("`{}{rest}`", printable(&shown))
}
