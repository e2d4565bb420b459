//! Temporary folders that become run folders, so that a run's folder appears complete or not at all.

use crate::files::remove_folder;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the prefix of the temporary folders for a run.
fn scratch_prefix(run: &str) -> String {
    format!(".new-{run}-")
}

/// Creates a temporary folder. The umask determines its permissions.
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

/// Removes temporary folders of killed processes, once the run's folder exists. A process that is still filling its
/// folder has lost and notices that by itself. Folders that cannot be removed do no harm.
pub(super) fn remove_scratch_folders(parent: &Path, run: &str) {
    let prefix = scratch_prefix(run);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = remove_folder(&entry.path());
        }
    }
}
