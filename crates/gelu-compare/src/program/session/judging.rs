//! A judgement as one of a session.

use super::{Decisive, Entry, Ledger, Outcome, Side, Turn, folder, folder_of, machine};
use crate::comparison::statistics::session::{LAST, Judgement, is_judgement, level, plan};
use crate::comparison::{Finding, differences};
use crate::measure::UntilDecided;
use crate::names::printable;
use crate::output::{complain, print};
use crate::program::contents::{self, Files, digest};
use crate::program::execution::{Execution, Workers};
use crate::program::flags::{Decided, Told};
use crate::program::{On, Study, StudyRun};
use crate::runs::{
    ComparisonFolder, ComparisonSnapshot, Experiment, RunFolder, RunKey, RunStatus, Spec, Stage,
};
use crate::setting::Setting;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is to be judged in a session.
pub(in crate::program) struct Judging {
    /// The ledger's file.
    pub(in crate::program) file: PathBuf,
    pub(in crate::program) note: Option<String>,
    /// The incumbent, and the change.
    pub(in crate::program) commands: [String; 2],
    pub(in crate::program) study: Study,
    pub(in crate::program) told: Told,
    pub(in crate::program) decided: Decided,
    pub(in crate::program) execution: Execution,
}

/// What becomes of a request.
enum Step {
    /// It was tried before, with this outcome.
    Known(Entry, u8),
    /// This judgement is carried out.
    Judge(Entry),
}

impl Judging {
    /// Judges the change, unless that was done before.
    ///
    /// # Errors
    ///
    /// What cannot be judged in this session, run, or written.
    pub(in crate::program) fn run(mut self) -> Result<ExitCode> {
        self.decided.leave_to_session()?;
        // Of several judges one after the other, and none where nothing is written.
        let turn = match self.execution.dry_run {
            true => None,
            false => Some(Turn::take(&self.file, &folder(&self.file))?),
        };
        let known = Ledger::read(&self.file)?;
        let mut ledger = known.unwrap_or_else(|| Ledger::new(&self.study));
        self.check_criterion(&ledger)?;
        self.told.read_contents(&mut self.study)?;
        if let Some(last) = ledger.entries.last() {
            contents::settle(&mut self.study, &folder_of(&self.file, last.number));
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
        let (Some(turn), before) = (turn, ledger.of_incumbent_at(&self.file)) else {
            self.execution.carry_out(
                &self.study,
                &self.decided,
                &On::default(),
                Workers::of_commands(),
            )?;
            return Ok(ExitCode::SUCCESS);
        };
        if ledger.incumbent().is_none_or(|incumbent| incumbent.is(&entry.incumbent)) {
            entry.reused = self.reuse(&before, &entry.incumbent.command, &out)?.max(entry.reused);
        }
        self.note_changes(&mut ledger, &mut entry);
        ledger.entries.push(entry);
        turn.write(&ledger)?;
        let json = self.execution.shown.json;
        let carried_out = self.execution.carry_out(
            &self.study,
            &self.decided,
            &On::default(),
            Workers::of_commands(),
        )?;
        let Some(done) = carried_out else { return Ok(ExitCode::SUCCESS) };
        let entry = ledger.entries.last_mut().expect("it was put there");
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
                if json { complain(&said) } else { print(&said)? }
                Ok(ExitCode::from(verdict.exit_code().unwrap_or(1)))
            }
        }
    }

    /// Refuses to judge by something else than the judgements before.
    fn check_criterion(&self, ledger: &Ledger) -> Result<()> {
        let there = &ledger.criterion;
        match there.difference(&Decisive::of(&self.study)) {
            None => Ok(()),
            Some(flag) => Err(Error::Usage(format!(
                "all judgements of a session go by the same, and {flag} is another than in {}, which judges by {}; begin \
                 a session of its own with another file",
                self.file.display(),
                there.metric.name
            ))),
        }
    }

    /// The incumbent and the change, by content.
    fn sides(&self) -> Result<[Side; 2]> {
        let depends = self.depends();
        let depends = (!depends.is_empty()).then(|| digest(depends));
        let side = |command: &String| -> Result<Side> {
            let (command, program) = (command.clone(), self.study.identity(command)?);
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
        self.study.contents.as_ref().map_or(&NONE, |contents| contents.dependencies())
    }

    /// What becomes of the request: nothing is tried twice, and what was not finished goes on.
    fn step(&self, ledger: &mut Ledger, sides: [Side; 2]) -> Result<Step> {
        let retries = self.execution.shown.retry_failed;
        let goes_on: Vec<u64> = ledger.of_incumbent().into_iter().map(|(number, _)| number).collect();
        let known = ledger.known([&sides[0], &sides[1]]).cloned();
        if let Some(entry) = known {
            let can_go_on = goes_on.contains(&entry.number);
            let goes_on = match entry.verdict {
                Outcome::Failed if !retries => false,
                // Without a pair it has not taken its share of the budget, and another may have that.
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
            true => {
                Ok(Step::Judge(Entry::new(ledger.next_number(), j, None, sides)))
            }
            false => Err(Error::Usage(format!(
                "the budget of {} is spent: {LAST} changes were judged since the last that was kept. Begin another \
                 session with another file; it has a budget of its own, so that both together may keep twice as many \
                 false ones",
                self.file.display()
            ))),
        }
    }

    /// Says what came out when it was tried.
    fn say_known(&self, entry: &Entry, code: u8) -> Result<ExitCode> {
        let what = match &entry.sentence {
            Some(sentence) if entry.verdict != Outcome::Failed => sentence.clone(),
            _ => "a run failed; --retry-failed tries it again.".to_owned(),
        };
        let said =
            format!("This was tried before, as judgement {}, and is not tried again: {what}\n", entry.number);
        if self.execution.shown.json { complain(&said) } else { print(&said)? }
        Ok(ExitCode::from(code))
    }

    /// Plans the judgement as the session says; the folder that it is carried out in.
    fn prepare(&mut self, entry: &Entry) -> PathBuf {
        let plan = plan(entry.j);
        self.study.judgement = Some(entry.j);
        self.study.level = Some(level(entry.j));
        self.study.until_decided = Some(UntilDecided { max_seeds: plan.seeds });
        let out = folder_of(&self.file, entry.number);
        self.decided.write_into(&out);
        out
    }

    /// Puts the incumbent's runs that there are into the folder of the judgement; how many of its first seeds it has then.
    fn reuse(&self, before: &[(PathBuf, String)], command: &str, out: &Path) -> Result<u64> {
        let comparison = self.decided.comparison(&self.study, &On::default(), out)?;
        let runs = out.join("runs");
        fs::create_dir_all(&runs).map_err(Error::io("create the folder", &runs))?;
        let mut reused = 0;
        for seed in 1..=comparison.recipe.design().plan().seeds {
            let Some(spec) = comparison.spec(&key(command, seed)) else { break };
            let complete = |(folder, command): &(PathBuf, String)| complete(folder, command, seed);
            let Some(from) = before.iter().find_map(complete) else { break };
            RunFolder::create_from(&runs, &spec, &from)?;
            reused = seed;
        }
        if reused > 0 {
            complain(&format!(
                "{}: {}\n{0}: `{}` is what was kept last, and {reused} of its runs are used again\n",
                StudyRun::TOOL,
                comparison.criterion().rule().prospect(),
                printable(command)
            ));
        }
        Ok(reused)
    }

    /// Notes what else is different from the judgement before.
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
            changed.push("A is not what was kept last, so it is run anew; the budget goes on".to_owned());
        }
        for line in &changed {
            complain(&format!("{}: changed since the last judgement: {line}\n", StudyRun::TOOL));
        }
        entry.changed.extend(changed);
        (ledger.machine, ledger.depends) = (now, depends.clone());
    }
}

