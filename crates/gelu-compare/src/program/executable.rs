//! This program's own executable. If the comparison is about the program's loop, a new build may compute something
//! else.

use super::ProgramRecipe;
use super::contents::digest_of;
use crate::comparison::SnapshotReader;
use crate::output::complain;
use crate::runs::Environment;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The name of the executable's digest in a session's environment.
const NAME: &str = "executable";

/// Adds the SHA-256 of this executable to a run's environment.
pub fn note_executable(environment: &mut Environment) {
    if let Some(digest) = digest() {
        environment.0.insert(NAME.to_owned(), digest.into());
    }
}

/// Returns the SHA-256 of this program's executable. Computes it once.
fn digest() -> Option<&'static str> {
    static DIGEST: OnceLock<Option<String>> = OnceLock::new();
    // On Linux this is the running executable, even if its file was replaced.
    let path = match cfg!(target_os = "linux") {
        true => Ok(PathBuf::from("/proc/self/exe")),
        false => std::env::current_exe(),
    };
    DIGEST.get_or_init(|| path.and_then(|path| digest_of(&path)).ok()).as_deref()
}

/// Prints how many runs another build has trained, for a comparison of this program's own loop.
pub(super) fn announce_change(folder: &Path) {
    let Ok(mut reader) = SnapshotReader::<ProgramRecipe>::open(folder) else { return };
    if reader.plan().recipe.has_commands() {
        return;
    }
    let runs = reader.snapshot().runs;
    let by = |run: &crate::runs::RunSnapshot| {
        let session = run.provenance.iter().rev().find(|session| session.epochs_after != Some(0));
        session.and_then(|session| session.environment.text(NAME).map(str::to_owned))
    };
    let others = runs.iter().filter_map(by).filter(|by| Some(by.as_str()) != digest()).count();
    let program = &reader.plan().recipe.name;
    let said = match others {
        0 => return,
        1 => "this program changed since 1 of these runs, which counts as it is".to_owned(),
        others => {
            format!("this program changed since {others} of these runs, which count as they are")
        }
    };
    complain(&format!(
        "{program}: {said}; the program as it is now trains what is left. To train all runs with it, name another folder with \
         --out\n"
    ));
}
