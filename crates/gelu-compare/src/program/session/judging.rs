//! A judgement within a session.

use super::reuse::Incumbent;
use super::{Decisive, Entry, Ledger, Outcome, Side, Turn, folder, folder_of, machine};
use crate::comparison::differences;
use crate::comparison::statistics::session::{LAST, is_judgement, level, schedule};
use crate::measure::UntilDecided;
use crate::names::printable;
use crate::output::{complain, print};
use crate::program::contents::{self, Files, digest};
use crate::program::execution::{Execution, Workers};
use crate::program::flags::{DecisionFlags, ReadingFlags};
use crate::program::{DeviceNames, ProgramRecipe, ProgramSpec};
use crate::runs::Spec;
use crate::{Error, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// A request to judge a change in a session.
pub(in crate::program) struct Judging {
    /// The ledger's file.
    pub(in crate::program) file: PathBuf,
    pub(in crate::program) note: Option<String>,
    /// The commands of the incumbent and of the change.
    pub(in crate::program) commands: [String; 2],
    pub(in crate::program) recipe: ProgramRecipe,
    pub(in crate::program) reading: ReadingFlags,
    pub(in crate::program) decided: DecisionFlags,
    pub(in crate::program) execution: Execution,
}

/// The handling of a request.
enum Step {
    /// The change was judged before, with this exit code.
    Known(Entry, u8),
    /// This judgement is to be carried out.
    Judge(Entry),
}

impl Judging {
    /// Judges the change, unless it was judged before.
    ///
    /// # Errors
    ///
    /// Returns an error if something cannot be judged in this session, run or written.
    pub(in crate::program) fn run(mut self) -> Result<ExitCode> {
        self.decided.leave_to_session()?;
        // Judges work one after the other. A dry run writes nothing, so it need not wait.
        let turn = match self.execution.dry_run {
            true => None,
            false => Some(Turn::take(&self.file, &folder(&self.file))?),
        };
        let known = Ledger::read(&self.file)?;
        let mut ledger = known.unwrap_or_else(|| Ledger::new(&self.recipe));
        self.check_criterion(&ledger)?;
        self.reading.read_contents(&mut self.recipe)?;
        if let Some(last) = ledger.entries.last() {
            contents::settle(&mut self.recipe, &folder_of(&self.file, last.number));
        }
        let sides = self.sides()?;
        let mut entry = match self.step(&mut ledger, sides)? {
            Step::Known(entry, code) => return self.say_known(&entry, code),
            Step::Judge(entry) => entry,
        };
        if let Some(note) = &self.note {
            let words: Vec<&str> = note.split_whitespace().collect();
            entry.note = Some(printable(&words.join(" "))).filter(|note| !note.is_empty());
        }
        let out = self.prepare(&entry);
        let Some(turn) = turn else {
            self.execution.carry_out(
                &self.recipe,
                &self.decided,
                &DeviceNames::default(),
                Workers::of_commands(),
            )?;
            return Ok(ExitCode::SUCCESS);
        };
        let before = Incumbent::of(&ledger, &self.file).filter(|i| i.is(&entry.incumbent));
        self.note_changes(&mut ledger, &mut entry);
        ledger.entries.push(entry);
        turn.write(&ledger)?;
        let entry = ledger.entries.last_mut().expect("it was put there");
        if let Some(incumbent) = before {
            let reused = self.reuse(&incumbent, &entry.incumbent.command, &out)?;
            entry.reused = entry.reused.max(reused);
        }
        let json = self.execution.shown.json;
        let carried_out = self.execution.carry_out(
            &self.recipe,
            &self.decided,
            &DeviceNames::default(),
            Workers::of_commands(),
        )?;
        let Some(done) = carried_out else { return Ok(ExitCode::SUCCESS) };
        let finding = differences(&done.snapshot).into_iter().next().map(|found| found.finding);
        entry.record(&done.snapshot, finding.as_ref());
        let entry = entry.clone();
        turn.write(&ledger)?;
        match entry.verdict {
            Outcome::Open | Outcome::Failed => done.exit_code(),
            verdict => {
                let number = entry.number;
                let kept = match verdict {
                    Outcome::Kept => format!(" Kept, as judgement {number} of this session."),
                    _ => String::new(),
                };
                let said = format!("{}{kept}\n", entry.sentence.unwrap_or_default());
                say(&said, json)?;
                Ok(ExitCode::from(verdict.exit_code().unwrap_or(1)))
            }
        }
    }

    /// Checks that the criterion is that of the session's other judgements.
    fn check_criterion(&self, ledger: &Ledger) -> Result<()> {
        let there = &ledger.criterion;
        match there.difference(&Decisive::of(&self.recipe)) {
            None => Ok(()),
            Some(flag) => Err(Error::Usage(format!(
                "all judgements of a session go by the same, and {flag} is another than in {}, which judges by {}; begin \
                 a session of its own with another file",
                self.file.display(),
                there.metric.name
            ))),
        }
    }

    /// Returns the incumbent and the change, identified by their contents.
    fn sides(&self) -> Result<[Side; 2]> {
        let depends = self.depends();
        let depends = (!depends.is_empty()).then(|| digest(depends));
        let side = |command: &String| -> Result<Side> {
            let (command, program) = (command.clone(), self.recipe.identity(command)?);
            Ok(Side { command, program, depends: depends.clone(), mean: None })
        };
        let sides = [side(&self.commands[0])?, side(&self.commands[1])?];
        match sides[0].is(&sides[1]) {
            false => Ok(sides),
            true => Err(Error::Usage(format!(
                "`{}` and `{}` have the same contents, so there is no change to judge",
                printable(&sides[0].command),
                printable(&sides[1].command)
            ))),
        }
    }

    fn depends(&self) -> &Files {
        static NONE: Files = Files::new();
        self.recipe.contents.as_ref().map_or(&NONE, |contents| contents.dependencies())
    }

    /// Decides how to handle the request: a judged change is not judged again, and an unfinished judgement continues.
    fn step(&self, ledger: &mut Ledger, sides: [Side; 2]) -> Result<Step> {
        let retries = self.execution.shown.retry_failed;
        let goes_on: Vec<u64> =
            ledger.of_incumbent().into_iter().map(|(number, _)| number).collect();
        let known = ledger.known([&sides[0], &sides[1]]).cloned();
        if let Some(entry) = known {
            // The judgement's folder contains the commands by their words.
            let can_go_on = goes_on.contains(&entry.number)
                && self.commands == [&*entry.incumbent.command, &*entry.change.command];
            let goes_on = match entry.verdict {
                Outcome::Failed if !retries => false,
                // A failed judgement without a pair has not used its share of the budget, and another may have taken
                // that share.
                Outcome::Failed => can_go_on && entry.pairs > 0,
                verdict => verdict == Outcome::Open && can_go_on,
            };
            match entry.verdict.exit_code() {
                _ if goes_on => return Ok(Step::Judge(ledger.take(entry.number).unwrap_or(entry))),
                Some(code) if entry.verdict != Outcome::Failed || !retries => {
                    return Ok(Step::Known(entry, code));
                }
                _ => {}
            }
        }
        let j = ledger.next_j();
        match is_judgement(j) {
            true => Ok(Step::Judge(Entry::new(ledger.next_number(), j, None, sides))),
            false => Err(Error::Usage(format!(
                "the budget of {} is spent: {LAST} changes were judged since the last that was kept. Begin another \
                 session with another file; it has a budget of its own, so that both together may keep twice as many \
                 false ones",
                self.file.display()
            ))),
        }
    }

    /// Prints the outcome of the earlier judgement.
    fn say_known(&self, entry: &Entry, code: u8) -> Result<ExitCode> {
        let what = match &entry.sentence {
            Some(sentence) if entry.verdict != Outcome::Failed => sentence.clone(),
            _ => "a run failed; --retry-failed tries it again.".to_owned(),
        };
        let said = format!(
            "This was tried before, as judgement {}, and is not tried again: {what}\n",
            entry.number
        );
        say(&said, self.execution.shown.json)?;
        Ok(ExitCode::from(code))
    }

    /// Sets the session's plan for the judgement, and returns the judgement's folder.
    fn prepare(&mut self, entry: &Entry) -> PathBuf {
        let schedule = schedule(entry.j);
        self.recipe.judgement = Some(entry.j);
        self.recipe.level = Some(level(entry.j));
        self.recipe.until_decided = Some(UntilDecided { max_seeds: schedule.seeds });
        let out = folder_of(&self.file, entry.number);
        self.decided.write_into(&out);
        out
    }

    /// Records other differences from the previous judgement.
    fn note_changes(&self, ledger: &mut Ledger, entry: &mut Entry) {
        let mut changed = Vec::new();
        let now = machine();
        if ledger.machine != now {
            changed.push(format!("the machine: {now}, before {}", ledger.machine));
        }
        let depends = self.depends();
        if !ledger.entries.is_empty() && ledger.depends != *depends {
            changed.push(format!("--depends: {}", different(&ledger.depends, depends)));
        }
        if let Some(incumbent) = ledger.incumbent()
            && incumbent.program != entry.incumbent.program
        {
            changed.push(
                "A is not what was kept last, so it is run anew; the budget goes on".to_owned(),
            );
        }
        for line in &changed {
            complain(&format!("{}: changed since the last judgement: {line}\n", ProgramSpec::TOOL));
        }
        entry.changed.extend(changed);
        (ledger.machine, ledger.depends) = (now, depends.clone());
    }
}

/// Prints the last line: to standard output, or to standard error if standard output has a JSON document.
fn say(line: &str, json: bool) -> Result<()> {
    match json {
        true => complain(line),
        false => print(line)?,
    }
    Ok(())
}

/// Returns the files that differ: `data.csv, conf/a.toml`.
fn different(before: &Files, now: &Files) -> String {
    let all = before.keys().chain(now.keys()).filter(|path| before.get(*path) != now.get(*path));
    let names: std::collections::BTreeSet<String> = all.map(|path| printable(path)).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}