impl Ledger {
    /// The folders that may have runs of the incumbent, with its command in each.
    fn of_incumbent_at(&self, file: &Path) -> Vec<(PathBuf, String)> {
        let all = self.of_incumbent().into_iter();
        all.map(|(number, command)| (folder_of(file, number), command.to_owned())).collect()
    }
}

impl Entry {
    /// Records what came out.
    fn record(&mut self, snapshot: &ComparisonSnapshot, finding: Option<&Finding>) {
        let of_incumbent = |setting: &Setting| setting.text(Study::COMMAND) == self.incumbent.command;
        let was_run = |run: &&crate::runs::RunSnapshot| {
            !(of_incumbent(&run.key.setting) && run.key.seed <= self.reused)
        };
        self.seconds = snapshot.runs.iter().filter(was_run).map(|run| run.seconds).sum();
        let failed = |run: &crate::runs::RunSnapshot| matches!(run.status, RunStatus::Failed { .. });
        let has_failed = snapshot.runs.iter().any(failed);
        let Some(finding) = finding else {
            self.verdict = if has_failed { Outcome::Failed } else { Outcome::Open };
            return;
        };
        self.pairs = finding.seeds as u64;
        self.verdict = match finding.judgement {
            _ if has_failed => Outcome::Failed,
            Some(Judgement::Improvement(_)) => Outcome::Kept,
            Some(Judgement::GivenUp(_)) if finding.is_constant && finding.mean != Some(0.0) => {
                Outcome::Undecided
            }
            Some(Judgement::GivenUp(after)) if after as u64 >= finding.planned_seeds => {
                Outcome::Undecided
            }
            Some(Judgement::GivenUp(_)) => Outcome::Futile,
            Some(Judgement::Open) | None => Outcome::Open,
        };
        self.effect = finding.mean;
        self.interval = finding.interval;
        self.change.mean = finding.scores.map(|scores| scores.mean);
        self.incumbent.mean = finding.baseline_scores.map(|scores| scores.mean);
        self.sentence = Some(finding.sentence.clone()).filter(|_| self.verdict != Outcome::Open);
    }
}

fn key(command: &str, seed: u64) -> RunKey {
    RunKey { setting: Setting::new([(Study::COMMAND, command)]), seed, stage: Stage::Only }
}

/// The complete run of a command in the folder of a judgement.
fn complete(folder: &Path, command: &str, seed: u64) -> Option<RunFolder> {
    let folder = ComparisonFolder::<Study>::open(folder).ok()?;
    let spec = folder.comparison().ok()?.spec(&key(command, seed))?;
    let run = RunFolder::at(&folder.runs().join(spec.folder_name()));
    run.status().ok().filter(|file| file.status.is_complete()).map(|_| run)
}

/// The files by which two readings differ: `data.csv, conf/a.toml`.
fn different(before: &Files, now: &Files) -> String {
    let all = before.keys().chain(now.keys()).filter(|path| before.get(*path) != now.get(*path));
    let names: std::collections::BTreeSet<String> = all.map(|path| printable(path)).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}
