//! Writing files so that a reader never sees half of one.

use crate::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Writes `bytes` to `path`: under a temporary name beside it, synced, then renamed, so that
/// whatever stood there before stays whole until the new content is complete.
///
/// # Errors
///
/// When any step is refused; `path` is then untouched.
pub fn write_atomically(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".writing-")
        .tempfile_in(folder)
        .map_err(Error::io("create a file in", folder))?;
    file.write_all(bytes.as_ref()).map_err(Error::io("write", path))?;
    sync(file.as_file(), path)?;
    make_readable(file.as_file(), path)?;
    file.persist(path).map_err(|error| Error::io("replace", path)(error.error))?;
    sync_folder(folder)
}

/// Waits until a file's content is on the disk.
///
/// # Errors
///
/// When the disk refuses it, a full one for example.
pub(super) fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(Error::io("sync", path))
}

/// Waits until a folder's list of names is on the disk, so that a rename in it survives a power
/// cut. Only Unix lets a folder be synced; elsewhere the rename itself has to do.
///
/// # Errors
///
/// When the folder cannot be opened or synced.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let handle = File::open(folder).map_err(Error::io("open", folder))?;
        handle.sync_all().map_err(Error::io("sync", folder))?;
    }
    Ok(())
}

/// Temporary files are private to their owner; results are for everyone the folder is for.
#[cfg(unix)]
fn make_readable(file: &File, path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o644);
    file.set_permissions(permissions).map_err(Error::io("set the permissions of", path))
}

#[cfg(not(unix))]
fn make_readable(_file: &File, _path: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_the_content_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        write_atomically(&path, "old").unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn missing_folder_is_named_in_the_error() {
        let error = write_atomically(Path::new("/nonexistent-folder/x"), "a").unwrap_err();
        assert!(error.to_string().contains("/nonexistent-folder"), "{error}");
    }
}
