use super::execution::{Execution, Workers};
use super::flags::{DecisionFlags, ReadingFlags};
use super::session::Judging;
use super::{DeviceNames, ProgramRecipe, Template};
use crate::comparison::{Verdict, differences};
use crate::output::{complain, print};
use crate::runs::{RunStatus, Snapshot};
use crate::setting::{Axis, Role};
use crate::{Error, Result};
use clap::Args;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::process::ExitCode;

/// Say which of two commands is better
///
/// Exit codes: 0 B is better, 10 B is worse, 11 they are the same, 12 undecided, 13 a session has given B up as
/// futile, 1 a run failed, 2 wrong usage, 130 interrupted (the same command continues).
#[derive(Debug, Args)]
pub struct Judge {
    /// The command to compare with, in which {seed} is the seed
    #[arg(value_name = "A")]
    a: String,
    /// The command that may be better
    #[arg(value_name = "B")]
    b: String,
    /// Judge as one of many judgements that share a budget of errors, and record the outcome in this file; see
    /// `session`
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// Description of the change, for the session's ledger
    #[arg(long, value_name = "TEXT", requires = "session")]
    note: Option<String>,
    #[command(flatten)]
    reading: ReadingFlags,
    #[command(flatten)]
    decided: DecisionFlags,
    #[command(flatten)]
    execution: Execution,
}

impl Judge {
    /// Runs both commands with as many seeds as necessary, and prints which one is better.
    ///
    /// # Errors
    ///
    /// Returns an error if something cannot be run or written.
    pub fn run(self) -> Result<ExitCode> {
        let Self { a, b, session, note, reading, decided, execution } = self;
        if a == b {
            return Err(Error::Usage(
                "both commands are the same; nothing can be told apart".into(),
            ));
        }
        for command in [&a, &b] {
            let template = Template::parse(command)?;
            template.check(&[], false)?;
            template.warn_of_shell();
        }
        let mut recipe = ProgramRecipe::new(&name(&a, &b), "");
        recipe.axis(Axis::new(ProgramRecipe::COMMAND, Role::Compared, [a.clone(), b.clone()]));
        reading.change(&mut recipe);
        decided.change(&mut recipe)?;
        decided.say_units(&mut recipe);
        decided.check(&recipe)?;
        if let Some(file) = session {
            let commands = [a, b];
            return Judging { file, note, commands, recipe, reading, decided, execution }.run();
        }
        reading.read_contents(&mut recipe)?;
        let json = execution.shown.json;
        let done = execution.carry_out(
            &recipe,
            &decided,
            &DeviceNames::default(),
            Workers::of_commands(),
        )?;
        let Some(done) = done else { return Ok(ExitCode::SUCCESS) };
        // Failed runs and interruptions take precedence over verdicts; failed exports do not.
        let code = done.exit_code()?;
        if !done.done || done.troubles > 0 {
            return Ok(code);
        }
        conclude(&done.snapshot, json)
    }
}

/// Returns a name for the comparison, which is the same for the same two commands.
fn name(a: &str, b: &str) -> String {
    let digest = Sha256::digest(format!("{a}\n{b}"));
    let tag: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("judge-{tag}")
}

/// Prints the sentence, and returns the exit code for scripts.
fn conclude(snapshot: &Snapshot, json: bool) -> Result<ExitCode> {
    if snapshot.runs.iter().any(|run| matches!(run.status, RunStatus::Failed { .. })) {
        return Ok(ExitCode::FAILURE);
    }
    let Some(difference) = differences(snapshot).into_iter().next() else {
        return Ok(ExitCode::FAILURE);
    };
    let said = format!("{}\n", difference.finding.sentence);
    match json {
        true => complain(&said),
        false => print(&said)?,
    }
    Ok(ExitCode::from(match difference.finding.verdict {
        Verdict::Better => 0,
        Verdict::Worse => 10,
        Verdict::Same => 11,
        Verdict::Undecided => 12,
    }))
}
