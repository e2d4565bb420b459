use crate::Result;
use std::path::Path;

/// Redirects standard error to a run's log while this value lives. The last message of a panic, an abort or a library
/// is then in the folder of the run that caused it.
#[derive(Debug)]
pub struct Redirected {
    #[cfg(unix)]
    before: std::os::fd::OwnedFd,
}

impl Redirected {
    /// Redirects standard error to the file at `path`. Creates the file if necessary.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the system cannot redirect.
    #[cfg(unix)]
    pub fn to(path: &Path) -> Result<Self> {
        use crate::Error;
        let file = std::fs::File::options().create(true).append(true).open(path);
        let file = file.map_err(Error::io("create", path))?;
        use std::os::fd::AsFd;
        let failed = |error| Error::io("redirect output to", path)(error);
        // The duplicate is closed in child processes: a program may leave processes behind, and the reader of this
        // process's standard error would wait for them.
        let before = std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
        nix::unistd::dup2_stderr(&file).map_err(|errno| failed(errno.into()))?;
        Ok(Self { before })
    }

    /// Does nothing on this system.
    ///
    /// # Errors
    ///
    /// Never returns an error.
    #[cfg(not(unix))]
    pub fn to(_path: &Path) -> Result<Self> {
        Ok(Self {})
    }

    /// Redirects standard error until the process ends.
    pub fn until_exit(self) {
        #[cfg(unix)]
        std::mem::forget(self);
    }
}

#[cfg(unix)]
impl Drop for Redirected {
    fn drop(&mut self) {
        // If this fails, further output goes to the log, so nothing is lost.
        let _ = nix::unistd::dup2_stderr(&self.before);
    }
}
