//! The command of a run, and its environment.

use super::step;
use crate::files::sync_data;
use crate::program::ProgramSpec;
use crate::program::orphan::Survivors;
use crate::runs::ClaimedRun;
use crate::setting::Value;
use crate::{Error, Result};
use serde_json::Value as Json;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of a run for files of the program.
const KEPT: &str = "kept";

/// Returns the command for these words. `kept` is the folder for the program's files.
pub(super) fn command(run: &ClaimedRun<ProgramSpec>, words: &[String], kept: &Path) -> Command {
    let mut command = step::start(words);
    command
        .env("GELU_RUN", kept)
        .env("GELU_SEED", run.spec().seed.to_string())
        .env("GELU_SETTING", setting(run.spec()))
        .env("GELU_SLOT", std::env::var_os("GELU_SLOT").unwrap_or_else(|| "0".into()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns the folder for files of a run's program. It is the same in every session. But if an earlier session's
/// program may still write into the folder, the folder is left to that program, and this run gets a copy.
pub(super) fn kept(run: &ClaimedRun<ProgramSpec>, left: &Survivors) -> Result<PathBuf> {
    let all = run.generations(KEPT)?;
    let folder = match (left, all.last()) {
        (Survivors::Nothing, Some(latest)) => latest.clone(),
        (Survivors::Program, Some(latest)) => run.place_own_folder(KEPT, |copy| {
            copy_folder(latest, copy).map_err(Error::io("copy", latest))
        })?,
        (Survivors::Nothing, None) => run.folder().file(KEPT),
        (Survivors::Program, None) => run.own_path(KEPT),
    };
    fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
    for older in all.iter().filter(|path| **path != folder) {
        run.fenced(run.discard(older))?;
    }
    std::path::absolute(&folder).map_err(Error::io("find", &folder))
}

/// Copies the content of a folder and waits until it is on the disk. Ignores files that are removed in the meantime.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        let copied = if kind.is_dir() {
            fs::create_dir(&target).and_then(|()| copy_folder(&entry.path(), &target))
        } else if kind.is_file() {
            let copied = fs::copy(entry.path(), &target);
            copied.and_then(|_| sync_data(&File::options().write(true).open(&target)?, &target))
        } else {
            copy_link(&entry.path(), &target)
        };
        match copied {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            copied => copied?,
        }
    }
    Ok(())
}

/// Copies a symbolic link. Leaves out pipes and sockets, which only work for the process that created them.
#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    match fs::read_link(from) {
        Ok(target) => std::os::unix::fs::symlink(target, to),
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn copy_link(_from: &Path, _to: &Path) -> io::Result<()> {
    Ok(())
}

fn setting(spec: &ProgramSpec) -> String {
    let pair =
        |(name, value): (&str, &Value)| format!("{}:{}", Json::from(name), value.to_json_text());
    format!("{{{}}}", spec.setting.iter().map(pair).collect::<Vec<_>>().join(","))
}
