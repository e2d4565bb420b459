//! The command that shows a session.

use super::{Entry, Ledger, Outcome};
use crate::comparison::statistics::session::{LAST, LEVEL, is_judgement, level};
use crate::comparison::{Wording, two_digits};
use crate::error::Place;
use crate::measure::seconds;
use crate::names::printable;
use crate::output::print;
use crate::{Error, Result};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The number of kept changes after which a warning about overfitting is due.
const MANY: usize = 10;
/// The maximum width, in characters, of the cell that describes the change.
const LONGEST: usize = 40;
/// Bars from low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Show a session: the judged changes, those that were kept, and what is left of its budget
#[derive(Debug, Args)]
pub(in crate::program) struct Session {
    /// The file that `judge --session` writes
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print everything as one JSON document
    #[arg(long)]
    json: bool,
}

impl Session {
    /// Prints the session.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a session's.
    pub(in crate::program) fn run(self) -> Result<ExitCode> {
        let Some(ledger) = Ledger::read(&self.file)? else {
            let advice = "`judge A B --session FILE` begins a session";
            return Err(Error::data(&self.file, Place::File, "there is no such file", advice));
        };
        match self.json {
            true => print(&format!("{:#}\n", document(&ledger)))?,
            false => print(&text(&self.file.display().to_string(), &ledger))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the ledger and its budget as JSON.
fn document(ledger: &Ledger) -> serde_json::Value {
    let next = ledger.next_j();
    let path: Vec<Option<f64>> = path(ledger);
    json!({
        "ledger": ledger,
        "kept": ledger.kept().count(),
        "path": path,
        "budget": {
            "number": 1 + ledger.kept().count(),
            "used": next - 1,
            "left": LAST.saturating_sub(next - 1),
            "next_level": is_judgement(next).then(|| level(next)),
            "false_ones_at_most": LEVEL,
        },
    })
}

fn text(file: &str, ledger: &Ledger) -> String {
    let metric = &ledger.criterion.metric;
    let wording = Wording::of(metric);
    let better = if wording.higher_is_better() { "higher" } else { "lower" };
    let (all, kept) = (ledger.entries.len(), ledger.kept().count());
    let mut said = format!(
        "{file}: {} of {}, of which {better} is better; {kept} kept\n\n",
        several(all as u64, "judgement"),
        printable(&metric.name)
    );
    said.push_str(&table(ledger, &wording));
    said.push_str("\n\n");
    if all > 0 {
        said.push_str(
            "An interval has the level of its judgement, so most changes that are given up early have none.\n",
        );
    }
    for entry in &ledger.entries {
        for line in &entry.changed {
            said.push_str(&format!("Before judgement {}, this changed: {line}\n", entry.number));
        }
    }
    said.extend(picture(ledger, &wording));
    said.push_str(&budget(ledger));
    said
}

fn table(ledger: &Ledger, wording: &Wording) -> String {
    let header = ["#", "what was tried", "verdict", "effect", "interval", "pairs", "time", "level"];
    let row = |entry: &Entry| {
        let what = entry.note.as_ref().unwrap_or(&entry.change.command);
        let ends = entry.interval.map(|interval| interval.ends());
        let width = ends.map_or(f64::NAN, |[low, high]| (high - low) / 2.0);
        let effect = entry.effect.map(|effect| {
            let resolution = if width.is_finite() { width } else { effect / 10.0 };
            wording.number(effect, resolution)
        });
        vec![
            entry.number.to_string(),
            shortened(&printable(what)),
            entry.verdict.words().to_owned(),
            effect.unwrap_or_default(),
            ends.map(|ends| wording.interval(ends)).unwrap_or_default(),
            entry.pairs.to_string(),
            seconds(entry.seconds),
            two_digits(entry.level),
        ]
    };
    crate::cli::listing(&header, &[0, 3, 5, 6, 7], ledger.entries.iter().map(row).collect())
}

/// Returns the mean of the first incumbent and of all kept changes; `None` for means with diverged runs.
fn path(ledger: &Ledger) -> Vec<Option<f64>> {
    let first = ledger.kept().next().or(ledger.entries.last());
    let start = first.map(|entry| entry.incumbent.mean);
    start.into_iter().chain(ledger.kept().map(|entry| entry.change.mean)).collect()
}

/// Returns the progress in a line: `From start to now, loss: 1.004 → 0.903 → 0.85  █▄▁`.
fn picture(ledger: &Ledger, wording: &Wording) -> Option<String> {
    let kept: Vec<&Entry> = ledger.kept().collect();
    let smallest =
        kept.iter().filter_map(|entry| entry.effect).map(f64::abs).fold(f64::NAN, f64::min);
    let path = path(ledger);
    let number = |mean: &Option<f64>| {
        mean.map_or_else(|| "?".to_owned(), |mean| wording.number(mean, smallest))
    };
    let ends = [path.first()?, path.last()?].map(number);
    (!kept.is_empty()).then(|| {
        format!(
            "From start to now: {} to {}{} of {}  {}\nWhat is kept was kept for being large, so these effects are on average \
             too large; judge the last program against the first with new seeds.\n",
            ends[0],
            ends[1],
            wording.unit(),
            printable(wording.metric()),
            sparkline(&path)
        )
    })
}

fn sparkline(path: &[Option<f64>]) -> String {
    let known = || path.iter().flatten().copied();
    let (low, high) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let bar = |mean: &Option<f64>| match mean {
        None => '?',
        Some(mean) => {
            let share = (mean - low) / (high - low);
            BARS[if share.is_finite() { (share * 7.0).round() as usize } else { 0 }]
        }
    };
    path.iter().map(bar).collect()
}

/// Returns a text about the rest of the budget, the promised error rate, and what to do.
fn budget(ledger: &Ledger) -> String {
    let (kept, next) = (ledger.kept().count(), ledger.next_j());
    let mut said = match is_judgement(next) {
        true => format!(
            "Budget {}: {} of {LAST} judgements are used, and the next has level {}. A change that is kept begins the next \
             budget.\n",
            kept + 1,
            next - 1,
            two_digits(level(next))
        ),
        false => format!(
            "Budget {} is spent: {LAST} changes were judged since the last that was kept, and no further one is. Begin another \
             session with another file; it has a budget of its own.\n",
            kept + 1
        ),
    };
    said.push_str(&format!(
        "On average at most {LEVEL} false ones are kept per budget, and one budget more is begun than changes are kept: here \
         at most {:.2} of {}. Where real improvements are rare or small, a larger share of what is kept can be false.\n",
        LEVEL * (kept + 1) as f64,
        several(kept as u64, "change")
    ));
    if kept >= MANY {
        said.push_str(&format!(
            "{kept} changes are kept. A session guards against the luck of seeds, and not against fitting the evaluation data by \
             many tries: keep a test set for the end that no judgement has seen.\n"
        ));
    }
    let open = ledger.entries.iter().filter(|entry| entry.verdict == Outcome::Open).count();
    if open > 0 {
        said.push_str("What is not finished goes on when you run its command again.\n");
    }
    said
}

fn several(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::FindingInterval;
    use crate::program::session::Side;

    fn session(kept: usize) -> Ledger {
        let mut ledger = Ledger::new(&crate::program::example());
        let side = |program: usize, mean| Side {
            command: format!("./{program}"),
            program: program.to_string(),
            depends: None,
            mean,
        };
        for number in 0..kept {
            let mean = |number: usize| Some(1.0 / (1.0 + number as f64));
            let sides = [side(number, mean(number)), side(number + 1, mean(number + 1))];
            let mut entry = Entry::new(ledger.next_number(), ledger.next_j(), None, sides);
            entry.verdict = Outcome::Kept;
            (entry.pairs, entry.effect) = (8, Some(-0.1));
            entry.interval = Some(FindingInterval::of([-0.15, -0.05], 0.95));
            ledger.entries.push(entry);
        }
        ledger
    }

    #[test]
    fn a_session_is_a_table_a_path_and_what_is_left() {
        let mut ledger = session(2);
        ledger.entries[1].note = Some("x".repeat(50));
        ledger.entries[1].changed = vec!["the machine: b, before a".to_owned()];
        let said = text("research.toml", &ledger);
        for part in [
            "research.toml: 2 judgements of test_error, of which lower is better; 2 kept",
            "-0.100  -0.150 to -0.050",
            &format!("{}…", "x".repeat(LONGEST)),
            "Before judgement 2, this changed: the machine: b, before a",
            "From start to now: 1.00 to 0.33 of test_error  █▃▁",
            "Budget 3: 0 of 900 judgements are used, and the next has level 0.025.",
            "here at most 0.15 of 2 changes",
        ] {
            assert!(said.replace('−', "-").contains(part), "{part}: {said}");
        }
        assert!(!said.contains("test set"), "{said}");
        assert!(text("", &session(MANY)).contains("keep a test set for the end"));
        assert_eq!(document(&ledger)["budget"]["left"], 900);
    }

    #[test]
    fn a_spent_budget_says_what_to_do() {
        let mut ledger = session(1);
        let mut last = ledger.entries[0].clone();
        (last.number, last.j, last.verdict) = (2, LAST, Outcome::Futile);
        ledger.entries.push(last);
        let said = budget(&ledger);
        assert!(said.contains("Budget 2 is spent") && said.contains("another file"), "{said}");
        assert_eq!(document(&ledger)["budget"]["next_level"], serde_json::Value::Null);
    }
}
