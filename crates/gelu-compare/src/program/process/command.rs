//! The command of a run, and what its program is told beside its words.

use crate::program::{Study, StudyRun, Template};
use crate::runs::ClaimedRun;
use crate::setting::Value;
use crate::{Error, Result};
use serde_json::Value as Json;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The folder of a run in which a program may keep what it likes.
const KEPT: &str = "kept";

/// The command of those words, as the leader of a group of processes.
pub(super) fn command(run: &ClaimedRun<StudyRun>, words: &[String]) -> Result<Command> {
    let folder = kept(run)?;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env("GELU_RUN", &folder)
        .env("GELU_SEED", run.spec().seed.to_string())
        .env("GELU_SETTING", setting(run.spec()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // So that all it starts can be ended with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// The words of a run's command.
pub(super) fn words(spec: &StudyRun) -> Result<Vec<String>> {
    let command = match &spec.command {
        Some(command) => command.clone(),
        None => spec.setting.text(Study::COMMAND),
    };
    Ok(Template::parse(&command)?.words(&spec.setting, spec.seed))
}

/// The folder in which the program of a run may keep what it likes.
fn kept(run: &ClaimedRun<StudyRun>) -> Result<PathBuf> {
    let folder = std::path::absolute(run.folder().file(KEPT));
    let folder = folder.map_err(Error::io("find", run.folder().path()))?;
    std::fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
    Ok(folder)
}

fn setting(spec: &StudyRun) -> String {
    let pair =
        |(name, value): (&str, &Value)| format!("{}:{}", Json::from(name), value.to_json_text());
    format!("{{{}}}", spec.setting.iter().map(pair).collect::<Vec<_>>().join(","))
}
