//! The folders that are to become a run's: it appears with all that it has, or not at all.

use crate::files::remove_folder;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// How the folders are called that are to become that run's.
fn scratch_prefix(run: &str) -> String {
    format!(".new-{run}-")
}

/// A new folder with the permissions that the umask leaves it.
pub(super) fn scratch_folder(parent: &Path, run: &str) -> Result<PathBuf> {
    let prefix = scratch_prefix(run);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    let folder = builder.tempdir_in(parent).map_err(Error::io("create a folder in", parent))?;
    Ok(folder.keep())
}

/// Removes what processes left that were killed while they made the folder of a run that is there
/// by now. One that is still at it has lost, and finds that out by itself; what cannot be removed
/// is in nobody's way.
pub(super) fn remove_scratch_folders(parent: &Path, run: &str) {
    let prefix = scratch_prefix(run);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = remove_folder(&entry.path());
        }
    }
}
